/* Uses the bundle over the fake driver: checks what is launched, and lets every call of the
   driver fail once. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fake_cuda.h"
#include "rows.h"

static struct fake_cuda *fake;
static struct fake_launch seen;
static float scale;
static int32_t m, n;
static void *x_seen, *partial_seen;
static struct fake_tensor map;

/* The factors are in a symbol of the kernel, or are a parameter. */
#ifdef BY_ADDRESS
enum { AFTER = 4 };
#else
enum { AFTER = 3 };
#endif
static double factors_seen[4] = {1, 2, 3, 4};
#ifdef BY_SYMBOL
static double *in_symbol; /* address of the symbol in the plan that was picked last */
#endif

/* The kernel's parameters: x, y, partial, (factors,) M, N, scale. */
static void watch(const struct fake_launch *launch) {
  const void *copy;
  seen = *launch;
  memcpy(&copy, launch->parameters[3], sizeof copy);
  if (AFTER == 4) memcpy(factors_seen, copy, sizeof factors_seen);
#ifdef BY_SYMBOL
  memcpy(factors_seen, in_symbol, sizeof factors_seen);
  for (int i = 0; i < 4; i++) in_symbol[i] += 10;
#endif
  memcpy(&x_seen, launch->parameters[0], sizeof x_seen);
#ifdef BY_MAP
  memcpy(&map, launch->parameters[0], sizeof map);
#endif
  memcpy(&partial_seen, launch->parameters[2], sizeof partial_seen);
  memcpy(&m, launch->parameters[AFTER], sizeof m);
  memcpy(&n, launch->parameters[AFTER + 1], sizeof n);
  memcpy(&scale, launch->parameters[AFTER + 2], sizeof scale);
}

#ifdef BY_STEPS
enum { LAUNCHES = 3 };
/* The parameters of each launch: input, output, M, scale, N. */
static struct step {
  unsigned grid, block;
  void *in, *out;
  int32_t m, n;
  float scale;
} steps[LAUNCHES];
static size_t step_count;

static void watch_step(const struct fake_launch *launch) {
  struct step *s = &steps[step_count++ % LAUNCHES];
  s->grid = launch->grid[0], s->block = launch->block[0];
  memcpy(&s->in, launch->parameters[0], sizeof s->in);
  memcpy(&s->out, launch->parameters[1], sizeof s->out);
  memcpy(&s->m, launch->parameters[2], sizeof s->m);
  memcpy(&s->scale, launch->parameters[3], sizeof s->scale);
  memcpy(&s->n, launch->parameters[4], sizeof s->n);
}
#elif defined BY_STRUCT
/* and to copy before: a context pushed, a copy, the context popped, and once more for none after */
enum { LAUNCHES = 6 };

static struct { /* the struct of the config */
  float scale;
  void *y;
  int64_t pitch;
  void *partial;
} given;
static void **factors_at, *factors_found; /* the variable of the plan that was picked last */

/* x, M, N, p. */
static void watch_struct(const struct fake_launch *launch) {
  memcpy(&x_seen, launch->parameters[0], sizeof x_seen);
  memcpy(&n, launch->parameters[2], sizeof n);
  memcpy(&given, launch->parameters[3], sizeof given);
  factors_found = *factors_at;
}
#elif defined BY_SYMBOL
/* With copies before and after: a context is pushed, a copy made, the context popped. */
enum { LAUNCHES = 7 };
#else
enum { LAUNCHES = 1 };
#endif

_Alignas(16) static float x[16];
static float y[16];
static double factors[4] = {1, 2, 3, 4};
static int stream;

static long long rows_of_problem = 500;

static unsigned overwrites; /* bit i: the plan may overwrite argument i */

static unsigned overwrites_of(const rows_plan *plan) {
  unsigned bits = 0;
  for (size_t i = 0; i < ROWS_ARGUMENTS; i++) {
    rows_argument_info info;
    if (rows_argument(plan, i, &info, NULL) == ROWS_OK && info.overwrite) bits |= 1u << i;
  }
  return bits;
}

