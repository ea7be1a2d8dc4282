/* @title */
#include "bundle.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define MAYBE_UNUSED __attribute__((unused))
#else
#define MAYBE_UNUSED
#endif

/* ---- Errors ------------------------------------------------------------------------------------------------------- */

static int fail(bundle_error *error, int status, const char *format, ...) {
  va_list values;
  if (!error) return status;
  error->status = status;
  va_start(values, format);
  vsnprintf(error->message, sizeof error->message, format, values);
  va_end(values);
  return status;
}

/* ---- Whole numbers: what is wrong (an overflow, a division by zero) sets *e ------------------------------------------ */

MAYBE_UNUSED static long long add(int *e, long long a, long long b) {
  long long sum = 0;
  *e |= __builtin_add_overflow(a, b, &sum);
  return sum;
}

MAYBE_UNUSED static long long subtract(int *e, long long a, long long b) {
  long long difference = 0;
  *e |= __builtin_sub_overflow(a, b, &difference);
  return difference;
}

MAYBE_UNUSED static long long multiply(int *e, long long a, long long b) {
  long long product = 0;
  *e |= __builtin_mul_overflow(a, b, &product);
  return product;
}

/* Rounds down, whatever the signs. */
MAYBE_UNUSED static long long divide(int *e, long long a, long long b) {
  if (b == 0 || (b == -1 && a == LLONG_MIN)) return *e = 1, 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

MAYBE_UNUSED static long long modulo(int *e, long long a, long long b) {
  if (b == 0) return *e = 1, 0;
  if (b == -1) return 0;
  long long rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

MAYBE_UNUSED static long long divide_exactly(int *e, long long a, long long b) {
  *e |= b != 0 && modulo(e, a, b) != 0;
  return divide(e, a, b);
}

MAYBE_UNUSED static long long ceil_div(int *e, long long a, long long b) {
  if (b <= 0) return *e = 1, 0;
  return divide(e, a, b) + (a % b != 0);
}

MAYBE_UNUSED static long long round_up(int *e, long long a, long long b) {
  return multiply(e, ceil_div(e, a, b), b);
}

MAYBE_UNUSED static int is_pow2(long long a) {
  return a > 0 && (a & (a - 1)) == 0;
}

MAYBE_UNUSED static long long log2_exact(int *e, long long a) {
  long long power = 0;
  if (!is_pow2(a)) return *e = 1, 0;
  while (a > 1) a /= 2, power++;
  return power;
}

MAYBE_UNUSED static long long absolute(int *e, long long a) {
  return a < 0 ? subtract(e, 0, a) : a;
}

MAYBE_UNUSED static long long lesser(long long a, long long b) {
  return a < b ? a : b;
}

MAYBE_UNUSED static long long greater(long long a, long long b) {
  return a > b ? a : b;
}

/* Newton's method from above falls until it is there; of what is no positive number it is the number itself. */
MAYBE_UNUSED static double root(double a) {
  double x = a > 1 ? a : 1, next;
  if (!(a > 0) || a > 1e300) return a == 0 ? 0 : -1.0 / 0.0;
  while ((next = 0.5 * (x + a / x)) < x) x = next;
  return x;
}

MAYBE_UNUSED static int word_is(const char *word, const char *wanted) {
  return word && strcmp(word, wanted) == 0;
}

/* ---- A variant's sizes for one problem ------------------------------------------------------------------------------- */

enum { MAX_LAUNCHES = 8, MAX_ARGUMENTS = 32 };
enum { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MAPPED, MEMORY_MANAGED };
enum { ROWS, COLUMNS };

struct launch_sizes {
  long long grid[3], block[3], shared;
  long long carveout; /* preferred part of what L1 and shared memory share, in percent; -1: the driver decides */
};

struct argument_sizes {
  const char *dtype;
  int bytes; /* of an element */
  int passed, memory, rank;
  int copied; /* a constant that the kernel reads by an address: the call's own copy */
  long long shape[BUNDLE_MAX_RANK], stride[BUNDLE_MAX_RANK], elements;
  unsigned char value[8]; /* of a scalar */
};

/* Filled in order by the functions below. */
struct sizes {
  struct launch_sizes launches[MAX_LAUNCHES];
  struct argument_sizes arguments[MAX_ARGUMENTS];
  size_t launch_count, argument_count;
  int wide; /* offsets need 64 bits */
  int failed;
};

MAYBE_UNUSED static void launch(struct sizes *s, long long grid_x, long long grid_y, long long grid_z,
                                long long block_x, long long block_y, long long block_z, long long shared) {
  s->launches[s->launch_count++] =
      (struct launch_sizes){{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, -1};
}

/* Of the launch before. */
MAYBE_UNUSED static void carveout(struct sizes *s, long long percent) {
  s->launches[s->launch_count - 1].carveout = percent;
}

/* Outwards from the contiguous dimension: 1, the pitch, and each times the extent of the one before. */
MAYBE_UNUSED static void buffer(struct sizes *s, const char *dtype, int bytes, int memory, int order, long long pitch,
                                int rank, const long long *shape) {
  struct argument_sizes *a = &s->arguments[s->argument_count++];
  int at = order == COLUMNS ? 0 : rank - 1, step = order == COLUMNS ? 1 : -1;
  *a = (struct argument_sizes){.dtype = dtype, .bytes = bytes, .passed = 1, .memory = memory, .rank = rank};
  for (int i = 0; i < rank; i++) {
    a->shape[i] = shape[i];
    s->failed |= shape[i] < 1;
  }
  s->failed |= pitch < a->shape[at];
  a->stride[at] = 1;
  a->elements = pitch;
  for (int i = 1; i < rank; i++) {
    at += step;
    a->stride[at] = a->elements;
    a->elements = multiply(&s->failed, a->elements, a->shape[at]);
  }
  s->failed |= a->elements > (1LL << 62) / bytes;
  s->wide |= a->elements > (1LL << 31) - (1LL << 24);
}

/* Of the constant that was described last. */
MAYBE_UNUSED static void by_address(struct sizes *s) {
  s->arguments[s->argument_count - 1].copied = 1;
}

static struct argument_sizes *scalar(struct sizes *s, const char *dtype, int bytes, int passed) {
  struct argument_sizes *a = &s->arguments[s->argument_count++];
  *a = (struct argument_sizes){.dtype = dtype, .bytes = bytes, .passed = passed};
  return a;
}

/* A value known when the bundle was made, as the bytes of its type. */
MAYBE_UNUSED static void bits(struct sizes *s, const char *dtype, int bytes, int passed, unsigned long long value) {
  memcpy(scalar(s, dtype, bytes, passed)->value, &value, (size_t)bytes); /* CUDA's machines are little-endian */
}

MAYBE_UNUSED static void whole(struct sizes *s, const char *dtype, int bytes, int passed, long long value) {
  int narrow = 8 * bytes - (dtype[0] == 'i');
  memcpy(scalar(s, dtype, bytes, passed)->value, &value, (size_t)bytes);
  if (dtype[0] == 'u' ? value < 0 : narrow < 63 && value < -(1LL << narrow)) s->failed = 1;
  if (narrow < 63 && value >= 1LL << narrow) s->failed = 1;
}

/* A size that is passed as the type of offsets is: 32 or 64 bits. */
MAYBE_UNUSED static void offset(struct sizes *s, const char *dtype, int bytes, int passed, long long value) {
  memcpy(scalar(s, dtype, bytes, passed)->value, &value, (size_t)bytes);
  s->wide |= value < INT_MIN || value > INT_MAX;
}

MAYBE_UNUSED static void real(struct sizes *s, const char *dtype, int bytes, int passed, double value) {
  struct argument_sizes *a = scalar(s, dtype, bytes, passed);
  float single = (float)value;
  s->failed |= !(value - value == 0);
  if (bytes == sizeof value) memcpy(a->value, &value, sizeof value);
  if (bytes == sizeof single) memcpy(a->value, &single, sizeof single);
}

/* ---- What is in the tables ------------------------------------------------------------------------------------------- */

struct image {
  const void *data;
  size_t bytes;
};

struct argument {
  const char *name;
  bundle_argument_kind kind;
};

/* name NULL: any device of that compute capability; ptx: of that one or a later. */
struct device {
  const char *name;
  int capability, multiprocessors, ptx, max_threads;
  const char *text, *arch;
};

/* A variant as compiled for one device: the problems that it serves, and its sizes for them. */
struct code {
  const char *variant;
  size_t image;
  int wide; /* compiled with 64-bit offsets */
  int (*serves)(const bundle_problem *p);
  void (*sizes)(const bundle_problem *p, struct sizes *s);
  size_t launches;
  const char *kernels[MAX_LAUNCHES]; /* names in the image */
};

/* A problem that was tuned on a device: its variants from `first` on, the fastest first. */
struct tuned {
  size_t device;
  bundle_problem problem;
  const char *text;
  size_t first, count;
};

struct measured {
  size_t code;
  double seconds;
  unsigned long long order; /* in the space: settles ties */
};

/* What is taken where nothing measured serves, in this order. */
struct fallback {
  size_t device, code;
};

struct bucket {
  const long long *bounds;
  size_t count;
};

/* What the tables call it. */
typedef bundle_problem problem_values;
#define KIND(kind) BUNDLE_##kind

/* @tables */

/* ---- Choosing -------------------------------------------------------------------------------------------------------- */

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int launch_fits(const struct launch_sizes *l, int max_threads) {
  static const long long grid[3] = {INT_MAX, 65535, 65535}, block[3] = {1024, 1024, 64};
  for (int i = 0; i < 3; i++)
    if (l->grid[i] < 1 || l->grid[i] > grid[i] || l->block[i] < 1 || l->block[i] > block[i]) return 0;
  if (l->carveout < -1 || l->carveout > 100) return 0;
  return l->block[0] * l->block[1] * l->block[2] <= max_threads && l->shared >= 0 && l->shared <= INT_MAX;
}

/* Whether the code is right for the problem, and its sizes there. */
static int usable(const struct code *code, const struct device *device, const bundle_problem *p, struct sizes *s) {
  memset(s, 0, sizeof *s);
  if (!code->serves(p)) return 0;
  code->sizes(p, s);
  if (s->failed || s->wide != code->wide) return 0;
  for (size_t i = 0; i < s->launch_count; i++)
    if (!launch_fits(&s->launches[i], device->max_threads)) return 0;
  return 1;
}

struct chosen {
  const struct device *device;
  const struct code *code;
  const struct tuned *tuned;
  const struct measured *measured;
  bundle_choice how;
  double ratio;
};

/* The fastest that serves the problem; within half a percent the one that comes first in the space. */
static int choose_measured(const struct tuned *t, const bundle_problem *p, struct sizes *s, struct chosen *out) {
  const struct measured *best = NULL;
  double limit = 0;
  for (size_t i = t->first; i < t->first + t->count; i++) {
    const struct measured *m = &measurements[i];
    if (best && (m->seconds > limit || m->order > best->order)) continue;
    if (!usable(&codes[m->code], &devices[t->device], p, s)) continue;
    if (!best) limit = m->seconds * 1.005;
    best = m;
  }
  if (!best) return 0;
  out->code = &codes[best->code];
  out->tuned = t;
  out->measured = best;
  return usable(out->code, &devices[t->device], p, s);
}

static int same_sizes(const long long *a, const long long *b) {
  return memcmp(a, b, SIZES * sizeof *a) == 0;
}

static int choose_exact(const struct device *device, const bundle_problem *p, const long long *sizes, struct sizes *s,
                        struct chosen *out) {
  for (size_t i = 0; i < tuned_count; i++) {
    long long others[SIZES + 1] = {0};
    sizes_of(&tuned[i].problem, others);
    if (&devices[tuned[i].device] == device && same_class(&tuned[i].problem, p) && same_sizes(sizes, others) &&
        choose_measured(&tuned[i], p, s, out))
      return 1;
  }
  return 0;
}

/* How far apart two problems are: the largest ratio of two sizes, and all ratios together. Sizes below 1 are equal or
   nothing. */
struct distance {
  double largest, product;
};

static struct distance distance_between(const long long *a, const long long *b) {
  struct distance d = {1, 1};
  for (size_t i = 0; i < size_count; i++) {
    if (a[i] == b[i]) continue;
    if (a[i] < 1 || b[i] < 1) return (struct distance){1e300, 1e300};
    double ratio = a[i] > b[i] ? (double)a[i] / (double)b[i] : (double)b[i] / (double)a[i];
    if (ratio > d.largest) d.largest = ratio;
    d.product *= ratio;
  }
  return d;
}

static int farther(struct distance a, struct distance b) {
  return a.largest != b.largest ? a.largest > b.largest : a.product > b.product;
}

/* The nearest tuned problem that is not nearer than `after` (and comes later than it when it is as far). */
static size_t next_nearest(const struct device *device, const bundle_problem *p, const long long *sizes,
                           struct distance after, size_t after_at, struct distance *found) {
  size_t best = tuned_count;
  for (size_t i = 0; i < tuned_count; i++) {
    long long others[SIZES + 1] = {0};
    if (&devices[tuned[i].device] != device || !same_class(&tuned[i].problem, p)) continue;
    sizes_of(&tuned[i].problem, others);
    struct distance d = distance_between(sizes, others);
    if (d.largest > FARTHEST || farther(after, d)) continue;
    if (!farther(d, after) && after_at != tuned_count && i <= after_at) continue;
    if (best == tuned_count || farther(*found, d)) best = i, *found = d;
  }
  return best;
}

MAYBE_UNUSED static int choose_nearest(const struct device *device, const bundle_problem *p, const long long *sizes,
                                       struct sizes *s, struct chosen *out) {
  struct distance at = {1, 1}, found = {1, 1};
  for (size_t i = next_nearest(device, p, sizes, at, tuned_count, &found); i < tuned_count;
       i = next_nearest(device, p, sizes, at, i, &found)) {
    at = found;
    out->ratio = found.largest;
    if (choose_measured(&tuned[i], p, s, out)) return 1;
  }
  return 0;
}

/* Each size rounded up to its next bound, above the last one to the last. */
MAYBE_UNUSED static int choose_bucket(const struct device *device, const bundle_problem *p, const long long *sizes,
                                      struct sizes *s, struct chosen *out) {
  long long rounded[SIZES + 1] = {0};
  for (size_t i = 0; i < size_count; i++) {
    size_t at = 0;
    rounded[i] = sizes[i];
    if (!buckets[i].count || sizes[i] < 1) continue;
    while (at + 1 < buckets[i].count && buckets[i].bounds[at] < sizes[i]) at++;
    rounded[i] = buckets[i].bounds[at];
  }
  out->ratio = distance_between(sizes, rounded).largest;
  return choose_exact(device, p, rounded, s, out);
}

static int choose_default(const struct device *device, const bundle_problem *p, struct sizes *s, struct chosen *out) {
  for (size_t i = 0; i < fallback_count; i++) {
    if (&devices[fallbacks[i].device] != device || !usable(&codes[fallbacks[i].code], device, p, s)) continue;
    out->code = &codes[fallbacks[i].code];
    return 1;
  }
  return 0;
}

/* The device itself; else whatever else has code that runs there, of which nothing was measured there. */
static const struct device *find_device(const bundle_device *asked, int *same) {
  const struct device *alike = NULL, *ptx = NULL;
  *same = 1;
  for (size_t i = 0; i < COUNT(devices); i++) {
    const struct device *d = &devices[i];
    if (d->ptx) {
      if (!ptx && d->capability <= asked->capability) ptx = d;
    } else if (d->capability == asked->capability) {
      if (d->name && asked->name && strcmp(d->name, asked->name) == 0 && d->multiprocessors == asked->multiprocessors)
        return d;
      if (!alike) alike = d;
    }
  }
  *same = 0;
  return alike ? alike : ptx;
}

static int no_device(const bundle_device *asked, bundle_error *error) {
  char known[512] = "";
  size_t length = 0;
  for (size_t i = 0; i < COUNT(devices) && length < sizeof known; i++)
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", devices[i].text);
  return fail(error, BUNDLE_ERROR_MISSING,
              "@name: this bundle has no code for %s (compute capability %d.%d); it was made for %s. Export it for "
              "that device too, or with --ptx",
              asked->name ? asked->name : "this device", asked->capability / 10, asked->capability % 10, known);
}

static int no_code(const struct device *device, const bundle_problem *p, bundle_error *error) {
  char asked[256], known[256] = "";
  print_problem(p, asked, sizeof asked);
  for (size_t i = 0, length = 0; i < COUNT(classes) && length < sizeof known; i++)
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? "; " : "", classes[i]);
  return fail(error, BUNDLE_ERROR_USAGE, "@name %s: this bundle has no code for it on %s%s%s", asked, device->text,
              *known ? "; it was made for " : "", known);
}

static int choose(const bundle_device *asked, const bundle_problem *p, struct sizes *s, struct chosen *out,
                  bundle_error *error) {
  long long sizes[SIZES + 1] = {0};
  int same;
  memset(out, 0, sizeof *out);
  out->ratio = 1;
  out->how = BUNDLE_EXACT;
  out->device = find_device(asked, &same);
  if (!out->device) return no_device(asked, error);
  sizes_of(p, sizes);
  if (same && choose_exact(out->device, p, sizes, s, out)) return BUNDLE_OK;
  out->how = BUNDLE_NEAR;
  if (same && CHOOSE_NEAR(out->device, p, sizes, s, out)) return BUNDLE_OK;
  out->how = BUNDLE_DEFAULT;
  out->ratio = 1;
  return choose_default(out->device, p, s, out) ? BUNDLE_OK : no_code(out->device, p, error);
}

/* log2 of a ratio from 1 up: its powers of two, then twice the artanh of (x - 1) / (x + 1). */
static double log2_of(double x) {
  double power = 0, sum = 0;
  while (x >= 2) x /= 2, power += 1;
  double y = (x - 1) / (x + 1), term = y;
  for (int i = 1; i < 60; i += 2, term *= y * y) sum += term / i;
  return power + 2 * sum / 0.69314718055994530942;
}

static void describe(const struct chosen *from, bundle_info *out) {
  memset(out, 0, sizeof *out);
  out->variant = from->code->variant;
  out->choice = from->how;
  out->tuned_for = from->tuned ? from->tuned->text : NULL;
  out->distance = log2_of(from->ratio);
  out->seconds = from->measured ? from->measured->seconds : 0;
  out->device = from->device->text;
  out->arch = from->device->arch;
  out->code_bytes = images[from->code->image].bytes;
  out->launches = from->code->launches;
}

int bundle_choose(const bundle_device *device, const bundle_problem *problem, bundle_info *out, bundle_error *error) {
  struct sizes sizes;
  struct chosen chosen;
  memset(out, 0, sizeof *out);
  int status = choose(device, problem, &sizes, &chosen, error);
  if (!status) describe(&chosen, out);
  return status;
}

/* ---- The driver: what is used of its interface, which keeps its meaning under these names ----------------------------- */

typedef unsigned long long address;

#define DRIVER_FUNCTIONS(X)                                                                                          \
  X(init, "cuInit", (unsigned))                                                                                      \
  X(error_name, "cuGetErrorName", (int, const char **))                                                              \
  X(error_text, "cuGetErrorString", (int, const char **))                                                            \
  X(device_get, "cuDeviceGet", (int *, int))                                                                         \
  X(device_name, "cuDeviceGetName", (char *, int, int))                                                              \
  X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                                     \
  X(context_retain, "cuDevicePrimaryCtxRetain", (void **, int))                                                      \
  X(context_give_back, "cuDevicePrimaryCtxRelease_v2", (int))                                                        \
  X(context_current, "cuCtxGetCurrent", (void **))                                                                   \
  X(context_device, "cuCtxGetDevice", (int *))                                                                       \
  X(context_push, "cuCtxPushCurrent_v2", (void *))                                                                   \
  X(context_pop, "cuCtxPopCurrent_v2", (void **))                                                                    \
  X(synchronize, "cuCtxSynchronize", (void))                                                                         \
  X(module_load, "cuModuleLoadData", (void **, const void *))                                                        \
  X(module_unload, "cuModuleUnload", (void *))                                                                       \
  X(module_function, "cuModuleGetFunction", (void **, void *, const char *))                                         \
  X(module_global, "cuModuleGetGlobal_v2", (address *, size_t *, void *, const char *))                              \
  X(function_set, "cuFuncSetAttribute", (void *, int, int))                                                          \
  X(launch, "cuLaunchKernel",                                                                                        \
    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))        \
  X(allocate, "cuMemAlloc_v2", (address *, size_t))                                                                  \
  X(allocate_managed, "cuMemAllocManaged", (address *, size_t, unsigned))                                            \
  X(free, "cuMemFree_v2", (address))                                                                                 \
  X(host_allocate, "cuMemHostAlloc", (void **, size_t, unsigned))                                                    \
  X(host_address, "cuMemHostGetDevicePointer_v2", (address *, void *, unsigned))                                     \
  X(host_free, "cuMemFreeHost", (void *))                                                                            \
  X(fill, "cuMemsetD8Async", (address, unsigned char, size_t, void *))                                               \
  X(copy, "cuMemcpyAsync", (address, address, size_t, void *))

struct driver {
  void *handle;
#define X(member, symbol, parameters) int(*member) parameters;
  DRIVER_FUNCTIONS(X)
#undef X
};

enum { ATTRIBUTE_MULTIPROCESSORS = 16, ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76, FUNCTION_DYNAMIC_SHARED = 8 };
enum { FUNCTION_CARVEOUT = 9 };

enum {
#define X(member, symbol, parameters) DRIVER_##member,
  DRIVER_FUNCTIONS(X)
#undef X
      DRIVER_COUNT
};

static const char *const symbols[DRIVER_COUNT] = {
#define X(member, symbol, parameters) symbol,
    DRIVER_FUNCTIONS(X)
#undef X
};

static int driver_open(struct driver *driver, bundle_error *error) {
  void **const places[] = {
#define X(member, symbol, parameters) (void **)(void *)&driver->member,
      DRIVER_FUNCTIONS(X)
#undef X
  };
  driver->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver->handle) {
    const char *why = dlerror();
    return fail(error, BUNDLE_ERROR_MISSING, "@name: there is no CUDA driver: %s", why ? why : "");
  }
  for (size_t i = 0; i < DRIVER_COUNT; i++) {
    void *function = dlsym(driver->handle, symbols[i]);
    if (!function)
      return fail(error, BUNDLE_ERROR_MISSING, "@name: this CUDA driver is too old: it has no %s", symbols[i]);
    memcpy(places[i], &function, sizeof function); /* a data pointer may not be cast to a function's */
  }
  return BUNDLE_OK;
}

