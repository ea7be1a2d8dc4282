/* The declarations of runtime/cuda/cublaslt.h are those of NVIDIA's header. */
#include <stdio.h>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include "runtime/cuda/cublaslt.h"

#define SAME(own, theirs) _Static_assert((int)(own) == (int)(theirs), #own)
SAME(LT_SUCCESS, CUBLAS_STATUS_SUCCESS);
SAME(LT_NOT_SUPPORTED, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(LT_OP_N, CUBLAS_OP_N);
SAME(LT_OP_T, CUBLAS_OP_T);
SAME(LT_R_32F, CUDA_R_32F);
SAME(LT_R_64F, CUDA_R_64F);
SAME(LT_R_16F, CUDA_R_16F);
SAME(LT_R_8I, CUDA_R_8I);
SAME(LT_R_32I, CUDA_R_32I);
SAME(LT_R_16BF, CUDA_R_16BF);
SAME(LT_R_8F_E4M3, CUDA_R_8F_E4M3);
SAME(LT_R_8F_E5M2, CUDA_R_8F_E5M2);
SAME(LT_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(LT_COMPUTE_64F, CUBLAS_COMPUTE_64F);
SAME(LT_COMPUTE_32I, CUBLAS_COMPUTE_32I);
SAME(LT_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(LT_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(LT_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(LT_DESC_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(LT_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(LT_DESC_FAST_ACCUM, CUBLASLT_MATMUL_DESC_FAST_ACCUM);
SAME(LT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_DEFAULT);
SAME(LT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU);
SAME(LT_EPILOGUE_RELU | LT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(LT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU);
SAME(LT_EPILOGUE_GELU | LT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS);
SAME(LT_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(LT_LAYOUT_BATCH_OFFSET, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(LT_PREF_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(LT_PREF_ALIGNMENT_A, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(LT_PREF_ALIGNMENT_A + 1, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(LT_PREF_ALIGNMENT_A + 2, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(LT_PREF_ALIGNMENT_D, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(sizeof(struct lt_algorithm), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(struct lt_result), sizeof(cublasLtMatmulHeuristicResult_t));
SAME(offsetof(struct lt_result, workspace),
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(offsetof(struct lt_result, state), offsetof(cublasLtMatmulHeuristicResult_t, state));

/* The prototypes, up to enums for ints and typed pointers for void pointers. */
SAME(sizeof(cublasOperation_t), sizeof(int32_t));
SAME(sizeof(cublasLtEpilogue_t), sizeof(int32_t));
SAME(sizeof(cublasComputeType_t), sizeof(int));
#define TAKES(function, ...)                                                                       \
  _Static_assert(__builtin_types_compatible_p(__typeof__(function), cublasStatus_t(__VA_ARGS__)),  \
                 #function)
TAKES(cublasLtCreate, cublasLtHandle_t *);
TAKES(cublasLtDestroy, cublasLtHandle_t);
TAKES(cublasLtMatmulDescCreate, cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t);
TAKES(cublasLtMatmulDescDestroy, cublasLtMatmulDesc_t);
TAKES(cublasLtMatmulDescSetAttribute, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
      const void *, size_t);
TAKES(cublasLtMatrixLayoutCreate, cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t,
      int64_t);
TAKES(cublasLtMatrixLayoutDestroy, cublasLtMatrixLayout_t);
TAKES(cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
      const void *, size_t);
TAKES(cublasLtMatmulPreferenceCreate, cublasLtMatmulPreference_t *);
TAKES(cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreference_t);
TAKES(cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreference_t,
      cublasLtMatmulPreferenceAttributes_t, const void *, size_t);
TAKES(cublasLtMatmulAlgoGetHeuristic, cublasLtHandle_t, cublasLtMatmulDesc_t,
      cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
      cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *,
      int *);
TAKES(cublasLtMatmul, cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,
      cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t, const void *, const void *,
      cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *,
      size_t, cudaStream_t);

int main(void) {
  return 0; /* it compiled */
}
#else
int main(void) {
  puts("skipped: there is no cublasLt.h");
  return 77;
}
#endif