static int use(rows_error *error) {
  rows_problem problem = ROWS_PROBLEM_INIT;
  rows_library *library;
  rows_plan *plan = NULL;
  rows_call *call = NULL;
  void *arguments[] = {x, y, NULL, factors, NULL, NULL, NULL};
  problem.M = rows_of_problem, problem.N = 1000;
#ifdef OVERWRITES
  problem.M = problem.N = 700, problem.specialize = 1;
#endif
  int status = rows_open(NULL, &library, error);
  if (!status) status = rows_pick(library, &problem, &plan, error);
  if (!status) overwrites = overwrites_of(plan);
  if (!status) status = rows_bind(plan, arguments, ROWS_ARGUMENTS, &call, error);
#ifdef BY_SYMBOL
  size_t bytes = 0;
  void *found = NULL;
  if (!status) status = rows_symbol(plan, "factors", &found, &bytes, error);
  if (!status && bytes != sizeof factors) status = 98;
  in_symbol = found;
  if (!status) status = rows_symbol(plan, "factors", &found, NULL, error);
  if (!status) status = rows_symbol(plan, "factors", NULL, &bytes, error);
  if (!status) status = rows_symbol(plan, "factors", NULL, NULL, error);
  if (!status && (found != in_symbol || bytes != sizeof factors)) status = 97;
#endif
#ifdef BY_STRUCT
  void *variable = NULL;
  if (!status) status = rows_symbol(plan, "factors", &variable, NULL, error);
  factors_at = variable;
#endif
  long before = fake->calls;
  if (!status) status = rows_launch(call, &stream, error);
  if (!status && fake->calls != before + LAUNCHES) status = 99;
  rows_release(call);
  rows_drop(plan);
  rows_close(library);
  return status;
}

static int refuses(void *at, const char *message, rows_error *error) {
  rows_problem problem = ROWS_PROBLEM_INIT;
  rows_library *library;
  rows_plan *plan = NULL;
  rows_call *call = NULL;
  void *arguments[] = {at, y, NULL, factors, NULL, NULL, NULL};
  problem.M = rows_of_problem, problem.N = 1000;
  int status = rows_open(NULL, &library, error);
  if (!status) status = rows_pick(library, &problem, &plan, error);
  if (!status) status = rows_bind(plan, arguments, ROWS_ARGUMENTS, &call, error);
  rows_drop(plan);
  rows_close(library);
  return status == ROWS_ERROR_USAGE && strstr(error->message, message) && !call;
}

#define EXPECT(what)                                                                               \
  if (!(what)) return printf("line %d: not so: %s\n", __LINE__, #what), 1

#if !defined BY_STEPS && !defined BY_MAP && !defined BY_SYMBOL && !defined OVERWRITES
/* NULL is an error, as in cugen.h's functions; a size that no code serves is named. */
static int drive_refusals(rows_error *error) {
  rows_problem problem = ROWS_PROBLEM_INIT;
  rows_library *library;
  rows_plan *plan;
  rows_call *call;
  rows_info info;
  EXPECT(!rows_open(NULL, &library, error));
  EXPECT(rows_open(NULL, NULL, error) == ROWS_ERROR_USAGE);
  EXPECT(rows_pick(NULL, &problem, &plan, error) == ROWS_ERROR_USAGE && !plan);
  EXPECT(!strcmp(error->message, "rows_pick: library is NULL"));
  EXPECT(rows_pick(library, NULL, &plan, error) == ROWS_ERROR_USAGE &&
         strstr(error->message, "problem is NULL"));
  EXPECT(rows_pick(library, &problem, NULL, error) == ROWS_ERROR_USAGE &&
         strstr(error->message, "out is NULL"));
  EXPECT(rows_choose(NULL, &problem, &info, error) == ROWS_ERROR_USAGE &&
         strstr(error->message, "device is NULL"));
  EXPECT(rows_bind(NULL, NULL, ROWS_ARGUMENTS, &call, error) == ROWS_ERROR_USAGE && !call);
  EXPECT(rows_launch(NULL, NULL, error) == ROWS_ERROR_USAGE &&
         strstr(error->message, "call is NULL"));
  EXPECT(!rows_about(NULL) && !rows_about_device(NULL));
  static const long long sizes[] = {0, -3, 1LL << 62};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    problem.M = sizes[i], problem.N = 1000;
    EXPECT(rows_pick(library, &problem, &plan, error) == ROWS_ERROR_USAGE);
    EXPECT(strstr(error->message, "this bundle has no code for these sizes"));
  }
  rows_close(library);
  return 0;
}
#endif