/* What a call of the driver gave, as a status. */
static int check(const struct driver *driver, int result, const char *call, bundle_error *error) {
  const char *name = NULL, *text = NULL;
  if (result == 0) return BUNDLE_OK;
  driver->error_name(result, &name);
  driver->error_text(result, &text);
  return fail(error, BUNDLE_ERROR_DEVICE, "@name: %s: %s (%d): %s", call, name ? name : "unknown error", result,
              text ? text : "");
}

#define CALL(driver, member, arguments, error)                                                                       \
  check(driver, (driver)->member arguments, symbols[DRIVER_##member], error)

/* ---- The library ----------------------------------------------------------------------------------------------------- */

struct bundle_library {
  struct driver driver;
  void *context;
  int ordinal, primary;
  bundle_device device;
  char name[128];
};

static int enter(const bundle_library *l, bundle_error *error) {
  return CALL(&l->driver, context_push, (l->context), error);
}

static int leave(const bundle_library *l, int status) {
  void *popped;
  l->driver.context_pop(&popped);
  return status;
}

static int ask_device(bundle_library *l, bundle_error *error) {
  const struct driver *driver = &l->driver;
  int major = 0, minor = 0, count = 0;
  int status = CALL(driver, device_name, (l->name, (int)sizeof l->name, l->ordinal), error);
  if (!status) status = CALL(driver, device_attribute, (&major, ATTRIBUTE_MAJOR, l->ordinal), error);
  if (!status) status = CALL(driver, device_attribute, (&minor, ATTRIBUTE_MINOR, l->ordinal), error);
  if (!status) status = CALL(driver, device_attribute, (&count, ATTRIBUTE_MULTIPROCESSORS, l->ordinal), error);
  l->device = (bundle_device){l->name, 10 * major + minor, count};
  return status;
}

static int use_context(bundle_library *l, bundle_error *error) {
  int status = enter(l, error);
  if (!status) status = leave(l, CALL(&l->driver, context_device, (&l->ordinal), error));
  return status;
}

static int use_primary(bundle_library *l, int ordinal, bundle_error *error) {
  int status = CALL(&l->driver, device_get, (&l->ordinal, ordinal), error);
  if (!status) status = CALL(&l->driver, context_retain, (&l->context, l->ordinal), error);
  l->primary = !status;
  return status;
}

static int open_on(bundle_library *l, void *context, int ordinal, bundle_error *error) {
  int status = driver_open(&l->driver, error);
  if (!status) status = CALL(&l->driver, init, (0), error);
  l->context = context;
  if (!status && !context && ordinal < 0) status = CALL(&l->driver, context_current, (&l->context), error);
  if (!status) status = l->context ? use_context(l, error) : use_primary(l, ordinal < 0 ? 0 : ordinal, error);
  return status ? status : ask_device(l, error);
}

static int open_any(void *context, int ordinal, bundle_library **out, bundle_error *error) {
  *out = NULL;
  bundle_library *l = calloc(1, sizeof *l);
  if (!l) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  int status = open_on(l, context, ordinal, error);
  if (status)
    bundle_close(l);
  else
    *out = l;
  return status;
}

int bundle_open(void *context, bundle_library **out, bundle_error *error) {
  return open_any(context, -1, out, error);
}

int bundle_open_device(int ordinal, bundle_library **out, bundle_error *error) {
  *out = NULL;
  if (ordinal < 0) return fail(error, BUNDLE_ERROR_USAGE, "@name: device %d: they are counted from 0", ordinal);
  return open_any(NULL, ordinal, out, error);
}

void bundle_close(bundle_library *l) {
  if (!l) return;
  if (l->primary) l->driver.context_give_back(l->ordinal);
  if (l->driver.handle) dlclose(l->driver.handle);
  free(l);
}

const bundle_device *bundle_about_device(const bundle_library *l) {
  return &l->device;
}

/* ---- Plans ----------------------------------------------------------------------------------------------------------- */

struct bundle_plan {
  bundle_library *library;
  struct chosen chosen;
  struct sizes sizes;
  bundle_info info;
  void *module;
  void *functions[MAX_LAUNCHES];
};

/* A kernel that is launched twice is allowed the larger of its two amounts. */
static long long most_shared(const bundle_plan *plan, size_t launch_index) {
  const struct code *code = plan->chosen.code;
  long long most = 0;
  for (size_t i = 0; i < code->launches; i++)
    if (strcmp(code->kernels[i], code->kernels[launch_index]) == 0 && plan->sizes.launches[i].shared > most)
      most = plan->sizes.launches[i].shared;
  return most;
}

static int load(bundle_plan *plan, bundle_error *error) {
  const struct driver *driver = &plan->library->driver;
  const struct code *code = plan->chosen.code;
  int status = CALL(driver, module_load, (&plan->module, images[code->image].data), error);
  for (size_t i = 0; i < code->launches && !status; i++) {
    int shared = (int)most_shared(plan, i);
    status = CALL(driver, module_function, (&plan->functions[i], plan->module, code->kernels[i]), error);
    if (!status && shared)
      status = CALL(driver, function_set, (plan->functions[i], FUNCTION_DYNAMIC_SHARED, shared), error);
    int percent = (int)plan->sizes.launches[i].carveout;
    if (!status && percent >= 0)
      status = CALL(driver, function_set, (plan->functions[i], FUNCTION_CARVEOUT, percent), error);
  }
  return status;
}

int bundle_pick(bundle_library *library, const bundle_problem *problem, bundle_plan **out, bundle_error *error) {
  *out = NULL;
  bundle_plan *plan = calloc(1, sizeof *plan);
  if (!plan) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  plan->library = library;
  int status = choose(&library->device, problem, &plan->sizes, &plan->chosen, error);
  if (!status) describe(&plan->chosen, &plan->info);
  if (!status) status = enter(library, error);
  if (!status) status = leave(library, load(plan, error));
  if (status)
    bundle_drop(plan);
  else
    *out = plan;
  return status;
}

void bundle_drop(bundle_plan *plan) {
  if (!plan) return;
  if (plan->module) {
    int inside = !enter(plan->library, NULL);
    plan->library->driver.module_unload(plan->module);
    if (inside) leave(plan->library, BUNDLE_OK);
  }
  free(plan);
}

const bundle_info *bundle_about(const bundle_plan *plan) {
  return &plan->info;
}

int bundle_argument(const bundle_plan *plan, size_t at, bundle_argument_info *out, bundle_error *error) {
  if (at >= BUNDLE_ARGUMENTS)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: argument %zu: there are %d", at, (int)BUNDLE_ARGUMENTS);
  const struct argument_sizes *a = &plan->sizes.arguments[at];
  memset(out, 0, sizeof *out);
  out->name = arguments_of_kernel[at].name;
  out->kind = arguments_of_kernel[at].kind;
  out->dtype = a->dtype;
  out->rank = a->rank;
  out->bytes = (a->rank ? a->elements : 1) * a->bytes;
  out->compiled_in = !a->passed;
  memcpy(out->shape, a->shape, sizeof out->shape);
  memcpy(out->stride, a->stride, sizeof out->stride);
  return BUNDLE_OK;
}

/* ---- Calls ----------------------------------------------------------------------------------------------------------- */

struct bundle_call {
  bundle_plan *plan;
  union {
    long long align;
    address pointer;
    unsigned char bytes[8];
  } values[MAX_ARGUMENTS];
  void *parameters[MAX_ARGUMENTS + 1];
  struct {
    address device;
    void *host;
  } owned[MAX_ARGUMENTS];
};

static int allocate(const struct driver *driver, bundle_call *call, size_t at, bundle_error *error) {
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  size_t bytes = (size_t)(a->elements * a->bytes);
  enum { PORTABLE = 1, MAPPED = 2, ATTACH_GLOBAL = 1 };
  address *out = &call->owned[at].device;
  void **host = &call->owned[at].host;
  int status;
  if (a->memory == MEMORY_DEVICE) return CALL(driver, allocate, (out, bytes), error);
  if (a->memory == MEMORY_MANAGED) return CALL(driver, allocate_managed, (out, bytes, ATTACH_GLOBAL), error);
  status = CALL(driver, host_allocate, (host, bytes, a->memory == MEMORY_PINNED ? PORTABLE : MAPPED), error);
  if (!status) status = CALL(driver, host_address, (out, *host, 0), error);
  return status;
}

static int find_symbol(bundle_plan *plan, size_t at, size_t bytes, address *symbol, bundle_error *error) {
  const char *name = arguments_of_kernel[at].name;
  size_t room = 0;
  int status = CALL(&plan->library->driver, module_global, (symbol, &room, plan->module, name), error);
  if (!status && room < bytes)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: constant '%s' has %zu bytes, the kernel's symbol %zu", name, bytes,
                room);
  return status;
}

/* Into its symbol, or into memory of the call's. */
static int copy_constant(bundle_call *call, size_t at, const void *from, bundle_error *error) {
  const struct driver *driver = &call->plan->library->driver;
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  size_t bytes = (size_t)(a->elements * a->bytes);
  address to = 0;
  int status = a->copied ? allocate(driver, call, at, error) : find_symbol(call->plan, at, bytes, &to, error);
  if (a->copied) to = call->values[at].pointer = call->owned[at].device;
  if (!status) status = CALL(driver, copy, (to, (address)(uintptr_t)from, bytes, NULL), error);
  return status ? status : CALL(driver, synchronize, (), error);
}

static int bind_scalar(bundle_call *call, size_t at, const void *given, bundle_error *error) {
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  memcpy(call->values[at].bytes, a->value, sizeof a->value);
  if (!given) return BUNDLE_OK;
  if (!a->passed && memcmp(given, a->value, (size_t)a->bytes) != 0)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: scalar '%s' is compiled in and was given another value: pass NULL",
                arguments_of_kernel[at].name);
  memcpy(call->values[at].bytes, given, (size_t)a->bytes);
  return BUNDLE_OK;
}

