/* A stand-in for libcublasLt.so.13: products of f32 and f64 in host memory, computed as the library
   documents them, by columns. Products of other types are only noted. */
#include "fake_cublaslt.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cublaslt.h"

struct fake_cublaslt fake_cublaslt = {.algorithms = 3};

struct operation {
  int compute, scale;
  int32_t transposed[2], epilogue;
  int8_t fast;
  const void *bias;
};

struct layout {
  int type;
  uint64_t rows, columns;
  int64_t line, offset;
  int32_t batch;
};

#define X(member, function, parameters) int cublasLt##function parameters;
CUBLASLT_FUNCTIONS(X)
#undef X
const char *cublasLtGetStatusString(int status);

enum { INVALID = 7, ALIGNED = 256 };

/* How many of the algorithms take buffers of that alignment. */
static int algorithms_for(uint32_t alignment) {
  return fake_cublaslt.algorithms - (alignment < ALIGNED ? fake_cublaslt.aligned_only : 0);
}

const char *cublasLtGetStatusString(int status) {
  return status == LT_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_PRETENDED";
}

static bool fails(const char *function) {
  return fake_cublaslt.fail && strcmp(fake_cublaslt.fail, function) == 0;
}

static int make(void **out, size_t bytes, const char *function) {
  *out = fails(function) ? NULL : calloc(1, bytes);
  fake_cublaslt.objects += *out != NULL;
  return *out ? LT_SUCCESS : INVALID;
}

static int destroy(void *object) {
  fake_cublaslt.objects--;
  free(object);
  return LT_SUCCESS;
}

int cublasLtCreate(void **out) {
  return make(out, 1, "Create");
}

int cublasLtDestroy(void *handle) {
  return destroy(handle);
}

int cublasLtMatmulDescCreate(void **out, int compute, int scale) {
  int result = make(out, sizeof(struct operation), "MatmulDescCreate");
  struct operation *o = *out;
  if (o) o->compute = compute, o->scale = scale, o->epilogue = LT_EPILOGUE_DEFAULT;
  return result;
}

int cublasLtMatmulDescDestroy(void *operation) {
  return destroy(operation);
}

int cublasLtMatmulDescSetAttribute(void *operation, int attribute, const void *value,
                                   size_t bytes) {
  struct operation *o = operation;
  struct {
    void *to;
    size_t bytes;
  } places[] = {[LT_DESC_TRANSA] = {&o->transposed[0], sizeof o->transposed[0]},
                [LT_DESC_TRANSB] = {&o->transposed[1], sizeof o->transposed[1]},
                [LT_DESC_EPILOGUE] = {&o->epilogue, sizeof o->epilogue},
                [LT_DESC_BIAS_POINTER] = {&o->bias, sizeof o->bias},
                [LT_DESC_FAST_ACCUM] = {&o->fast, sizeof o->fast}};
  if (fails("MatmulDescSetAttribute") || places[attribute].bytes != bytes) return INVALID;
  memcpy(places[attribute].to, value, bytes);
  return LT_SUCCESS;
}

int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns,
                               int64_t line) {
  int result = make(out, sizeof(struct layout), "MatrixLayoutCreate");
  struct layout *l = *out;
  if (l) *l = (struct layout){type, rows, columns, line, 0, 1};
  return l && line < (int64_t)rows ? INVALID : result;
}

int cublasLtMatrixLayoutDestroy(void *layout) {
  return destroy(layout);
}

int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t bytes) {
  struct layout *l = layout;
  const bool count = attribute == LT_LAYOUT_BATCH_COUNT;
  if (fails("MatrixLayoutSetAttribute") || bytes != (count ? sizeof l->batch : sizeof l->offset))
    return INVALID;
  memcpy(count ? (void *)&l->batch : (void *)&l->offset, value, bytes);
  return LT_SUCCESS;
}

/* A preference is the least alignment that was set for a matrix. */
int cublasLtMatmulPreferenceCreate(void **out) {
  int result = make(out, sizeof(uint32_t), "MatmulPreferenceCreate");
  if (*out) *(uint32_t *)*out = ALIGNED;
  return result;
}

int cublasLtMatmulPreferenceDestroy(void *wish) {
  return destroy(wish);
}

int cublasLtMatmulPreferenceSetAttribute(void *wish, int attribute, const void *value,
                                         size_t bytes) {
  const size_t wanted = attribute == LT_PREF_WORKSPACE_BYTES ? sizeof(uint64_t) : sizeof(uint32_t);
  if (fails("MatmulPreferenceSetAttribute") || bytes != wanted) return INVALID;
  uint32_t *least = wish, alignment;
  memcpy(&alignment, value, sizeof alignment);
  if (attribute != LT_PREF_WORKSPACE_BYTES && alignment < *least) *least = alignment;
  return LT_SUCCESS;
}