#ifdef BY_MAP
/* The variant "mapped box=32": 500 lines of 1000 floats in two parts. */
static int drive_mapped(rows_error *error) {
  static const struct fake_tensor want = {
      .shape = {1000, 250, 2}, .stride = {4000, 1000000}, .box = {32, 8, 1}};
  enum { FLOATS = 7, SWIZZLE_128 = 3 };
  if (use(error)) return printf("%s\n", error->message), 1;
  EXPECT(seen.early && seen.grid[0] == 63 && seen.grid[1] == 1 && seen.block[0] == 128 &&
         seen.stream == &stream);
  EXPECT(map.address == x && map.rank == 3 && map.type == FLOATS && map.swizzle == SWIZZLE_128);
  EXPECT(!memcmp(map.shape, want.shape, sizeof want.shape) &&
         !memcmp(map.stride, want.stride, sizeof want.stride));
  EXPECT(!memcmp(map.box, want.box, sizeof want.box));
  EXPECT(refuses(x + 1, "argument 'x' is reached through a tensor map", error));
  fake->calls = 0, fake->fail_at = 1, fake->fail_only = "cuTensorMapEncodeTiled",
  fake->fail_with = 1;
  EXPECT(use(error) == ROWS_ERROR_DEVICE && strstr(error->message, "cuTensorMapEncodeTiled"));
  EXPECT(fake->contexts + fake->current + fake->images + fake->memory == 0);
  return 0;
}
#endif

#ifdef BY_SYMBOL
/* The kernel finds the buffer's contents in its variable, and what it leaves there is copied to
   the buffer. Without a buffer the data stays in the variable. */
static int drive_symbol(rows_error *error) {
  static const double want[] = {11, 12, 13, 14};
  int status = use(error);
  if (status) return printf("%d: %s\n", status, error->message), 1;
  EXPECT(factors_seen[0] == 1 && factors_seen[3] == 4 && !memcmp(factors, want, sizeof want));
  EXPECT(m == 500 && n == 1000 && x_seen == x);
  fake->fail_only = "cuMemcpyAsync", fake->fail_with = 2;
  for (long at = 1; at <= 2; at++) {
    fake->calls = 0, fake->fail_at = at;
    EXPECT(use(error) == ROWS_ERROR_DEVICE && strstr(error->message, "cuMemcpyAsync"));
  }
  EXPECT(fake->contexts + fake->current + fake->images + fake->memory == 0);
  return 0;
}
#endif

#ifdef BY_STRUCT
/* Addresses of y and of the call's own scratch are in the struct, that of the factors in a
   variable. */
static int drive_struct(rows_error *error) {
  int status = use(error);
  if (status) return printf("%d: %s\n", status, error->message), 1;
  EXPECT(x_seen == x && n == 1000 && given.scale == (float)(1.0 / 1000));
  EXPECT(given.y == y && given.pitch == 1008 && given.partial && given.partial != x);
  EXPECT(factors_found == factors);
  EXPECT(fake->contexts + fake->current + fake->images + fake->memory == 0);
  fake->fail_only = "cuMemAlloc_v2", fake->fail_with = 2;
  for (long at = 1; at <= 2; at++) { /* the scratch, and where the variable's address is kept */
    fake->calls = 0, fake->fail_at = at;
    EXPECT(use(error) == ROWS_ERROR_DEVICE && strstr(error->message, "cuMemAlloc_v2"));
    EXPECT(fake->contexts + fake->current + fake->images + fake->memory == 0);
  }
  return 0;
}
#endif

