/* api_kernel_check on kernels whose threads and blocks order each other by fences and atomics:
   tickets, locks, flags. Each kernel comes in a right form, and without one of the parts that
   make it right. */
#include "api/check.h"
#include "kernels.h"
#include "tests/testing.h"

static const char config[] =
    "kernel 'ordered' {\n"
    "  problem 'n' (256),\n"
    "  check { n = 256 },\n"
    "  input  'x' { dtype = 'f32', shape = { 'n' }, fill = 'ones' },\n"
    "  output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = '1e-6' },\n"
    "  scratch 'p' { dtype = 'f32', shape = { 'n' } },\n"
    "  scratch 'c' { dtype = 'i32', shape = { 8 }, fill = 'zero' },\n"
    "  scalar 'n' { dtype = 'i32' },\n"
    "  reference 'reference.cu',\n"
    "  implementation 'only' {\n"
    "    template 'ordered.cu',\n"
    "    tunable 'threads' { 64 },\n"
    "    grid { 'n // 64' }, block { 64 },\n"
    "  },\n"
    "}\n";

static const char reference[] = "__global__ void reference(${params}) {\n"
                                "  const long long i = blockIdx.x * 256ll + threadIdx.x;\n"
                                "  if (i < sample_count) y[i] = x[samples ? samples[i] : i];\n"
                                "}\n";

/* What the last block to take a ticket reads, the others wrote. */
#define WRITE   "p[i] = x[i];\n"
#define BARRIER "__syncthreads();\n"
#define FENCE   "__threadfence();\n"
#define LAST    "last = atomicAdd(c, 1) == gridDim.x - 1;\n"
#define TICKET  "if (!t) " LAST
#define READ    "for (int k = t; k < n; k += 64) y[k] = p[k];\n"
/* with a fence before or behind the ticket, which may be "" */
#define TICKET_WITH(before, behind) "if (!t) {\n" before "  " LAST behind "}\n"
#define OTHERS_LEAVE                "if (!last) return;\n" FENCE READ "if (!t) c[0] = 0;\n"

/* or all go on */
#define OTHERS_PASS "if (last) " FENCE "if (last) " READ "if (last && !t) c[0] = 0;\n"
#define NO_FENCE(read)                                                                             \
  "for (int k = t; last && k < n; k += 64) y[k] = " read ";\nif (last && !t) c[0] = 0;\n"

#define IN_TURN(fence)                                                                             \
  "y[i] = x[i];\n"                                                                                 \
  "if (!t) {\n"                                                                                    \
  "  volatile int *turn = c;\n"                                                                    \
  "  while (turn[0] != blockIdx.x) {}\n"                                                           \
  "  __threadfence();\n"                                                                           \
  "  if (!blockIdx.x) c[2] = 5;\n"                                                                 \
  "  c[1] = c[2] + blockIdx.x;\n"                                                                  \
  "  if (blockIdx.x == 3) c[1] = c[2] = 0;\n" fence                                                \
  "  turn[0] = blockIdx.x == 3 ? 0 : blockIdx.x + 1;\n"                                            \
  "}\n"

/* The body of a kernel that copies x to y in 4 blocks of 64 threads, and leaves c zero. The body
   begins on line 4 of the template. */
