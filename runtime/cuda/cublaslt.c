/* Products by cuBLASLt: C = activation(alpha * A * B + beta * added + bias).

   The library's matrices are stored by columns. A matrix by rows is its transpose by columns, so a
   C by rows is computed as C' = B' * A': then B is the first factor. An operand is transposed in
   the call if its order is not C's.

   A variant is an algorithm, given by its place in the list that the library's heuristics make for
   the product. Each load asks for the list anew. The list depends on the build of the library and
   on the GPU, and on the alignment of the buffers: a load assumes the alignment that cudaMalloc
   gives, and a call with less aligned buffers asks for another list. */
#include "cublaslt.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "library.h"
#include "runtime/compile/toolkit.h"

enum {
  MOST_ALGORITHMS = 16,      /* requested length of the heuristics' list */
  MOST_WORKSPACE = 32 << 20, /* bytes; NVIDIA's advice for Hopper (cuBLAS, "Workspace") */
  ALIGNMENT = 256            /* bytes, to which cudaMalloc aligns; the heuristics ask for no more */
};

/* ---- The library ---------------------------------------------------------------------------- */

static const struct toolkit_symbol symbols[] = {
#define X(member, function, parameters)                                                            \
  {"cublasLt" #function, offsetof(struct cublaslt, member), true},
    CUBLASLT_FUNCTIONS(X)
#undef X
        {"cublasLtGetStatusString", offsetof(struct cublaslt, status_string), true}};

static int cublaslt_load(const struct toolkit *toolkit, void **table, cugen_error *err) {
  return toolkit_load_table(text_get(&toolkit->kernels[LIBRARY_cublasLt].path), symbols,
                            sizeof symbols / sizeof *symbols, sizeof(struct cublaslt), table, err);
}

static int lt_check(const struct cublaslt *lt, int result, const char *call, cugen_error *err) {
  if (result == LT_SUCCESS) return CUGEN_OK;
  const char *why = lt->status_string(result);
  return error_set(err, CUGEN_ERROR_DEVICE, "cublasLt%s: %s", call, why ? why : "failed");
}

#define LT(lt, err, member, name, arguments) lt_check(lt, (lt)->member arguments, name, err)

/* ---- The product ---------------------------------------------------------------------------- */

/* The types of matrices. compute: the type in which a product of such operands is computed; 0: only
   a result can have the type. */
static const struct arithmetic {
  enum dtype_id dtype;
  enum lt_type type;
  int compute;         /* enum lt_compute */
  enum dtype_id scale; /* the type of alpha and beta */
} arithmetics[] = {{DTYPE_f64, LT_R_64F, LT_COMPUTE_64F, DTYPE_f64},
                   {DTYPE_f32, LT_R_32F, LT_COMPUTE_32F, DTYPE_f32},
                   {DTYPE_f16, LT_R_16F, LT_COMPUTE_32F, DTYPE_f32},
                   {DTYPE_bf16, LT_R_16BF, LT_COMPUTE_32F, DTYPE_f32},
                   {DTYPE_e4m3, LT_R_8F_E4M3, LT_COMPUTE_32F, DTYPE_f32},
                   {DTYPE_e5m2, LT_R_8F_E5M2, LT_COMPUTE_32F, DTYPE_f32},
                   {DTYPE_i8, LT_R_8I, LT_COMPUTE_32I, DTYPE_i32},
                   {DTYPE_i32, LT_R_32I, 0, DTYPE_i32}};

static const struct arithmetic *find_arithmetic(const struct dtype *dtype) {
  for (size_t i = 0; i < sizeof arithmetics / sizeof *arithmetics; i++)
    if (arithmetics[i].dtype == dtype->id) return &arithmetics[i];
  return NULL;
}

static int type_of(const struct dtype *dtype) {
  const struct arithmetic *found = find_arithmetic(dtype);
  return found ? (int)found->type : -1;
}

static const struct arithmetic *arithmetic_of(const struct library_call *call) {
  const struct arithmetic *found = find_arithmetic(call->values[CUBLASLT_a].dtype);
  return found && found->compute ? found : NULL;
}

/* A matrix of a batch: its columns (or rows, if stored by rows) lie `line` elements apart. */
struct matrix {
  int64_t rows, columns; /* of one matrix of the batch */
  int64_t line, next;    /* elements to the next line, and to the batch's next matrix */
};

static bool find_matrix(const struct library_value *value, int64_t batch, struct matrix *out) {
  const int outer = value->columns ? 1 : 0;
  if (value->rank != 2 || batch < 1 || value->shape[outer] % batch) return false;
  *out = (struct matrix){value->shape[0], value->shape[1], value->stride[outer], 0};
  *(outer ? &out->columns : &out->rows) /= batch;
  const int64_t length = value->shape[1 - outer], lines = value->shape[outer] / batch;
  if (value->shape[outer] == 1 && out->line < length) out->line = length; /* a single line */
  out->next = lines * out->line;
  return (value->stride[1 - outer] == 1 || length == 1) && out->line >= length;
}

static int cublaslt_refuse(const char *why, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_CONFIG, "cublasLt: %s", why);
}