#ifdef BY_STEPS
/* The variant "stepped width=8": M rows become M / 8, then M / 64, then one. */
static int drive_steps(long long rows, rows_error *error) {
  const unsigned first = (unsigned)(rows + 7) / 8, second = (unsigned)(rows + 63) / 64;
  rows_of_problem = rows;
  step_count = 0;
  if (use(error)) return printf("%s\n", error->message), 1;
  EXPECT(step_count == LAUNCHES);
  EXPECT(steps[0].grid == first && steps[1].grid == second && steps[2].grid == 1);
  EXPECT(steps[0].block == 32 && steps[1].block == 64 && steps[2].block == 96);
  EXPECT(steps[0].in == x && steps[0].out == steps[1].in && steps[1].out == steps[2].in &&
         steps[2].out == y);
  EXPECT(steps[0].m == rows && steps[1].m == (int32_t)first && steps[2].m == (int32_t)second);
  for (int i = 0; i < LAUNCHES; i++)
    EXPECT(steps[i].n == 1000 && steps[i].scale == (float)(1.0 / (1000 + i)));
  EXPECT(fake->contexts + fake->current + fake->images + fake->memory == 0);
  return 0;
}
#endif

int main(void) {
  rows_error error = {0, ""};
  void *handle = dlopen("libcuda.so.1", RTLD_NOW);
  fake = handle ? dlsym(handle, "fake_cuda") : NULL;
  if (!fake) return printf("no fake driver\n"), 1;
  fake->run = watch;
#ifdef BY_STEPS
  fake->run = watch_step;
  return drive_steps(500, &error) || drive_steps(300, &error);
#endif
#ifdef BY_MAP
  return drive_mapped(&error);
#endif
#ifdef BY_STRUCT
  fake->run = watch_struct;
  return drive_struct(&error);
#endif
#ifdef BY_SYMBOL
  return drive_symbol(&error);
#endif
#ifdef OVERWRITES
  fake->run = NULL; /* because sizes are compiled in */
  if (use(&error)) return printf("%s\n", error.message), 1;
  EXPECT(overwrites == 1);
  return 0;
#endif
  /* an address between two elements */
  EXPECT(refuses((char *)x + 1, "argument 'x' was given 0x", &error));
  if (use(&error)) return printf("%s\n", error.message), 1;
  /* wide vec=4 threads=128, as in the records that the test stores */
  EXPECT(seen.grid[0] == 4 && seen.grid[1] == 8 && seen.grid[2] == 1);
  EXPECT(seen.block[0] == 128 && seen.block[1] == 1 && seen.shared == 1024 &&
         seen.stream == &stream);
  EXPECT(fake->allowed_shared == 1024 && fake->carveout == 40);
  EXPECT(m == 500 && n == 1000 && scale == 1.0f / 1000 && x_seen == x && partial_seen);
  EXPECT(memcmp(factors_seen, factors, sizeof factors) == 0);
  EXPECT(overwrites == 0);
  EXPECT(fake->contexts + fake->current + fake->images + fake->memory == 0);
#if !defined BY_STEPS && !defined BY_MAP && !defined BY_SYMBOL && !defined OVERWRITES
  if (drive_refusals(&error)) return 1;
#endif
  long failures = 0, at = 1;
  for (;; at++) {
    fake->calls = 0, fake->failed_call = NULL, fake->fail_at = at, fake->fail_with = 2;
    error.status = 0;
    int status = use(&error);
    EXPECT(fake->contexts + fake->current + fake->images + fake->memory == 0);
    if (!fake->failed_call) break;
    fake->current = 0;
    EXPECT(status != 99);
    if (status) EXPECT(error.status == status && strstr(error.message, fake->failed_call));
    failures += status != 0;
  }
  EXPECT(failures >= 15);
  printf("%ld of %ld calls fail it\n", failures, at - 1);
  return 0;
}