static const struct {
  const char *name, *kind; /* NULL: the kernel is right */
  int line;
  const char *body;
} cases[] = {
    {"last block", NULL, 0, WRITE BARRIER TICKET_WITH("  " FENCE, "") BARRIER OTHERS_LEAVE},
    {"last block: each thread fences what it wrote", NULL, 0,
     WRITE FENCE BARRIER TICKET BARRIER OTHERS_LEAVE},
    {"last block: each thread writes behind its fence", "missing fence", 11,
     FENCE WRITE BARRIER TICKET BARRIER OTHERS_LEAVE},
    {"last block: no barrier before the fence", "race between blocks", 11,
     WRITE TICKET_WITH("  " FENCE, "") BARRIER OTHERS_PASS},
    {"last block: fences but no barrier before the ticket", "race between blocks", 9,
     WRITE FENCE TICKET BARRIER OTHERS_PASS},
    {"last block: no fence before the ticket", "missing fence", 9,
     WRITE BARRIER TICKET BARRIER OTHERS_PASS},
    {"last block: a fence of the block", "missing fence", 13,
     WRITE BARRIER TICKET_WITH("  __threadfence_block();\n", "") BARRIER OTHERS_LEAVE},
    {"last block: no fence behind the ticket", "missing fence", 9,
     WRITE FENCE BARRIER TICKET BARRIER NO_FENCE("p[k]")},
    {"last block: a fence of the block behind the ticket", "missing fence", 12,
     WRITE FENCE BARRIER TICKET_WITH("", "  __threadfence_block();\n") BARRIER NO_FENCE("p[k]")},
    {"last block: no fence, but past the cache, as the programming guide has it", NULL, 0,
     WRITE FENCE BARRIER TICKET BARRIER NO_FENCE("*(volatile float *)(p + k) + 0 * __ldcg(p + k)")},
    {"a lock of all blocks", NULL, 0,
     "y[i] = x[i];\n"
     "while (atomicCAS(c, 0, 1)) {}\n"
     "__threadfence();\n"
     "c[1] += 1;\n"
     "if (c[1] == n) c[1] = 0;\n"
     "__threadfence();\n"
     "atomicExch(c, 0);\n"},
    {"a lock that does not fence", "missing fence", 6,
     "y[i] = x[i];\n"
     "while (atomicCAS(c, 0, 1)) {}\n"
     "c[1] += 1;\n"
     "if (c[1] == n) c[1] = 0;\n"
     "atomicExch(c, 0);\n"},
    {"a lock of a block", NULL, 0,
     "__shared__ int lock, sum;\n"
     "if (!t) lock = sum = 0;\n"
     "__syncthreads();\n"
     "while (atomicCAS(&lock, 0, 1)) {}\n"
     "__threadfence_block();\n"
     "sum += 1;\n"
     "__threadfence_block();\n"
     "atomicExch(&lock, 0);\n"
     "__syncthreads();\n"
     "y[i] = x[i] + (sum - 64);\n"},
    {"a lock of a block, given back too early", "race", 9,
     "__shared__ int lock, sum;\n"
     "if (!t) lock = sum = 0;\n"
     "__syncthreads();\n"
     "while (atomicCAS(&lock, 0, 1)) {}\n"
     "__threadfence_block();\n"
     "atomicExch(&lock, 0); sum += 1;\n"
     "__syncthreads();\n"
     "y[i] = x[i] + (sum - 64);\n"},
    {"blocks in turn", NULL, 0, IN_TURN("  __threadfence();\n")},
    {"blocks in turn, without the fence before the next", "missing fence", 10, IN_TURN("")},
    {"a flag of a block that is written without volatile, too", "race", 7,
     "y[i] = x[i];\n"
     "volatile int *flag = c + blockIdx.x;\n"
     "if (!t) *flag = 1;\n"
     "if (t == 1) { while (*flag != 1) {} c[blockIdx.x] = 2; }\n"
     "__syncthreads();\n"
     "if (!t) *flag = 0;\n"},
    {"a flag that another block overwrites without a fence", "race between blocks", 13,
     "y[i] = x[i];\n"
     "p[i] = x[i];\n"
     "__syncthreads();\n"
     "volatile int *flag = c;\n"
     "if (blockIdx.x == 0 && !t) { __threadfence(); *flag = 1; }\n"
     "if (blockIdx.x == 1 && !t) { while (*flag != 1) {} *flag = 2; }\n"
     "if (blockIdx.x != 2) return;\n"
     "if (!t) { while (*flag != 2) {} __threadfence(); *flag = 0; }\n"
     "__syncthreads();\n"
     "y[i] = p[t] > 9 ? 0 : x[i];\n"},
    {"a block writes what another has read", "race between blocks", 5,
     "float own = x[i] + c[blockIdx.x];\n"
     "if (!t && blockIdx.x) c[blockIdx.x - 1] = 0;\n"
     "y[i] = own;\n"},
    {"a block adds to what another has read", "race between blocks", 5,
     "float own = blockIdx.x || t ? 0 : c[0];\n"
     "if (!t && blockIdx.x) atomicAdd(c, 0);\n"
     "y[i] = x[i] + own;\n"},
    {"a shift in place", "race between blocks", 6,
     "const int own = c[(blockIdx.x + 1) % 4];\n"
     "__syncthreads();\n"
     "if (!t) c[blockIdx.x] = own;\n"
     "y[i] = x[i];\n"},
    {"a block writes what it has read itself, and another before", "race between blocks", 6,
     "const int own = c[blockIdx.x] + (blockIdx.x < 3 ? c[blockIdx.x + 1] : 0);\n"
     "__syncthreads();\n"
     "if (!t) c[blockIdx.x] = own;\n"
     "y[i] = x[i] + own;\n"},
    {"a block writes what it alone has read", NULL, 0,
     "const int own = c[blockIdx.x];\n"
     "__syncthreads();\n"
     "if (!t) c[blockIdx.x] = own;\n"
     "y[i] = x[i] + own;\n"},
    {"blocks fill the same buffer", "race between blocks", 5,
     "y[i] = x[i];\n"
     "if (!t) memset(p, 0, 256);\n"},
    {"blocks fill their own parts", NULL, 0,
     "y[i] = x[i];\n"
     "if (!t) memset(p + i, 0, 256);\n"},
    {"atomic operations of a block's scope, of several blocks", "race between blocks", 5,
     "y[i] = x[i];\n"
     "atomicAdd_block(c, 1);\n"
     "if (i == 255) c[0] = 0;\n"},
    {"an atomic operation of the device's scope, then one of another block's",
     "race between blocks", 6,
     "y[i] = x[i];\n"
     "if (i == 0) atomicAdd(c, 1);\n"
     "if (i == 64) atomicAdd_block(c, -1);\n"},
    {"an atomic operation of a block's scope, then one of the device's of another block",
     "race between blocks", 6,
     "y[i] = x[i];\n"
     "if (i == 0) atomicAdd_block(c, 1);\n"
     "if (i == 64) atomicAdd(c, -1);\n"},
    {"a reduction by inline PTX of a block's scope, of several blocks", "race between blocks", 5,
     "y[i] = x[i];\n"
     "asm volatile(\"red.global.cta.add.u32 [%0], 1;\" :: \"l\"(c) : \"memory\");\n"
     "if (i == 255) c[0] = 0;\n"},
    {"a reduction by inline PTX of the device's scope, of several blocks", NULL, 0,
     "y[i] = x[i];\n"
     "asm volatile(\"red.global.gpu.add.u32 [%0], %1;\" :: \"l\"(c), \"r\"(t < 32 ? 1 : -1) : "
     "\"memory\");\n"},
    {"atomic operations of a block's scope, each block's own", NULL, 0,
     "y[i] = x[i];\n"
     "atomicAdd_block(c + 4 + blockIdx.x, 1);\n"
     "__syncthreads();\n"
     "if (!t) c[4 + blockIdx.x] = 0;\n"},
    {"a flag of a block in global memory, looked at before it is set", NULL, 0,
     "volatile int *f = c + blockIdx.x;\n"
     "if (t == 1) while (f[0] != 9) {}\n"
     "if (t == 60) f[0] = 9;\n"
     "__syncthreads();\n"
     "if (!t) f[0] = 0;\n"
     "y[i] = x[i];\n"},
    {"a flag of a block in global memory, set before it is looked at", NULL, 0,
     "volatile int *f = c + blockIdx.x;\n"
     "if (t == 60) while (f[0] != 9) {}\n"
     "if (t == 1) f[0] = 9;\n"
     "__syncthreads();\n"
     "if (!t) f[0] = 0;\n"
     "y[i] = x[i];\n"},
    {"volatile words order nothing by themselves", "race", 7,
     "__shared__ volatile float s[64];\n"
     "s[t] = x[i];\n"
     "__syncthreads();\n"
     "if (t < 16) s[t] = s[t] + s[t + 16];\n"
     "if (t < 16) s[t] = s[t] + s[t + 8];\n"
     "y[i] = x[i];\n"},
};