static int check_matrices(const struct library_call *call, cugen_error *err) {
  const struct library_value *const v = call->values;
  const int64_t batch = v[CUBLASLT_batch].number;
  struct matrix a, b, c, added;
  if (!find_matrix(&v[CUBLASLT_a], batch, &a) || !find_matrix(&v[CUBLASLT_b], batch, &b) ||
      !find_matrix(&v[CUBLASLT_c], batch, &c))
    return cublaslt_refuse(
        "a, b and c are matrices by rows or columns, with those of a batch behind each other", err);
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns)
    return cublaslt_refuse("the shapes of a, b and c are not those of a product", err);
  if (!v[CUBLASLT_added].dtype) return CUGEN_OK;
  if (!find_matrix(&v[CUBLASLT_added], batch, &added) || added.rows != c.rows ||
      added.columns != c.columns || v[CUBLASLT_added].dtype != v[CUBLASLT_c].dtype ||
      v[CUBLASLT_added].columns != v[CUBLASLT_c].columns)
    return cublaslt_refuse("added is to have the type, the shape and the order of c", err);
  return CUGEN_OK;
}

static int check_bias(const struct library_call *call, cugen_error *err) {
  const struct library_value *bias = &call->values[CUBLASLT_bias], *c = &call->values[CUBLASLT_c];
  struct matrix result;
  if (!bias->dtype) return CUGEN_OK;
  if (!find_matrix(c, call->values[CUBLASLT_batch].number, &result) || bias->rank != 1 ||
      bias->stride[0] != 1 || bias->dtype != c->dtype || c->columns ||
      bias->shape[0] != result.columns)
    return cublaslt_refuse("bias is one number for each column of a c by rows, in its type", err);
  return CUGEN_OK;
}

static int cublaslt_check_types(const struct library_call *call, cugen_error *err) {
  const struct library_value *const v = call->values;
  const struct arithmetic *arithmetic = arithmetic_of(call);
  const enum dtype_id operand = v[CUBLASLT_a].dtype->id;
  const int64_t math = v[CUBLASLT_math].number;
  if (!arithmetic || v[CUBLASLT_b].dtype != v[CUBLASLT_a].dtype || type_of(v[CUBLASLT_c].dtype) < 0)
    return cublaslt_refuse("it multiplies no operands of these types", err);
  if (math == LIBRARY_TF32 && operand != DTYPE_f32)
    return cublaslt_refuse("math 'tf32' is for operands of f32", err);
  if (math == LIBRARY_FAST && operand != DTYPE_e4m3 && operand != DTYPE_e5m2)
    return cublaslt_refuse("math 'fast' is for operands of e4m3 and e5m2", err);
  for (int i = CUBLASLT_alpha; i <= CUBLASLT_beta; i++)
    if (v[i].dtype && v[i].dtype->id != arithmetic->scale)
      return error_set(err, CUGEN_ERROR_CONFIG, "cublasLt: alpha and beta are to be %s",
                       dtype_table[arithmetic->scale].name);
  return CUGEN_OK;
}

