/* The scheduler and the shim together: the kernels of this folder, compiled with each C++
   compiler of this machine and run as fibers, give what a plain loop gives. A kernel that ends
   its process does so with the right message, which is tested in child processes. */

#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"
#include "emulator/compile.h"
#include "emulator/fibers.h"
#include "tests/testing.h"

/* ---- Modules: a .cu file of this folder and the kernels wanted from it ---------------------- */

static const char *const compilers[] = {"g++", "clang++"};
enum { COMPILERS = sizeof compilers / sizeof *compilers, MAX_ENTRIES = 4 };

extern const char cpu_shim_text[]; /* embedded by the build */
extern const size_t cpu_shim_length;

struct fixture {
  struct text compiler; /* path of the compiler; empty: this machine does not have it */
  struct text folder;
  struct fibers *fibers;
};

struct module {
  void *library;
  struct cpu_builtins *builtins;
  void (*entries[MAX_ENTRIES])(void **parameters);
};

static void read_into(const char *path, struct text *out) {
  WORKS(file_read(path, out, &err));
}

static void write_unit(const struct fixture *fixture, const char *name,
                       const char *const *kernels) {
  FREED(text) unit = {0}, path = {0}, source = {0};
  text_add(&unit, "#define CUGEN_SMALL_FLOATS 1\n#define CUGEN_ATOMICS 1\n#define CUGEN_WARP "
                  "1\n#define CUGEN_TEXTURES 1\n");
  text_add_n(&unit, cpu_shim_text, cpu_shim_length);
  text_addf(&path, "tests/cpu/%s.cu", name);
  read_into(text_get(&path), &source);
  text_addf(&unit, "\n#line 1 \"%s.cu\"\n", name);
  cpu_translate(text_get(&source), &unit);
  for (int i = 0; kernels[i]; ++i) text_addf(&unit, "\nCUGEN_ENTRY(%d, %s)\n", i, kernels[i]);
  text_clear(&path);
  text_addf(&path, "%s/unit.cpp", text_get(&fixture->folder));
  WORKS(file_write(text_get(&path), text_get(&unit), unit.length, &err));
}

static void compile(const struct fixture *fixture, const char *library) {
  FREED(text) output = {0};
  const char *unit = formed("%s/unit.cpp", text_get(&fixture->folder));
  const char *const argv[] = {text_get(&fixture->compiler),
                              "-std=c++17",
                              "-O2",
                              "-march=native",
                              "-fPIC",
                              "-shared",
                              "-Wall",
                              "-Werror",
                              "-Wno-unused-function",
                              "-Wno-sign-compare",
                              "-Wno-attributes",
                              "-Wno-unknown-pragmas",
                              "-fno-strict-aliasing",
                              "-fno-semantic-interposition",
                              "-fno-exceptions",
                              "-fno-rtti",
                              "-fvisibility=hidden",
                              formed("-I%s", text_get(&fixture->folder)),
                              unit,
                              "-o",
                              library,
                              NULL};
  int exit_code = 0;
  WORKS(process_run(argv, 120, &output, &exit_code, &err));
  if (exit_code) fail_msg("%s", text_get(&output));
}

static void *symbol(const struct module *module, const char *name) {
  void *at = dlsym(module->library, name);
  if (!at) fail_msg("%s", dlerror());
  return at;
}

/* kernels: up to MAX_ENTRIES names; NULL ends them. */
static struct module load(const struct fixture *fixture, const char *name,
                          const char *const *kernels) {
  FREED(text) path = {0};
  /* Never uses a path twice, because the loader would return the object that it has loaded. */
  for (int i = 0; !path.length || file_exists(text_get(&path)); ++i) {
    text_clear(&path);
    text_addf(&path, "%s/%s-%d.so", text_get(&fixture->folder), name, i);
  }
  write_unit(fixture, name, kernels);
  compile(fixture, text_get(&path));
  struct module module = {.library = dlopen(text_get(&path), RTLD_NOW | RTLD_LOCAL)};
  if (!module.library) fail_msg("%s", dlerror());
  module.builtins = symbol(&module, "cugen_builtins");
  *(const struct cpu_hooks **)symbol(&module, "cugen_hooks") = fibers_hooks();
  for (int i = 0; kernels[i]; ++i) {
    char entry[32];
    snprintf(entry, sizeof entry, "cugen_entry_%d", i);
    void *at = symbol(&module, entry);
    memcpy(&module.entries[i], &at, sizeof at);
  }
  return module;
}

