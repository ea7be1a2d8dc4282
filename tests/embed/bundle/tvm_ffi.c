/* Calls the bundle's function of TVM-FFI over the fake driver. This program has the two functions
   of TVM-FFI that the bundle looks up; the structures are written here a second time. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

struct dl_tensor { /* dlpack/dlpack.h */
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

struct any { /* tvm/ffi/c_api.h: TVMFFIAny */
  int32_t type_index;
  uint32_t small_length;
  union {
    int64_t v_int64;
    double v_float64;
    void *v_ptr;
    char v_bytes[8];
  };
};

enum { NONE = 0, INT = 1, REAL = 3, TENSOR_POINTER = 7, RAW_STRING = 8, SMALL_STRING = 11 };
enum { STRING = 65, TENSOR = 70 };
enum { CPU = 1, CUDA = 2, METAL = 8 };

static char raised[2048], kind[64];
static int streams[2], *stream = &streams[0];

void TVMFFIErrorSetRaisedFromCStr(const char *which, const char *message);
void TVMFFIErrorSetRaisedFromCStr(const char *which, const char *message) {
  snprintf(kind, sizeof kind, "%s", which);
  snprintf(raised, sizeof raised, "%s", message);
}

void *TVMFFIEnvGetStream(int32_t type, int32_t id);
void *TVMFFIEnvGetStream(int32_t type, int32_t id) {
  return type == CUDA && id == 0 ? stream : NULL;
}

static int (*rows)(void *self, const struct any *values, int32_t count, struct any *result);
static struct fake_cuda *fake;
static struct fake_launch seen;
static void *x_seen, *y_seen, *partial_seen;
static int32_t m, n;
static long launches;

/* The kernel's parameters: x, y, partial, M, N, scale. */
static void watch(const struct fake_launch *launch) {
  seen = *launch;
  launches++;
  memcpy(&x_seen, launch->parameters[0], sizeof x_seen);
  memcpy(&y_seen, launch->parameters[1], sizeof y_seen);
  memcpy(&partial_seen, launch->parameters[2], sizeof partial_seen);
  memcpy(&m, launch->parameters[3], sizeof m);
  memcpy(&n, launch->parameters[4], sizeof n);
  memcpy(y_seen, "written", 8);
}

static _Alignas(64) float x[2000 * 1000 + 16], y[2000 * 1000];
static _Alignas(64) double factors[4] = {1, 2, 3, 4};
static int64_t shape[2] = {500, 1000}, strides[2] = {1000, 1}, four[1] = {4}, one[1] = {1};

struct arguments {
  struct dl_tensor x, y, factors;
  struct any values[8];
  int32_t count;
};

static void start(struct arguments *a, int64_t rows_of_x, int64_t columns) {
  shape[0] = rows_of_x, shape[1] = strides[0] = columns, strides[1] = 1;
  memset(a, 0, sizeof *a);
  a->x = (struct dl_tensor){x, {CUDA, 0}, 2, {2, 32, 1}, shape, strides, 0};
  a->y = (struct dl_tensor){y, {CUDA, 0}, 2, {2, 32, 1}, shape, strides, 0};
  a->factors = (struct dl_tensor){factors, {CPU, 0}, 1, {2, 64, 1}, four, one, 0};
  struct dl_tensor *const tensors[] = {&a->x, &a->y, &a->factors};
  for (int i = 0; i < 3; i++)
    a->values[i].type_index = TENSOR_POINTER, a->values[i].v_ptr = tensors[i];
  a->count = 3;
}

static int call(const struct arguments *a) {
  struct any result = {.type_index = 99};
  raised[0] = 0;
  const int status = rows(NULL, a->values, a->count, &result);
  if (result.type_index != NONE) return -99;
  if (status == 0 && raised[0]) return -98;
  return status;
}

static void set(struct arguments *a, const char *settings) {
  a->values[a->count].type_index = RAW_STRING;
  a->values[a->count++].v_ptr = (void *)(uintptr_t)settings;
}