static int check_call(const struct library_call *call, cugen_error *err) {
  int status = cublaslt_check_types(call, err);
  if (!status) status = check_matrices(call, err);
  return status ? status : check_bias(call, err);
}

/* ---- Loading -------------------------------------------------------------------------------- */

struct library_kernel {
  const struct cublaslt *lt;
  void *handle;
  struct library_call call;
  size_t parameters;               /* number of a launch's parameters; library_prepared is behind */
  int place[CUBLASLT_FIELD_COUNT]; /* a field's place among the parameters; -1: not passed */
  void *layouts[CUBLASLT_FIELD_COUNT];
  enum cublaslt_field first, second; /* factors of the call: a and b, or b and a if c is by rows */
  struct lt_result found;            /* for buffers aligned to ALIGNMENT */
  union {
    float f32;
    double f64;
    int32_t i32;
  } one, zero;
};

/* The state of one call. The library keeps the address of a bias in the description of the
   operation, so that calls that share a description would disturb each other. */
struct library_prepared {
  struct lt_result found; /* for the alignment of the call's buffers */
  struct memory workspace;
  void *operation;
};

static const struct library_value *value_of(const struct library_kernel *k,
                                            enum cublaslt_field field) {
  return &k->call.values[field];
}

static int set_operation(const struct library_kernel *k, void *operation, const void *bias,
                         cugen_error *err) {
  static const int32_t epilogues[] = {0, LT_EPILOGUE_RELU, LT_EPILOGUE_GELU};
  const bool columns = value_of(k, CUBLASLT_c)->columns, biased = value_of(k, CUBLASLT_bias)->dtype;
  int32_t epilogue = epilogues[value_of(k, CUBLASLT_activation)->number];
  if (biased) epilogue |= LT_EPILOGUE_BIAS;
  if (!epilogue) epilogue = LT_EPILOGUE_DEFAULT;
  const int32_t first = value_of(k, k->first)->columns != columns ? LT_OP_T : LT_OP_N,
                second = value_of(k, k->second)->columns != columns ? LT_OP_T : LT_OP_N;
  const int8_t fast = value_of(k, CUBLASLT_math)->number == LIBRARY_FAST;
  const struct {
    int attribute;
    const void *value;
    size_t bytes;
  } rows[] = {{LT_DESC_TRANSA, &first, sizeof first},
              {LT_DESC_TRANSB, &second, sizeof second},
              {LT_DESC_EPILOGUE, &epilogue, sizeof epilogue},
              {LT_DESC_FAST_ACCUM, &fast, sizeof fast},
              {LT_DESC_BIAS_POINTER, &bias, sizeof bias}};
  int status = CUGEN_OK;
  for (size_t i = 0; i < sizeof rows / sizeof *rows - !biased && !status; i++)
    status = LT(k->lt, err, operation_set, "MatmulDescSetAttribute",
                (operation, rows[i].attribute, rows[i].value, rows[i].bytes));
  return status;
}

static int make_operation(const struct library_kernel *k, const void *bias, void **out,
                          cugen_error *err) {
  const struct arithmetic *arithmetic = arithmetic_of(&k->call);
  const bool tf32 = value_of(k, CUBLASLT_math)->number == LIBRARY_TF32;
  *out = NULL;
  int status = LT(k->lt, err, operation_create, "MatmulDescCreate",
                  (out, tf32 ? (int)LT_COMPUTE_32F_FAST_TF32 : arithmetic->compute,
                   type_of(&dtype_table[arithmetic->scale])));
  return status ? status : set_operation(k, *out, bias, err);
}