#define KERNELS(...)    ((const char *const[]){__VA_ARGS__, NULL})
#define PARAMETERS(...) ((void *[]){__VA_ARGS__})

static void launch(const struct fixture *fixture, const struct module *module, int entry,
                   struct cpu_dim3 grid, struct cpu_dim3 block, void **parameters) {
  static _Alignas(16) char shared[64 << 10];
  const struct fiber_launch launch = {.entry = module->entries[entry],
                                      .parameters = parameters,
                                      .builtins = module->builtins,
                                      .grid = grid,
                                      .block = block,
                                      .dynamic_shared = shared};
  WORKS(fibers_run(fixture->fibers, &launch, &err));
}

static struct cpu_dim3 dim(unsigned x, unsigned y) {
  return (struct cpu_dim3){x, y, 1};
}

/* ---- Fixtures ------------------------------------------------------------------------------- */

/* Writes headers that the shim replaces. */
static void write_headers(const struct fixture *fixture) {
  static const char *const names[] = {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h",
                                      "math_constants.h", "assert.h"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    WORKS(file_write(formed("%s/%s", text_get(&fixture->folder), names[i]), "", 0, &err));
  }
}

static int set_up(void **state, const char *compiler) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  cugen_error err;
  if (!fixture) return -1;
  if (!path_find_program(compiler, &fixture->compiler)) text_clear(&fixture->compiler);
  if (folder_temporary(&fixture->folder, &err) || fibers_open(&fixture->fibers, &err)) return -1;
  write_headers(fixture);
  *state = fixture;
  return 0;
}

static int set_up_gcc(void **state) {
  return set_up(state, compilers[0]);
}

static int set_up_clang(void **state) {
  return set_up(state, compilers[1]);
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  fibers_close(fixture->fibers);
  int status = folder_remove(text_get(&fixture->folder));
  text_free(&fixture->folder);
  text_free(&fixture->compiler);
  free(fixture);
  return status;
}

static const struct fixture *begin(void **state) {
  const struct fixture *fixture = *state;
  if (!fixture->compiler.length) {
    print_message("skipped: no C++ compiler here\n");
    skip();
  }
  return fixture;
}

/* ---- Kernels that come out right ------------------------------------------------------------ */

enum { M = 128, N = 192, K = 40 };

struct matrices {
  float a[M * K], b[K * N], c[M * N];
};

static struct matrices *new_matrices(void) {
  struct matrices *m = malloc(sizeof *m);
  assert_non_null(m);
  for (int i = 0; i < M * K; ++i) m->a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; ++i) m->b[i] = (float)(i % 11 - 5);
  for (int i = 0; i < M * N; ++i) m->c[i] = NAN;
  return m;
}

/* The numbers are small integers, so that sums are exact. */
static void check_product(const struct matrices *m) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float want = 0;
      for (int k = 0; k < K; ++k) want += m->a[i * K + k] * m->b[k * N + j];
      assert_true(m->c[i * N + j] == want);
    }
  }
}

static void multiply(void **state, const char *name, struct cpu_dim3 grid, struct cpu_dim3 block) {
  const struct fixture *fixture = begin(state);
  const struct module module = load(fixture, name, KERNELS("matmul"));
  struct matrices *m = new_matrices();
  float *a = m->a, *b = m->b, *c = m->c;
  int rows = M, cols = N, depth = K;
  launch(fixture, &module, 0, grid, block, PARAMETERS(&a, &b, &c, &rows, &cols, &depth));
  check_product(m);
  free(m);
  dlclose(module.library);
}