static const struct made_up made = {.name = "ordered",
                                    .config = config,
                                    .reference = reference,
                                    .setting = "n=256",
                                    .head =
                                        "__global__ void ordered(${params}) {\n"
                                        "__shared__ bool last;\n"
                                        "const int t = threadIdx.x, i = blockIdx.x * 64 + t;\n"};

static bool is_found(const cugen_check *check, const char *kind, int line) {
  for (size_t i = 0; i < check->finding_count; i++)
    if (strcmp(finding_name((int)check->findings[i].kind), kind) == 0 &&
        /* either access may be described */
        (check->findings[i].line == line || check->findings[i].other_line == line))
      return true;
  return false;
}

static bool check_one(cugen *lib, size_t at) {
  cugen_check_options options = {0};
  cugen_error error = {0};
  cugen_check check;
  CLOSED(cugen_kernel) *kernel = open_made_up(lib, &made, cases[at].body);
  options.variant = "only";
  options.timeout = 20;
  int status = api_kernel_check(kernel, &options, &check, &error);
  const bool clean = status == CUGEN_OK && check.finding_count == 0 && check.runs == 1;
  const bool right = cases[at].kind ? status == CUGEN_ERROR_WRONG &&
                                          is_found(&check, cases[at].kind, cases[at].line)
                                    : clean;
  if (!right)
    print_error("%s: wanted %s at %d\n", cases[at].name,
                cases[at].kind ? cases[at].kind : "nothing", cases[at].line);
  for (size_t i = 0; i < check.finding_count && !right; i++)
    print_error("  %s:%d: %s: %s\n", check.findings[i].file, check.findings[i].line,
                finding_name((int)check.findings[i].kind), check.findings[i].message);
  for (size_t i = 0; i < check.skip_count && !right; i++)
    print_error("  not checked: %s\n", check.skips[i].why);
  return right;
}

/* With clang++ every second case; see test_check.c. */
TEST(test_order) {
  const char *compiler = getenv("CUGEN_CXX");
  const size_t step = compiler && strstr(compiler, "clang") ? 2 : 1;
  bool right = true;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i += step) right &= check_one(*state, i);
  assert_true(right);
}

ALL_TESTS_WITH(open_library, close_library);