static int fails(const struct arguments *a, const char *with, const char *message) {
  const long before = launches;
  const int status = call(a);
  if (status == -1 && launches == before && !strcmp(kind, with) && strstr(raised, message))
    return 1;
  printf("%d: %s: %s\n", status, kind, raised);
  return 0;
}

#define EXPECT(what)                                                                               \
  if (!(what)) return printf("line %d: not so: %s (%s)\n", __LINE__, #what, raised), 1

static int test_launch(void) {
  struct arguments a;
  start(&a, 500, 1000);
  EXPECT(call(&a) == 0);
  /* wide vec=4 threads=128, as in the records that the test stores */
  EXPECT(m == 500 && n == 1000 && seen.grid[0] == 4 && seen.grid[1] == 8 && seen.block[0] == 128);
  EXPECT(seen.stream == stream && x_seen == x && y_seen == y && partial_seen);
  void *const scratch = partial_seen;
  const long memory = fake->memory, images = fake->images;
  EXPECT(call(&a) == 0 && partial_seen == scratch);
  EXPECT(fake->memory == memory && fake->images == images && images == 1);
  /* another stream has scratch of its own */
  stream = &streams[1];
  EXPECT(call(&a) == 0 && partial_seen != scratch && seen.stream == stream);
  stream = &streams[0];
  EXPECT(call(&a) == 0 && partial_seen == scratch && fake->current == 0);
  /* strides may be missing, and those of a dimension of one element are anything */
  a.x.strides = NULL;
  EXPECT(call(&a) == 0);
  a.x.byte_offset = 16;
  EXPECT(call(&a) == 0 && x_seen == x + 4);
  return 0;
}

static int test_problems(void) {
  struct arguments a;
  start(&a, 2000, 1000);
  EXPECT(call(&a) == 0 && m == 2000 && seen.block[0] == 64);
  start(&a, 100, 64);
  a.x.dtype.bits = a.y.dtype.bits = 64;
  EXPECT(call(&a) == 0 && m == 100 && n == 64);
  start(&a, 1, 64); /* a row without its dimension of 1 */
  a.x.ndim = a.y.ndim = 1, a.x.shape++, a.y.shape++, a.x.strides++, a.y.strides++;
  a.x.dtype.bits = a.y.dtype.bits = 64;
  EXPECT(call(&a) == 0 && m == 1 && n == 64);
  start(&a, 500, 1000);
  set(&a, "M=500, specialize=false");
  EXPECT(call(&a) == 0 && m == 500);
  start(&a, 500, 1000); /* objects, as TVM-FFI's own tensors and strings are */
  struct {
    uint64_t header[3];
    struct dl_tensor tensor;
  } object = {{0}, a.x};
  struct {
    uint64_t header[3];
    const char *data;
    size_t size;
  } string = {{0}, "specialize=falsehood", 16};
  a.values[0].type_index = TENSOR, a.values[0].v_ptr = &object;
  a.values[3].type_index = STRING, a.values[3].v_ptr = &string, a.count = 4;
  EXPECT(call(&a) == 0 && m == 500 && x_seen == x);
  a.values[3].type_index = SMALL_STRING, a.values[3].small_length = 5;
  memcpy(a.values[3].v_bytes, "M=500xyz", 8);
  EXPECT(call(&a) == 0 && m == 500);
  return 0;
}

/* Arrays of the host: copies on device 0, and the output comes back. */
static int test_host(void) {
  struct arguments a;
  start(&a, 500, 1000);
  a.x.device.type = a.y.device.type = CPU;
  EXPECT(call(&a) == 0);
  const long memory = fake->memory;
  memset(y, 0, 8);
  EXPECT(call(&a) == 0 && x_seen != x && y_seen != y && !seen.stream);
  EXPECT(!memcmp(y, "written", 8) && fake->memory == memory);
  return 0;
}

static int test_refusals(void) {
  struct arguments a;
  int64_t wrong[2] = {500, 999};
#define CASE(change, message)                                                                      \
  start(&a, 500, 1000);                                                                            \
  change;                                                                                          \
  EXPECT(fails(&a, "ValueError", message))
  CASE(a.count = 2, "rows: argument 'factors' is missing");
  CASE(a.values[1].type_index = NONE, "argument 'y' is missing");
  CASE(a.values[1].type_index = INT, "argument 'y' must be a tensor");
  CASE(a.count = 4, "rows takes at most 3 arguments (x, y, factors) and was given 4");
  CASE(a.y.shape = wrong, "argument 'y' has shape (500, 999), and must have (500, 1000) for M=500");
  CASE(a.y.ndim = 1, "argument 'y' has shape (500,), and must have (500, 1000)");
  CASE(a.factors.ndim = 2; a.factors.shape = shape;
       a.factors.strides = strides,
       "argument 'factors' has shape (500, 1000), and at most 1 dimension");
  CASE(a.y.ndim = 5, "argument 'y' has 5 dimensions");
  CASE(a.y.dtype.code = 4, "'y' has elements of type bfloat32, and this bundle has code for f32");
  CASE(a.y.dtype.lanes = 4, "'y' has elements of type float32x4");
  CASE(a.y.dtype.bits = 16; a.y.dtype.lanes = 2, "'y' has elements of type float16x2");
  CASE(a.factors.dtype.bits = 32, "'factors' has elements of type float32");
  CASE(a.y.strides = wrong, "argument 'y' has strides (500, 999), and must have (1000, 1)");
  CASE(a.y.device.type = METAL, "'y' is on a device of DLPack's type 8");
  CASE(a.y.device.type = CPU, "'y' is in host memory, and 'x' on CUDA device 0");
  CASE(a.y.device.id = 1, "'y' is on CUDA device 1, and 'x' on CUDA device 0");
  CASE(a.x.byte_offset = 8, "'x' begins at 0x");
  CASE(a.x.data = NULL, "'x' has no memory");
  CASE(set(&a, "dtype"), "'dtype' is no setting");
  CASE(set(&a, "L=3"), "'L' is no setting: one is written NAME=VALUE, and the names are M, N, d");
  CASE(set(&a, "M=3x"), "setting 'M=3x': a whole number is expected");
  CASE(set(&a, "specialize=yes"), "setting 'specialize=yes': true or false is expected");
  CASE(set(&a, "dtype=f16"), "no code for the settings 'dtype=f16'");
  CASE(set(&a, "M=501"), "argument 'x' has shape (500, 1000), and must have (501, 1000) for M=501");
  start(&a, 0, 1000);
  EXPECT(fails(&a, "ValueError", "this bundle has no code for these sizes"));
#undef CASE
  return 0;
}

/* Whatever call of the driver fails, nothing is lost, and the next call works. */
static int test_failures(void) {
  struct arguments a;
  long at = 1, failed = 0;
  for (;; at++) {
    start(&a, 500 + 4 * at, 1000);
    a.x.device.type = a.y.device.type = at % 2 ? CPU : CUDA;
    const long memory = fake->memory;
    fake->calls = 0, fake->failed_call = NULL, fake->fail_at = at, fake->fail_with = 2;
    const int status = call(&a);
    fake->fail_at = 0;
    if (!fake->failed_call) break;
    if (status)
      EXPECT(!strcmp(kind, "RuntimeError") && strstr(raised, fake->failed_call) &&
             fake->memory == memory);
    EXPECT(fake->current == 0);
    failed += status != 0;
    EXPECT(call(&a) == 0);
  }
  EXPECT(failed > 10);
  return 0;
}

int main(int count, char **arguments) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  void *bundle = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void *function = bundle ? dlsym(bundle, "__tvm_ffi_rows") : NULL;
  fake = driver ? dlsym(driver, "fake_cuda") : NULL;
  if (!fake || !function) return printf("no fake driver or no bundle: %s\n", dlerror()), 1;
  memcpy(&rows, &function, sizeof rows);
  fake->run = watch;
  fake->fail_at = 0;
  return test_launch() || test_problems() || test_host() || test_refusals() || test_failures();
}