static void naive(void **state) {
  multiply(state, "naive", dim((N + 28) / 29, M / 2), dim(29, 2));
}

static void tiled(void **state) {
  multiply(state, "tiled", dim(N / 16, M / 16), dim(16, 16));
}

static void blocked(void **state) {
  multiply(state, "blocked", dim(N / 64, M / 64), dim(256, 1));
}

static void transpose(void **state) {
  enum { ROWS = 70, COLS = 101 };
  static float in[ROWS * COLS], out[COLS * ROWS];
  const struct fixture *fixture = begin(state);
  const struct module module = load(fixture, "transpose", KERNELS("transpose"));
  for (int i = 0; i < ROWS * COLS; ++i) in[i] = (float)i;
  float *to = out, *from = in;
  int rows = ROWS, cols = COLS;
  launch(fixture, &module, 0, dim((COLS + 31) / 32, (ROWS + 31) / 32), dim(32, 8),
         PARAMETERS(&to, &from, &rows, &cols));
  for (int i = 0; i < ROWS * COLS; ++i) assert_true(out[i % COLS * ROWS + i / COLS] == in[i]);
  dlclose(module.library);
}

enum { BLOCKS = 3, THREADS = 64 };
static int numbers[BLOCKS * 1024];

static long long sum_of(int block, int threads, int count) {
  long long sum = 0;
  for (int i = 0; i < count; ++i) sum += numbers[block * threads + i];
  return sum;
}

static void reduce(void **state) {
  const struct fixture *fixture = begin(state);
  const struct module module =
      load(fixture, "reduce",
           KERNELS("by_barriers<64>", "by_shuffles<unsigned long long, 32>",
                   "by_shuffles<float, 8>", "by_votes"));
  for (int i = 0; i < BLOCKS * 1024; ++i) numbers[i] = i * 7 % 1001;
  int *in = numbers;
  long long sums[BLOCKS], *to = sums;
  launch(fixture, &module, 0, dim(BLOCKS, 1), dim(THREADS, 1), PARAMETERS(&to, &in));
  for (int b = 0; b < BLOCKS; ++b) assert_int_equal(sums[b], sum_of(b, THREADS, THREADS));
  static const int counts[] = {1024, 1000, 33, 32, 1};
  for (int i = 0; i < 5; ++i) {
    int n = counts[i];
    launch(fixture, &module, 1, dim(BLOCKS, 1), dim(1024, 1), PARAMETERS(&to, &in, &n));
    for (int b = 0; b < BLOCKS; ++b) assert_int_equal(sums[b], sum_of(b, 1024, n));
    float reals[BLOCKS], *to_reals = reals;
    launch(fixture, &module, 2, dim(BLOCKS, 1), dim(1024, 1), PARAMETERS(&to_reals, &in, &n));
    for (int b = 0; b < BLOCKS; ++b) assert_true(reals[b] == (float)sum_of(b, 1024, n));
  }
  dlclose(module.library);
}

static void votes(void **state) {
  const struct fixture *fixture = begin(state);
  const struct module module = load(fixture, "reduce", KERNELS("by_votes"));
  enum { WIDTH = 100 };
  int in[3 * WIDTH], counts[3][4] = {{0}}, *to = counts[0], *from = in;
  for (int i = 0; i < WIDTH; ++i) in[i] = i % 3, in[WIDTH + i] = 1, in[2 * WIDTH + i] = 2;
  launch(fixture, &module, 0, dim(3, 1), dim(WIDTH, 1), PARAMETERS(&to, &from));
  static const int wanted[3][4] = {{33, 0, 1, 33}, {WIDTH, 1, 1, WIDTH}, {0, 0, 0, 0}};
  assert_memory_equal(counts, wanted, sizeof counts);
  dlclose(module.library);
}

