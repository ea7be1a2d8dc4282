/* The part of NVIDIA's cublasLt.h and cublas_api.h that cugen calls, because a machine that builds
   cugen need not have cuBLAS. The values and prototypes are those of CUDA 12 and 13;
   tests/unit/test_cublaslt.c compares them with the header where there is one. The handles are
   opaque pointers there, too. */
#ifndef RUNTIME_CUDA_CUBLASLT_H
#define RUNTIME_CUDA_CUBLASLT_H

#include <stddef.h>
#include <stdint.h>

/* cublasStatus_t */
enum { LT_SUCCESS = 0, LT_NOT_SUPPORTED = 15 };
/* cublasOperation_t */
enum { LT_OP_N = 0, LT_OP_T = 1 };
/* cudaDataType */
enum lt_type {
  LT_R_32F = 0,
  LT_R_64F = 1,
  LT_R_16F = 2,
  LT_R_8I = 3,
  LT_R_32I = 10,
  LT_R_16BF = 14,
  LT_R_8F_E4M3 = 28,
  LT_R_8F_E5M2 = 29
};
/* cublasComputeType_t */
enum lt_compute {
  LT_COMPUTE_32F = 68,
  LT_COMPUTE_64F = 70,
  LT_COMPUTE_32I = 72,
  LT_COMPUTE_32F_FAST_TF32 = 77
};
/* cublasLtMatmulDescAttributes_t */
enum {
  LT_DESC_TRANSA = 3,
  LT_DESC_TRANSB = 4,
  LT_DESC_EPILOGUE = 7,
  LT_DESC_BIAS_POINTER = 8,
  LT_DESC_FAST_ACCUM = 25
};
/* cublasLtEpilogue_t */
enum { LT_EPILOGUE_DEFAULT = 1, LT_EPILOGUE_RELU = 2, LT_EPILOGUE_BIAS = 4, LT_EPILOGUE_GELU = 32 };
/* cublasLtMatrixLayoutAttribute_t */
enum { LT_LAYOUT_BATCH_COUNT = 5, LT_LAYOUT_BATCH_OFFSET = 6 };
/* cublasLtMatmulPreferenceAttributes_t */
enum { LT_PREF_WORKSPACE_BYTES = 1, LT_PREF_ALIGNMENT_A = 5, LT_PREF_ALIGNMENT_D = 8 };

struct lt_algorithm { /* cublasLtMatmulAlgo_t */
  uint64_t data[8];
};

struct lt_result { /* cublasLtMatmulHeuristicResult_t */
  struct lt_algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

/* member, function behind "cublasLt", parameters; each returns a cublasStatus_t */
#define CUBLASLT_FUNCTIONS(X)                                                                      \
  X(create, Create, (void **))                                                                     \
  X(destroy, Destroy, (void *))                                                                    \
  X(operation_create, MatmulDescCreate, (void **, int, int))                                       \
  X(operation_destroy, MatmulDescDestroy, (void *))                                                \
  X(operation_set, MatmulDescSetAttribute, (void *, int, const void *, size_t))                    \
  X(layout_create, MatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t))                \
  X(layout_destroy, MatrixLayoutDestroy, (void *))                                                 \
  X(layout_set, MatrixLayoutSetAttribute, (void *, int, const void *, size_t))                     \
  X(wish_create, MatmulPreferenceCreate, (void **))                                                \
  X(wish_destroy, MatmulPreferenceDestroy, (void *))                                               \
  X(wish_set, MatmulPreferenceSetAttribute, (void *, int, const void *, size_t))                   \
  X(heuristic, MatmulAlgoGetHeuristic,                                                             \
    (void *, void *, void *, void *, void *, void *, void *, int, struct lt_result *, int *))      \
  X(matmul, Matmul,                                                                                \
    (void *, void *, const void *, const void *, void *, const void *, void *, const void *,       \
     const void *, void *, void *, void *, const struct lt_algorithm *, void *, size_t, void *))

struct cublaslt {
#define X(member, function, parameters) int(*member) parameters;
  CUBLASLT_FUNCTIONS(X)
#undef X
  const char *(*status_string)(int);
};

#endif