/* Zeroed: a kernel may count in it from zero, and leaves it so. */
static int own_scratch(bundle_call *call, size_t at, bundle_error *error) {
  const struct driver *driver = &call->plan->library->driver;
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  int status = allocate(driver, call, at, error);
  call->values[at].pointer = call->owned[at].device;
  if (!status)
    status = CALL(driver, fill, (call->owned[at].device, 0, (size_t)(a->elements * a->bytes), NULL), error);
  return status ? status : CALL(driver, synchronize, (), error);
}

static int bind_argument(bundle_call *call, size_t at, void *given, bundle_error *error) {
  bundle_argument_kind kind = arguments_of_kernel[at].kind;
  if (kind == BUNDLE_SCALAR) return bind_scalar(call, at, given, error);
  if (!given && kind == BUNDLE_SCRATCH) return own_scratch(call, at, error);
  if (!given)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: argument '%s' was given no memory", arguments_of_kernel[at].name);
  if ((uintptr_t)given % (uintptr_t)call->plan->sizes.arguments[at].bytes)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: argument '%s' was given %p, which is no multiple of its element's %d bytes",
                arguments_of_kernel[at].name, given, call->plan->sizes.arguments[at].bytes);
  if (kind == BUNDLE_CONSTANT) return copy_constant(call, at, given, error);
  call->values[at].pointer = (address)(uintptr_t)given;
  return BUNDLE_OK;
}