static void convolve(const struct fixture *fixture, const struct module *module) {
  float *filter = symbol(module, "filter"), in[200], out[200], *to = out, *from = in;
  for (int i = 0; i < 25; ++i) filter[i] = (float)(i - 12);
  for (int i = 0; i < 200; ++i) in[i] = (float)(i % 13);
  int n = 200;
  launch(fixture, module, 0, dim(7, 1), dim(32, 1), PARAMETERS(&to, &from, &n));
  for (int i = 0; i < n; ++i) {
    float want = 0;
    for (int k = 0; k < 25 && i + k < n; ++k) want += filter[k] * in[i + k];
    assert_true(out[i] == want);
  }
}

/* Uses all of a block's dynamic shared memory, more than the 48 KB that a GPU gives without
   opt-in. */
static void reverse(const struct fixture *fixture, const struct module *module) {
  enum { COUNT = (64 << 10) / sizeof(int) };
  static int in[COUNT], out[COUNT];
  for (int i = 0; i < COUNT; ++i) in[i] = i * i;
  int *to = out, *from = in, n = COUNT;
  launch(fixture, module, 1, dim(2, 1), dim(96, 1), PARAMETERS(&to, &from, &n));
  for (int i = 0; i < COUNT; ++i) assert_int_equal(out[i], in[COUNT - 1 - i]);
}

static void histogram(const struct fixture *fixture, const struct module *module) {
  enum { COUNT = 10000 };
  static unsigned char in[COUNT];
  unsigned bins[256] = {0}, wanted[256] = {0}, *to = bins;
  unsigned char *from = in;
  double total = 0, wanted_total = 0, *to_total = &total;
  for (int i = 0; i < COUNT; ++i) {
    in[i] = (unsigned char)(i * i % 251);
    wanted[in[i]]++;
    wanted_total += in[i];
  }
  int n = COUNT;
  launch(fixture, module, 2, dim(5, 1), dim(128, 1), PARAMETERS(&to, &from, &n, &to_total));
  assert_memory_equal(bins, wanted, sizeof bins);
  assert_true(total == wanted_total);
  assert_int_equal(*(unsigned *)symbol(module, "tickets"), 5);
  assert_non_null(symbol(module, "large"));
}

static void memory(void **state) {
  const struct fixture *fixture = begin(state);
  const struct module module = load(fixture, "memory", KERNELS("convolve", "reverse", "histogram"));
  convolve(fixture, &module);
  reverse(fixture, &module);
  histogram(fixture, &module);
  dlclose(module.library);
}

/* A loaded object has __shared__ arrays of its own and is unloaded when it is closed. A
   template's static variables could easily be shared by the whole process instead. */
static void two_objects(void **state) {
  const struct fixture *fixture = begin(state);
  const struct module one = load(fixture, "reduce", KERNELS("by_barriers<64>"));
  const struct module two = load(fixture, "reduce", KERNELS("by_barriers<64>"));
  for (int i = 0; i < BLOCKS * THREADS; ++i) numbers[i] = i;
  for (int turn = 0; turn < 2; ++turn) {
    long long sums[BLOCKS], *to = sums;
    int *in = numbers;
    launch(fixture, turn ? &one : &two, 0, dim(BLOCKS, 1), dim(THREADS, 1), PARAMETERS(&to, &in));
    for (int b = 0; b < BLOCKS; ++b) assert_int_equal(sums[b], sum_of(b, THREADS, THREADS));
  }
  const char *path = formed("%s/reduce-0.so", text_get(&fixture->folder));
  for (int turn = 0; turn < 2; ++turn) {
    void *still = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    assert_int_equal(still != NULL, turn == 0);
    if (still) dlclose(still);
    if (still) dlclose(one.library);
  }
  dlclose(two.library);
}

struct who {
  struct cpu_dim3 thread, block;
  unsigned lane, mask;
};