static int make_layout(struct library_kernel *k, enum cublaslt_field field, cugen_error *err) {
  const struct library_value *value = value_of(k, field);
  const int64_t batch = value_of(k, CUBLASLT_batch)->number;
  struct matrix m;
  if (!value->dtype || !find_matrix(value, batch, &m)) return CUGEN_OK;
  const int64_t length = value->columns ? m.rows : m.columns;
  const int64_t lines = value->columns ? m.columns : m.rows;
  const int32_t count = (int32_t)batch;
  void **out = &k->layouts[field];
  int status = LT(k->lt, err, layout_create, "MatrixLayoutCreate",
                  (out, type_of(value->dtype), (uint64_t)length, (uint64_t)lines, m.line));
  if (!status)
    status = LT(k->lt, err, layout_set, "MatrixLayoutSetAttribute",
                (*out, LT_LAYOUT_BATCH_COUNT, &count, sizeof count));
  return status ? status
                : LT(k->lt, err, layout_set, "MatrixLayoutSetAttribute",
                     (*out, LT_LAYOUT_BATCH_OFFSET, &m.next, sizeof m.next));
}

static int set_wishes(const struct cublaslt *lt, uint32_t alignment, void *wish, cugen_error *err) {
  const size_t workspace = MOST_WORKSPACE;
  int status = LT(lt, err, wish_set, "MatmulPreferenceSetAttribute",
                  (wish, LT_PREF_WORKSPACE_BYTES, &workspace, sizeof workspace));
  for (int i = LT_PREF_ALIGNMENT_A; i <= LT_PREF_ALIGNMENT_D && !status; i++)
    status = LT(lt, err, wish_set, "MatmulPreferenceSetAttribute",
                (wish, i, &alignment, sizeof alignment));
  return status;
}

/* Returns the matrix that beta multiplies: `added`, or if nothing is added the result, which the
   library does not read, because beta is 0 then. */
static enum cublaslt_field added_of(const struct library_kernel *k) {
  return value_of(k, CUBLASLT_added)->dtype ? CUBLASLT_added : CUBLASLT_c;
}

/* Takes the algorithm at the variant's place in the heuristics' list for that alignment. The list
   for an alignment below ALIGNMENT may have no algorithm there: then its first is taken. */
static int cublaslt_choose(const struct library_kernel *k, uint32_t alignment, void *operation,
                           void *wish, struct lt_result *out, cugen_error *err) {
  struct lt_result results[MOST_ALGORITHMS];
  int64_t wanted = value_of(k, CUBLASLT_algorithm)->number;
  int count = 0;
  int result = k->lt->heuristic(k->handle, operation, k->layouts[k->first], k->layouts[k->second],
                                k->layouts[added_of(k)], k->layouts[CUBLASLT_c], wish,
                                MOST_ALGORITHMS, results, &count);
  if (result == LT_NOT_SUPPORTED) count = 0;
  if (result != LT_SUCCESS && result != LT_NOT_SUPPORTED)
    return lt_check(k->lt, result, "MatmulAlgoGetHeuristic", err);
  if (alignment < ALIGNMENT && (wanted >= count || results[wanted].state != LT_SUCCESS)) wanted = 0;
  const bool found = wanted < count && results[wanted].state == LT_SUCCESS;
  if (!found && alignment < ALIGNMENT)
    return error_set(err, CUGEN_ERROR_CONFIG,
                     "cublasLt has no algorithm for this product with buffers that are aligned to "
                     "%u bytes; align all of its buffers to %d bytes, as cudaMalloc does",
                     alignment, ALIGNMENT);
  if (!found)
    return error_set(
        err, CUGEN_ERROR_CONFIG,
        count ? "cublasLt has %d algorithms for this product, so none is number %lld"
              : "cublasLt has no algorithm for a product of these types, orders and sizes",
        count, (long long)wanted);
  *out = results[wanted];
  return CUGEN_OK;
}