static int bind_all(bundle_call *call, void *const *arguments, bundle_error *error) {
  size_t passed = 0;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++) {
    int status = bind_argument(call, i, arguments[i], error);
    if (status) return status;
    const struct argument_sizes *a = &call->plan->sizes.arguments[i];
    if (a->passed && (arguments_of_kernel[i].kind != BUNDLE_CONSTANT || a->copied))
      call->parameters[passed++] = call->values[i].bytes;
  }
  return BUNDLE_OK;
}

int bundle_bind(bundle_plan *plan, void *const *arguments, size_t count, bundle_call **out, bundle_error *error) {
  *out = NULL;
  if (count != BUNDLE_ARGUMENTS)
    return fail(error, BUNDLE_ERROR_USAGE, "@name takes %d arguments (@arguments) and was given %zu",
                (int)BUNDLE_ARGUMENTS, count);
  bundle_call *call = calloc(1, sizeof *call);
  if (!call) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  call->plan = plan;
  int status = enter(plan->library, error);
  if (!status) status = leave(plan->library, bind_all(call, arguments, error));
  if (status)
    bundle_release(call);
  else
    *out = call;
  return status;
}

int bundle_launch(const bundle_call *call, void *stream, bundle_error *error) {
  const bundle_plan *plan = call->plan;
  const struct driver *driver = &plan->library->driver;
  for (size_t i = 0; i < plan->chosen.code->launches; i++) {
    const struct launch_sizes *l = &plan->sizes.launches[i];
    int result = driver->launch(plan->functions[i], (unsigned)l->grid[0], (unsigned)l->grid[1], (unsigned)l->grid[2],
                                (unsigned)l->block[0], (unsigned)l->block[1], (unsigned)l->block[2],
                                (unsigned)l->shared, stream, (void **)(uintptr_t)call->parameters, NULL);
    if (result) return check(driver, result, symbols[DRIVER_launch], error);
  }
  return BUNDLE_OK;
}

void bundle_release(bundle_call *call) {
  if (!call) return;
  const bundle_library *l = call->plan->library;
  int inside = !enter(l, NULL);
  for (size_t i = 0; i < MAX_ARGUMENTS; i++)
    if (call->owned[i].host)
      l->driver.host_free(call->owned[i].host);
    else if (call->owned[i].device)
      l->driver.free(call->owned[i].device);
  if (inside) leave(l, BUNDLE_OK);
  free(call);
}