/* Whether op(A) * op(B) has the shape of C and D. */
static bool fit(const struct operation *o, const struct layout *a, const struct layout *b,
                const struct layout *c, const struct layout *d) {
  const uint64_t m = o->transposed[0] ? a->columns : a->rows,
                 k = o->transposed[0] ? a->rows : a->columns,
                 n = o->transposed[1] ? b->rows : b->columns,
                 other = o->transposed[1] ? b->columns : b->rows;
  return k == other && m == d->rows && n == d->columns && c->rows == m && c->columns == n &&
         a->batch == d->batch && b->batch == d->batch && c->batch == d->batch;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c,
                                   void *d, void *wish, int most, struct lt_result *out,
                                   int *count) {
  *count = 0;
  if (fails("MatmulAlgoGetHeuristic") || !handle || !wish || !fit(operation, a, b, c, d))
    return INVALID;
  const int algorithms = algorithms_for(*(const uint32_t *)wish);
  if (!algorithms) return LT_NOT_SUPPORTED;
  for (; *count < most && *count < algorithms; ++*count)
    out[*count] =
        (struct lt_result){.algorithm = {{(uint64_t)*count}}, .workspace = fake_cublaslt.workspace};
  return LT_SUCCESS;
}

/* ---- The product ---------------------------------------------------------------------------- */

static double load(int type, const void *from, int64_t at) {
  return type == LT_R_64F ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

static void store(int type, void *to, int64_t at, double value) {
  if (type == LT_R_64F)
    ((double *)to)[at] = value;
  else
    ((float *)to)[at] = (float)value;
}

static double element(const struct layout *l, const void *from, int64_t batch, uint64_t row,
                      uint64_t column, bool transposed) {
  const int64_t r = (int64_t)(transposed ? column : row), c = (int64_t)(transposed ? row : column);
  return load(l->type, from, batch * l->offset + c * l->line + r);
}

static double activated(int32_t epilogue, double x) {
  if (epilogue & LT_EPILOGUE_RELU) return x > 0 ? x : 0;
  return epilogue & LT_EPILOGUE_GELU ? x / (1 + exp(-1.5957691 * (x + 0.044715 * x * x * x))) : x;
}

int cublasLtMatmul(void *handle, void *operation, const void *alpha, const void *a, void *a_layout,
                   const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                   void *d, void *d_layout, const struct lt_algorithm *algorithm, void *workspace,
                   size_t bytes, void *stream) {
  const struct operation *o = operation;
  const struct layout *la = a_layout, *lb = b_layout, *lc = c_layout, *ld = d_layout;
  struct fake_cublaslt *f = &fake_cublaslt;
  if (fails("Matmul") || !handle || !fit(o, la, lb, lc, ld) || bytes < f->workspace) return INVALID;
  const uint32_t alignment = ((uintptr_t)a | (uintptr_t)b | (uintptr_t)d) % ALIGNED ? 1 : ALIGNED;
  if ((int)algorithm->data[0] >= algorithms_for(alignment)) return INVALID;
  const unsigned long elements = (unsigned long)(ld->rows * ld->columns);
  f->products++;
  if (!f->least || elements < f->least) f->least = elements;
  f->algorithm = (int)algorithm->data[0];
  f->workspace_at = workspace, f->stream = stream;
  f->compute = o->compute, f->scale = o->scale, f->fast = o->fast;
  f->types[0] = la->type, f->types[1] = lb->type, f->types[2] = lc->type, f->types[3] = ld->type;
  f->transposed[0] = o->transposed[0], f->transposed[1] = o->transposed[1];
  if (ld->type != LT_R_32F && ld->type != LT_R_64F) return LT_SUCCESS;
  const double by = load(o->scale, alpha, 0), add = load(o->scale, beta, 0);
  const uint64_t depth = o->transposed[0] ? la->rows : la->columns;
  for (int64_t batch = 0; batch < ld->batch; batch++)
    for (uint64_t j = 0; j < ld->columns; j++)
      for (uint64_t i = 0; i < ld->rows; i++) {
        double sum = 0;
        for (uint64_t k = 0; k < depth; k++)
          sum += element(la, a, batch, i, k, o->transposed[0]) *
                 element(lb, b, batch, k, j, o->transposed[1]);
        sum *= by;
        if (add != 0) sum += add * element(lc, c, batch, i, j, false);
        if (o->epilogue & LT_EPILOGUE_BIAS) sum += load(ld->type, o->bias, (int64_t)i);
        store(ld->type, d, batch * ld->offset + (int64_t)j * ld->line + (int64_t)i,
              activated(o->epilogue & ~LT_EPILOGUE_BIAS, sum));
      }
  return LT_SUCCESS;
}