static int find_algorithm(const struct library_kernel *k, uint32_t alignment, struct lt_result *out,
                          cugen_error *err) {
  void *wish = NULL, *operation = NULL;
  /* the pointer stands for a bias of that alignment; the heuristics do not read from it */
  int status = make_operation(k, (const void *)(uintptr_t)alignment, &operation, err);
  if (!status) status = LT(k->lt, err, wish_create, "MatmulPreferenceCreate", (&wish));
  if (!status) status = set_wishes(k->lt, alignment, wish, err);
  if (!status) status = cublaslt_choose(k, alignment, operation, wish, out, err);
  if (wish) k->lt->wish_destroy(wish);
  if (operation) k->lt->operation_destroy(operation);
  return status;
}

void cuda_library_close(struct library_kernel *k) {
  if (!k) return;
  for (int i = 0; i < CUBLASLT_FIELD_COUNT; i++)
    if (k->layouts[i]) k->lt->layout_destroy(k->layouts[i]);
  free(k);
}

static void fill_constants(struct library_kernel *k) {
  switch (arithmetic_of(&k->call)->scale) {
  case DTYPE_f64: k->one.f64 = 1; break;
  case DTYPE_i32: k->one.i32 = 1; break;
  default: k->one.f32 = 1; break;
  }
}

static int open_handle(struct cuda_device *cuda, const struct cublaslt **lt, cugen_error *err) {
  const void *table;
  int status = toolkit_library(cuda->toolkit, TOOLKIT_KERNELS + LIBRARY_cublasLt, cublaslt_load,
                               &table, err);
  *lt = table;
  return status || cuda->cublaslt ? status : LT(*lt, err, create, "Create", (&cuda->cublaslt));
}

/* Reads the call from a source or an image, and checks it. */
static int read_call(const char *text, size_t length, struct library_call *out, cugen_error *err) {
  int status = library_call_parse(text, length, out, err);
  return status ? status : check_call(out, err);
}

int cuda_library_open(struct cuda_device *cuda, const struct compiled *compiled,
                      struct library_kernel **out, cugen_error *err) {
  const struct toolkit_kernels *found = &cuda->toolkit->kernels[LIBRARY_cublasLt];
  const struct cublaslt *lt;
  struct library_call call;
  int status = read_call(compiled->image, compiled->image_length, &call, err);
  if (!status && (!found->path.length || found->build != call.build))
    status = error_set(
        err, CUGEN_ERROR_MISSING, "%s: the variant was chosen for another build of it",
        found->path.length ? text_get(&found->path) : libraries[LIBRARY_cublasLt].files[0]);
  if (!status) status = open_handle(cuda, &lt, err);
  if (status) return status;
  struct library_kernel *k = calloc(1, sizeof *k);
  if (!k) return error_memory(err);
  k->lt = lt;
  k->handle = cuda->cublaslt;
  k->call = call;
  k->first = call.values[CUBLASLT_c].columns ? CUBLASLT_a : CUBLASLT_b;
  k->second = k->first == CUBLASLT_a ? CUBLASLT_b : CUBLASLT_a;
  fill_constants(k);
  for (int i = 0; i < CUBLASLT_FIELD_COUNT; i++)
    k->place[i] = call.values[i].dtype ? (int)k->parameters++ : -1;
  for (int i = CUBLASLT_a; i <= CUBLASLT_added && !status; i++)
    status = make_layout(k, (enum cublaslt_field)i, err);
  if (!status) status = find_algorithm(k, ALIGNMENT, &k->found, err);
  if (status)
    cuda_library_close(k);
  else
    *out = k;
  return status;
}

void cuda_library_shut(struct cuda_device *cuda) {
  const void *table;
  if (cuda->cublaslt && !toolkit_library(cuda->toolkit, TOOLKIT_KERNELS + LIBRARY_cublasLt,
                                         cublaslt_load, &table, NULL))
    ((const struct cublaslt *)table)->destroy(cuda->cublaslt);
}