static void where(void **state) {
  const struct fixture *fixture = begin(state);
  const struct module module = load(fixture, "where", KERNELS("where"));
  const struct cpu_dim3 grid = {3, 2, 2}, block = {5, 3, 3};
  enum { THREADS_IN_ALL = 12 * 45 };
  static struct who all[THREADS_IN_ALL], *to = all;
  launch(fixture, &module, 0, grid, block, PARAMETERS(&to));
  for (unsigned i = 0; i < THREADS_IN_ALL; ++i) {
    const unsigned b = i / 45, t = i % 45;
    const struct who want = {{t % 5, t / 5 % 3, t / 15}, {b % 3, b / 3 % 2, b / 6}, t / 32 * 32, 0};
    assert_memory_equal(&all[i], &want, offsetof(struct who, mask));
    /* Which other lanes are in the mask depends on the order of the threads; the lane itself
       always is. */
    assert_true(all[i].mask >> t % 32 & 1);
  }
  dlclose(module.library);
}

static void intrinsics(void **state) {
  const struct fixture *fixture = begin(state);
  const struct module module = load(fixture, "intrinsics", KERNELS("intrinsics"));
  int wrong[2] = {0, -1}, *to = wrong;
  launch(fixture, &module, 0, dim(1, 1), dim(64, 1), PARAMETERS(&to));
  if (wrong[0]) fail_msg("intrinsics.cu:%d does not hold", wrong[0]);
  assert_int_equal(wrong[1], 0);
  dlclose(module.library);
}

/* ---- Kernels that end their process --------------------------------------------------------- */

static int fault_pipe;

static void report(cugen_cause cause, const char *text) {
  char whole[600];
  snprintf(whole, sizeof whole, "%s%s", cause_prefix(cause), text);
  ssize_t wrote = write(fault_pipe, whole, strlen(whole));
  _exit(wrote > 0 ? 3 : 4);
}

static void segfault(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  char text[200], place[100];
  fibers_where(place, sizeof place);
  snprintf(text, sizeof text, "%s in %s",
           fibers_owns_guard(info->si_addr) ? "stack overflow" : "bad address", place);
  report(CUGEN_CAUSE_NONE, text);
}

static void catch_segfaults(void) {
  static char stack[64 << 10];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = segfault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&alternate, NULL);
  sigaction(SIGSEGV, &action, NULL);
}

static void fault_in_child(const struct fixture *fixture, const struct module *module, int which) {
  int zeros[2] = {0}, *sink = zeros;
  fibers_on_fault(report);
  catch_segfaults();
  launch(fixture, module, 0, dim(2, 1), dim(48, 1), PARAMETERS(&which, &sink));
  _exit(0);
}

static void check_fault(const struct fixture *fixture, const struct module *module, int which,
                        const char *want) {
  int ends[2], status = 0;
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    fault_pipe = ends[1];
    fault_in_child(fixture, module, which);
  }
  close(ends[1]);
  char got[600] = "";
  size_t length = 0;
  for (ssize_t n; (n = read(ends[0], got + length, sizeof got - 1 - length)) > 0;)
    length += (size_t)n;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_string_equal(got, want);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void faults(void **state) {
  const struct fixture *fixture = begin(state);
  const struct module module = load(fixture, "faults", KERNELS("fault"));
  static const char *const wanted[] = {
      "trap: faults.cu:16: __trap() was called in block (0,0,0) thread (5,0,0)",
      "deadlock: in block (0,0,0) thread (16,0,0) waits at a warp operation with mask 0xffffffff, "
      "and lanes "
      "0x0000ffff "
      "of its warp never come; 16 of the block's 32 live threads wait at a barrier",
      "trap: faults.cu:25: assertion failed: lane < 7 && \"a lane\" in block (0,0,0) thread "
      "(7,0,0)",
      "trap: a warp operation whose mask does not name the calling lane in block (0,0,0) thread "
      "(0,0,0)",
      "deadlock: in block (0,0,0) thread (0,0,0) waits at a warp operation with mask 0xffffffff, "
      "and the other lanes "
      "of "
      "its warp wait at another operation or with another mask; 0 of the block's 32 live threads "
      "wait at a barrier",
      "stack overflow in block (0,0,0) thread (0,0,0)",
  };
  for (int i = 0; i < 6; ++i) check_fault(fixture, &module, i, wanted[i]);
  dlclose(module.library);
}