/* The image is the text without the comments in front, so that equal calls have equal images. */
int cuda_library_compile(const struct compile_request *request, struct compiled *out,
                         cugen_error *err) {
  struct library_call call;
  struct text image = {0};
  *out = (struct compiled){0};
  int status = read_call(request->source, strlen(request->source), &call, err);
  if (status) return status;
  library_call_print(&call, &image);
  out->image_length = image.length;
  out->image_hash = hash_bytes(text_get(&image), image.length);
  out->image = text_take(&image);
  out->entries[0] = strdup(libraries[call.library].name);
  out->entry_count = 1;
  out->log = strdup("");
  if (out->image && out->entries[0] && out->log) return CUGEN_OK;
  compiled_free(out);
  return error_memory(err);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void *bound(const struct library_kernel *k, void *const *parameters,
                   enum cublaslt_field field) {
  return *(void **)parameters[k->place[field]];
}

/* Returns the bytes, at most ALIGNMENT, to which all buffers of the call are aligned. */
static uint32_t alignment_of(const struct library_kernel *k, void *const *parameters) {
  uintptr_t bits = ALIGNMENT;
  for (int i = CUBLASLT_a; i <= CUBLASLT_bias; i++)
    if (k->place[i] >= 0) bits |= (uintptr_t)bound(k, parameters, (enum cublaslt_field)i);
  return (uint32_t)(bits & -bits);
}

void cuda_library_unprepare(struct cuda_device *cuda, struct library_kernel *k, void *prepared) {
  struct library_prepared *p = prepared;
  if (p->workspace.base) cuda_free(&cuda->base, &p->workspace);
  if (p->operation) k->lt->operation_destroy(p->operation);
  free(p);
}

int cuda_library_prepare(struct cuda_device *cuda, struct library_kernel *k,
                         void *const *parameters, void *before, void **out, cugen_error *err) {
  struct library_prepared *p = calloc(1, sizeof *p), *old = before;
  const bool biased = value_of(k, CUBLASLT_bias)->dtype;
  *out = p;
  if (!p) return error_memory(err);
  int status =
      make_operation(k, biased ? bound(k, parameters, CUBLASLT_bias) : NULL, &p->operation, err);
  const uint32_t alignment = alignment_of(k, parameters);
  p->found = k->found;
  if (!status && alignment < ALIGNMENT) status = find_algorithm(k, alignment, &p->found, err);
  if (!status && old && old->workspace.bytes >= p->found.workspace)
    p->workspace = old->workspace, old->workspace = (struct memory){0};
  else if (!status && p->found.workspace)
    status = cuda_alloc(&cuda->base, MEMORY_DEVICE, p->found.workspace, false, &p->workspace, err);
  if (!status) return CUGEN_OK;
  cuda_library_unprepare(cuda, k, p);
  *out = NULL;
  return status;
}

/* alpha and beta are 1 unless they are passed; beta is 0 if nothing is added. */
int cuda_library_launch(const struct library_kernel *k, void **parameters, void *stream,
                        cugen_error *err) {
  const struct library_prepared *p = parameters[k->parameters];
  const enum cublaslt_field added = added_of(k);
  const void *alpha = k->place[CUBLASLT_alpha] < 0 ? &k->one : parameters[k->place[CUBLASLT_alpha]];
  const void *beta = added == CUBLASLT_c           ? (const void *)&k->zero
                     : k->place[CUBLASLT_beta] < 0 ? (const void *)&k->one
                                                   : parameters[k->place[CUBLASLT_beta]];
  return LT(k->lt, err, matmul, "Matmul",
            (k->handle, p->operation, alpha, bound(k, parameters, k->first), k->layouts[k->first],
             bound(k, parameters, k->second), k->layouts[k->second], beta,
             bound(k, parameters, added), k->layouts[added], bound(k, parameters, CUBLASLT_c),
             k->layouts[CUBLASLT_c], &p->found.algorithm, p->workspace.device, p->found.workspace,
             stream));
}