/* ---- The scheduler alone, with an entry in C ------------------------------------------------ */

static struct cpu_builtins builtins;
static unsigned order[4096], order_count;

static void note_entry(void **parameters) {
  (void)parameters;
  order[order_count++] = builtins.linear;
}

static void wait_entry(void **parameters) {
  note_entry(parameters);
  const int count = fibers_hooks()->barrier(CPU_BARRIER_COUNT, builtins.linear < 3);
  if (count != 3) order[0] = 77;
  note_entry(parameters);
}

static int run(const struct fixture *fixture, void (*entry)(void **), unsigned grid, unsigned block,
               cugen_error *err) {
  const struct fiber_launch launch = {
      .entry = entry, .builtins = &builtins, .grid = {grid, 1, 1}, .block = {block, 1, 1}};
  order_count = 0;
  return fibers_run(fixture->fibers, &launch, err);
}

static void shapes(void **state) {
  FAILS(run(*state, note_entry, 0, 32, &err), CUGEN_ERROR_DEVICE);
  FAILS(run(*state, note_entry, 1, 1025, &err), CUGEN_ERROR_DEVICE, "1025x1x1");
  WORKS(run(*state, note_entry, 2, 1024, &err));
  assert_int_equal(order_count, 2048);
  for (unsigned i = 0; i < order_count; ++i) assert_int_equal(order[i], i % 1024);
}

/* The stacks of one launch serve later launches of larger and smaller blocks. */
static void launches(void **state) {
  static const unsigned blocks[] = {4, 33, 7, 1024, 3, 64};
  for (int i = 0; i < 6; ++i) {
    const unsigned block = blocks[i];
    WORKS(run(*state, wait_entry, 2, block, &err));
    assert_int_equal(order_count, 4 * block);
    unsigned seen[1024] = {0};
    for (unsigned k = 0; k < order_count; ++k) seen[order[k]]++;
    for (unsigned k = 0; k < block; ++k) assert_int_equal(seen[k], 4);
    for (unsigned k = 0; k < block; ++k) assert_int_equal(order[k], k);
  }
}

static void nowhere(void **state) {
  char place[20] = "x";
  fibers_where(place, sizeof place);
  assert_string_equal(place, "");
  assert_false(fibers_owns_guard(place));
  fibers_close(NULL);
}

#define WITH_BOTH(test)                                                                            \
  {#test " (g++)", test, set_up_gcc, tear_down, NULL}, {                                           \
#test " (clang++)", test, set_up_clang, tear_down, NULL                                        \
  }

/* An edited comment of the shim does not change the key of the cpu device's records. */
static void code_without_comments(void **state) {
  FREED(text) code = {0};
  cpu_add_code("/* one\n   two */\n\nint a; // three\n  const char *b = \"/* four */\";\n#define C "
               "'\"' /* five "
               "*/\nint d = 4 / 2;  \n\n",
               &code);
  assert_string_equal(text_get(&code),
                      "int a;\nconst char *b = \"/* four */\";\n#define C '\"'\nint d = 4 / 2;\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(code_without_comments),
      cmocka_unit_test_setup_teardown(shapes, set_up_gcc, tear_down),
      cmocka_unit_test_setup_teardown(launches, set_up_gcc, tear_down),
      cmocka_unit_test_setup_teardown(nowhere, set_up_gcc, tear_down),
      WITH_BOTH(two_objects), /* must run before the others that load reduce.cu */
      WITH_BOTH(naive),
      WITH_BOTH(tiled),
      WITH_BOTH(blocked),
      WITH_BOTH(transpose),
      WITH_BOTH(reduce),
      WITH_BOTH(votes),
      WITH_BOTH(memory),
      WITH_BOTH(where),
      WITH_BOTH(intrinsics),
      WITH_BOTH(faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
