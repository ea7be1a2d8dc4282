/* Walking PTX: trip counts, coalescing, bank conflicts, asynchronous copies; code that is not
   understood is refused. */
#include "base/text.h"
#include "runtime/model/ptx_survey.h"
#include "tests/testing.h"

static const struct ptx_machine machine = {.pipe = {0.25, 0.5, 0.25, 0.5, 0.25, 2, 0, 8, 1},
                                           .latency = {8, 4, 4, 8, 5, 20, 33, 40, 30},
                                           .latency_shared = 30,
                                           .latency_l1 = 40,
                                           .latency_l2 = 260,
                                           .latency_memory = 800,
                                           .latency_barrier = 25,
                                           .latency_cluster = 180,
                                           .cluster_bytes = 16,
                                           .tensor_flops = 1024,
                                           .tensor_f64_flops = 256,
                                           .tensor_sync_share = 0.5,
                                           .tensor_small_share = 0.25};

static const char *const head =
    ".version 9.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u32 k_param_1\n)\n{\n"
    "\t.reg .pred %p<9>;\n\t.reg .f32 %f<99>;\n\t.reg .b32 %r<99>;\n\t.reg .b64 %rd<99>;\n"
    "\t.shared .align 16 .b8 tile[8192];\n"
    "\tld.param.u64 %rd1, [k_param_0];\n\tld.param.u32 %r1, [k_param_1];\n"
    "\tmov.u32 %r2, %tid.x;\n";

/* wide, pairs: loads of 16 and of 8 bytes from shared memory in the machine code. */
static int walk_as(const char *body, uint32_t threads, int64_t second, int wide, int pairs,
                   struct ptx_counts *out, cugen_error *err) {
  struct ptx_kernel kernel;
  const int64_t parameters[] = {INT64_C(1) << PTX_BUFFER_SHIFT, second};
  const struct ptx_buffer buffer = {"x", 1 << 20};
  const struct ptx_launch launch = {.grid = {9, 1, 1},
                                    .block = {threads, 1, 1},
                                    .parameters = parameters,
                                    .parameter_count = 2,
                                    .buffers = &buffer,
                                    .buffer_count = 1,
                                    .l1_bytes = 65536,
                                    .registers = 64,
                                    .shared_quads = wide,
                                    .shared_pairs = pairs};
  int status = ptx_open(formed("%s%s\n}\n", head, body), "k", &kernel, err);
  if (!status) status = ptx_walk(&kernel, &machine, &launch, out, err);
  if (!status || kernel.count) ptx_close(&kernel);
  return status;
}

static int walk(const char *body, uint32_t threads, int64_t second, struct ptx_counts *out,
                cugen_error *err) {
  return walk_as(body, threads, second, 0, 0, out, err);
}

static struct ptx_counts counts_of(const char *body, uint32_t threads, int64_t second) {
  struct ptx_counts counts;
  WORKS(walk(body, threads, second, &counts, &err));
  return counts;
}

/* Counts one load of 4 bytes a lane, with lanes `stride` bytes apart. */
static struct ptx_counts load(int stride) {
  const char *text =
      formed("\tmul.wide.s32 %%rd2, %%r2, %d;\n\tadd.s64 %%rd3, %%rd1, %%rd2;\n\tld.global.f32 "
             "%%f1, [%%rd3];\n\tret;\n",
             stride);
  struct ptx_counts counts = counts_of(text, 32, 0);
  return counts;
}

TEST(test_sectors) {
  assert_true(load(4).global_sectors == 4 && load(4).global_wavefronts == 1);
  assert_true(load(8).global_sectors == 8 && load(8).global_wavefronts == 2);
  assert_true(load(128).global_sectors == 32 && load(128).global_wavefronts == 32);
  assert_true(load(0).global_sectors == 1);
  assert_true(load(128).ideal_sectors == 4);
  assert_true(load(0).ideal_sectors == 1); /* all lanes read one sector */
}

static double requested(const char *body, uint32_t threads) {
  struct ptx_counts counts = counts_of(body, threads, 0);
  assert_true(counts.unknown == 0);
  return counts.requested;
}

/* Requested bytes are counted whatever they cost: each time anew, for the lanes that take part,
   in global memory only. */
TEST(test_requests) {
  assert_true(load(4).requested == 128 && load(128).requested == 128 && load(0).requested == 128);
  const char *twice = "\tld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
                      "\tld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n\tret;\n";
  assert_true(requested(twice, 48) == 2 * 48 * 16);
  const char *some = "\tsetp.lt.s32 %p1, %r2, 5;\n\t@%p1 st.global.u16 [%rd1], %r2;\n"
                     "\tld.shared.f32 %f1, [tile];\n\tred.global.add.u32 [%rd1], 1;\n\tret;\n";
  assert_true(requested(some, 32) == 5 * 2 + 32 * 4);
  /* Copies of 16 bytes of which lanes ask for fewer and fewer: 16, 16, 12, 8, 4, 0 ... bytes are
     read. */
  const char *copies = "\tcp.async.cg.shared.global [%r2], [%rd1], 16;\n\tshl.b32 %r3, %r2, 2;\n"
                       "\tsub.s32 %r4, 20, %r3;\n\tmin.s32 %r4, %r4, 16;\n\tmax.s32 %r4, %r4, 0;\n"
                       "\tcp.async.cg.shared.global [%r2], [%rd1], 16, %r4;\n\tret;\n";
  assert_true(requested(copies, 32) == 32 * 16 + 16 + 16 + 12 + 8 + 4);
  const char *bulk = "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], "
                     "[%rd1], 4096, [%r4];\n"
                     "\tcp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 512;\n\tret;\n";
  assert_true(requested(bulk, 1) == 4096 + 512);
}

/* The footprint of one store of 4 bytes a lane, with lanes `stride` bytes apart. */
static struct ptx_footprint store(int stride) {
  const char *text =
      formed("\tmul.wide.s32 %%rd2, %%r2, %d;\n\tadd.s64 %%rd3, %%rd1, %%rd2;\n\tst.global.f32 "
             "[%%rd3], %%f1;\n\tret;\n",
             stride);
  struct ptx_counts counts = counts_of(text, 32, 0);
  return counts.footprint;
}

/* Memory gives at least 64 bytes, moves sectors, and reads sectors that are stored in part. */
TEST(test_footprint) {
  assert_true(load(4).footprint.fetched == 128 && load(4).footprint.written == 0);
  assert_true(load(32).footprint.fetched == 32 * 32);
  assert_true(load(128).footprint.fetched == 32 * 64);
  assert_true(load(0).footprint.fetched == 64);
  assert_true(store(4).written == 128 && store(4).part == 0 && store(4).covered == 128 &&
              store(4).fetched == 0);
  assert_true(store(8).written == 256 && store(8).part == 256 && store(8).covered == 128);
  assert_true(store(128).written == 32 * 32 && store(128).part == 32 * 64);
}

/* Passes for a column of a tile of floats, `row` floats wide: without padding all 32 lanes use
   one bank. */
static double column(int row) {
  struct ptx_counts counts = counts_of(
      formed("\tmul.lo.s32 %%r3, %%r2, %d;\n\tmov.u32 %%r4, tile;\n\tadd.s32 %%r5, %%r4, %%r3;\n"
             "\tld.shared.f32 %%f1, [%%r5];\n\tret;\n",
             4 * row),
      32, 0);
  assert_true(counts.shared_ideal == 1);
  return counts.shared_wavefronts;
}

TEST(test_banks) {
  assert_true(column(32) == 32);
  assert_true(column(33) == 1);
  assert_true(column(34) == 2);
  assert_true(column(0) == 1); /* all lanes read one word */
}

/* The same access pattern at another address costs the same; another pattern does not. */
TEST(test_patterns) {
  const char *body =
      "\tmov.u32 %r3, 0;\n\tshl.b32 %r4, %r2, 2;\n"
      "$L1:\n\tld.shared.f32 %f1, [%r4];\n\tadd.s32 %r4, %r4, 128;\n\tadd.s32 %r3, %r3, 1;\n"
      "\tsetp.lt.s32 %p1, %r3, 4;\n\t@%p1 bra $L1;\n\tshl.b32 %r5, %r2, 7;\n"
      "\tst.shared.f32 [%r5], %f1;\n\tret;\n";
  struct ptx_counts counts = counts_of(body, 32, 0);
  assert_true(counts.shared_wavefronts == 4 + 32);
  assert_true(counts.shared_ideal == 5);
}

TEST(test_loop) {
  const char *body =
      "\tmov.u32 %r3, 0;\n$L1:\n\tfma.rn.f32 %f1, %f2, %f3, %f1;\n\tadd.s32 %r3, %r3, 1;\n"
      "\tsetp.lt.s32 %p1, %r3, %r1;\n\t@%p1 bra $L1;\n\tret;\n";
  struct ptx_counts once = counts_of(body, 32, 1), often = counts_of(body, 128, 100);
  assert_true(once.pipe[PTX_PIPE_FP32] == 0.25);
  assert_true(often.pipe[PTX_PIPE_FP32] == 4 * 100 * 0.25);
  assert_true(often.instructions == 4 * (100 * 4 + 1));
  /* each multiply-add waits for the result of the one before */
  assert_true(often.alone[PTX_FROM_L2] >= 100 * 4);
}

/* The lanes of an if and those of its else run after each other and meet again behind. */
TEST(test_divergence) {
  const char *body =
      "\tsetp.lt.s32 %p1, %r2, 16;\n\t@%p1 bra $L1;\n\tadd.f32 %f1, %f1, %f1;\n\tbra.uni $L2;\n"
      "$L1:\n\tadd.f32 %f2, %f2, %f2;\n$L2:\n\tadd.f32 %f3, %f3, %f3;\n\tret;\n";
  assert_true(counts_of(body, 32, 0).pipe[PTX_PIPE_FP32] == 3 * 0.25);
  assert_true(counts_of(body, 16, 0).pipe[PTX_PIPE_FP32] == 2 * 0.25);
}

/* Two independent loads overlap; in a chain the second waits for the first. */
TEST(test_latency) {
  const char *both = "\tld.global.f32 %f1, [%rd1];\n\tld.global.f32 %f2, [%rd1+4096];\n\tadd.f32 "
                     "%f3, %f1, %f2;\n\tret;\n";
  const char *chain = "\tld.global.u64 %rd2, [%rd1];\n\tld.global.u64 %rd3, [%rd2];\n\tadd.s64 "
                      "%rd4, %rd3, 1;\n\tret;\n";
  struct ptx_counts a = counts_of(both, 32, 0), b = counts_of(chain, 32, 0);
  assert_true(a.alone[PTX_FROM_MEMORY] > 800 && a.alone[PTX_FROM_MEMORY] < 900);
  assert_true(b.alone[PTX_FROM_MEMORY] > 1600);
  assert_true(a.alone[PTX_FROM_L2] < a.alone[PTX_FROM_MEMORY]);
}

/* A short branch is predicated, so both of its loads are under way at once; a branch around a
   barrier is not. */
TEST(test_predication) {
  static const char *const body =
      "\tsetp.lt.s32 %%p1, %%r2, 99;\n\t@!%%p1 bra $L1;\n\tld.global.f32 %%f1, [%%rd1];\n"
      "\tst.shared.f32 [tile], %%f1;\n$L1:\n%s\t@!%%p1 bra $L2;\n"
      "\tld.global.f32 %%f2, [%%rd1+4096];\n\tst.shared.f32 [tile+4], %%f2;\n$L2:\n\tret;\n";
  struct ptx_counts a = counts_of(formed(body, ""), 32, 0),
                    b = counts_of(formed(body, "\tbar.sync 0;\n"), 32, 0);
  assert_true(a.alone[PTX_FROM_MEMORY] < 1000);
  assert_true(b.alone[PTX_FROM_MEMORY] > 1600);
}

/* Lines that are stored, and pages of 1 KiB: 32 lanes of 4 bytes side by side, or 4 KiB apart. */
TEST(test_stores) {
  static const char *const body =
      "\tmul.wide.u32 %%rd2, %%r2, %d;\n\tadd.s64 %%rd3, %%rd1, %%rd2;\n"
      "\tst.global.f32 [%%rd3], %%f1;\n\tret;\n";
  static const struct {
    int apart;
    double lines, pages;
  } rows[] = {{4, 1, 1}, {16, 4, 1}, {128, 32, 4}, {4096, 32, 32}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct ptx_counts counts = counts_of(formed(body, rows[i].apart), 32, 0);
    assert_true(counts.store_wavefronts == rows[i].lines);
    assert_true(counts.global_wavefronts == rows[i].lines);
    assert_true(counts.pages == rows[i].pages);
  }
}

/* mma.sync takes its share of the tensor cores' rate in each warp; wgmma the whole rate, once
   for four warps, with the wait at the end. */
TEST(test_products) {
  const char *mma = "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
                    "{%r3, %r4, %r5, %r6}, "
                    "{%r7, %r8}, {%f1, %f2, %f3, %f4};\n\tret;\n";
  const char *wgmma =
      "\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, "
      "1, 0, 0;\n"
      "\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, "
      "1, 0, 0;\n"
      "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n\tret;\n";
  assert_true(counts_of(mma, 128, 0).pipe[PTX_PIPE_TENSOR] == 4 * 4096 / 512.0);
  const char *f64 = "\tmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd3, %rd4}, {%rd5}, "
                    "{%rd6}, {%rd3, %rd4};\n\tret;\n";
  assert_true(counts_of(f64, 32, 0).pipe[PTX_PIPE_TENSOR] == 512 / 64.0);
  struct ptx_counts counts;
  const char *bytes = "\tmma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r3, %r4, %r5, %r6}, "
                      "{%r3, %r4, %r5, %r6}, {%r7, "
                      "%r8}, {%r3, %r4, %r5, %r6};\n\tret;\n";
  /* the machine has no rate for this type */
  FAILS(walk(bytes, 32, 0, &counts, &err), CUGEN_ERROR_COMPILE,
        "multiplies matrices of this type is not known");
  counts = counts_of(wgmma, 128, 0);
  assert_true(counts.pipe[PTX_PIPE_TENSOR] == 2 * 16384 / 1024.0);
  assert_true(counts.alone[PTX_FROM_L2] >= 2 * 16384 / 1024.0);
}

/* Copies by a tensor map bring the bytes that the barrier was told to expect. */
TEST(test_tensor_loads) {
  const char *body =
      "\tsetp.ne.s32 %p1, %r2, 0;\n\t@%p1 bra $L1;\n"
      "\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 4096;\n"
      "\tcp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, "
      "{%r5, %r6}], [%r3];\n"
      "\tcp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, "
      "{%r5, %r6}], [%r3];\n"
      "\tcp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r5, %r6}], [%r4];\n"
      "$L1:\n\tret;\n";
  struct ptx_counts counts = counts_of(body, 32, 0);
  assert_true(counts.load_sectors == 4096 / 32.0);
  assert_true(counts.store_sectors == 0);
  assert_true(counts.unknown == 3); /* the tensor map is not known */
}

/* A load of 16 bytes a lane takes two passes if neighbours ask for the same, otherwise four. */
TEST(test_wide) {
  const char *alone =
      "\tshl.b32 %r3, %r2, 4;\n\tld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];\n\tret;\n";
  const char *pairs = "\tshr.u32 %r4, %r2, 1;\n\tshl.b32 %r3, %r4, 4;\n"
                      "\tld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];\n\tret;\n";
  assert_true(counts_of(alone, 32, 0).shared_wavefronts == 4);
  assert_true(counts_of(pairs, 32, 0).shared_wavefronts == 2);
}

/* Loads eight words in a row from `offset` on, the last one first; all lanes read the same. */
static struct ptx_counts row(int offset, int wide, int pairs, const char *between) {
  FREED(text) text = {0};
  struct ptx_counts counts;
  for (int i = 7; i >= 0; i--)
    text_addf(&text, "\tld.shared.f32 %%f%d, [%%r3+%d];\n%s", i, offset + 4 * i,
              i == 2 ? between : "");
  text_addf(&text, "\tret;\n");
  WORKS(walk_as(text_get(&text), 32, 0, wide, pairs, &counts, &err));
  return counts;
}

/* Loads that ptxas joins are one access and one instruction, if the machine code has wide loads
   and the address is aligned for them. */
TEST(test_joined) {
  struct ptx_counts apart = row(0, 0, 0, ""), joined = row(0, 2, 0, ""), moved = row(4, 2, 0, "");
  assert_true(apart.shared_wavefronts == 8);
  /* like any load of 16 bytes that all lanes read */
  assert_true(joined.shared_wavefronts == 2 * 2);
  assert_true(joined.instructions == apart.instructions - 6);
  /* one group is joined, the other is loaded in two parts */
  assert_true(moved.shared_wavefronts == 2 + 4);
  /* stores are not joined */
  assert_true(row(0, 2, 0, "\tst.shared.f32 [%r4], %f7;\n").shared_wavefronts == 7);
  /* the loads have different addresses */
  assert_true(row(0, 2, 0, "\tadd.s32 %r3, %r3, 16;\n").shared_wavefronts == 2 + 4);
  assert_true(row(0, 0, 4, "").shared_wavefronts == 4);
  /* the rows begin in the middle of 16 bytes */
  assert_true(row(8, 1, 4, "").shared_wavefronts == 2 + 2);
}

/* Shared memory of another block has no bank conflicts and no sectors; a barrier of the cluster
   takes as long as the way there. */
TEST(test_clusters) {
  const char *body = "\tmapa.shared::cluster.u32 %r4, %r3, 1;\n"
                     "\tld.shared::cluster.v4.f32 {%f1, %f2, %f3, %f4}, [%r4];\n"
                     "\tbarrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;\n\tret;\n";
  struct ptx_counts counts = counts_of(body, 32, 0);
  assert_true(counts.exchange == 32 * 16 / machine.cluster_bytes);
  assert_true(counts.shared_wavefronts == 0 && counts.load_sectors == 0 && counts.barriers == 1);
  assert_true(counts.path[PTX_FROM_L2] >= machine.latency_cluster);
}

TEST(test_cluster_size) {
  const char *text =
      ".version 9.0\n.target sm_90a\n.visible .entry k()\n.maxntid 384, 1, 1\n.explicitcluster\n"
      ".reqnctapercluster 2, 1, 3\n{\n\tret;\n}\n";
  struct ptx_kernel kernel;
  WORKS(ptx_open(text, "k", &kernel, &err));
  assert_int_equal(kernel.cluster, 6);
  ptx_close(&kernel);
}

TEST(test_textures) {
  const char *body = "\ttex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];\n\tret;\n";
  assert_true(counts_of(body, 64, 0).pipe[PTX_PIPE_TEXTURE] == 2 * machine.pipe[PTX_PIPE_TEXTURE]);
  assert_true(counts_of(body, 64, 0).unknown > 0); /* the size of an element is not known either */
}

/* A copy with its wait behind the arithmetic costs less than both together. */
TEST(test_async) {
  const char *body = "\tcp.async.cg.shared.global [%r2], [%rd1], 16;\n\tcp.async.commit_group;\n"
                     "\tcp.async.wait_group 0;\n\tbar.sync 0;\n\tret;\n";
  struct ptx_counts counts = counts_of(body, 64, 0);
  assert_true(counts.alone[PTX_FROM_MEMORY] > 800);
  assert_true(counts.barriers == 2 && counts.load_sectors > 0);
}

static void assert_refused(const char *body, const char *message) {
  struct ptx_counts counts;
  FAILS_WITH(walk(body, 32, 100, &counts, &err), CUGEN_ERROR_COMPILE, message);
}

/* Loads the word of x at the thread's number into %r3. */
#define LOAD_WORD                                                                                  \
  "\tmul.wide.s32 %rd2, %r2, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tld.global.u32 %r3, [%rd3];\n"

/* Loops whose trip counts depend on a loaded value, on an exit by one, and on a float are
   refused; the same loop up to a parameter is not. */
TEST(test_unknown_loops) {
  assert_refused(LOAD_WORD
                 "\tmov.u32 %r4, 0;\n$L1:\n\tadd.s32 %r4, %r4, 1;\n\tsetp.lt.s32 %p1, %r4, %r3;\n"
                 "\t@%p1 bra $L1;\n\tret;\n",
                 "trip counts depend on 'x'");
  assert_refused(
      LOAD_WORD
      "\tmov.u32 %r4, 0;\n$L1:\n\tsetp.eq.s32 %p1, %r4, %r3;\n\t@%p1 bra $L2;\n"
      "\tadd.s32 %r4, %r4, 1;\n\tsetp.lt.s32 %p2, %r4, %r1;\n\t@%p2 bra $L1;\n$L2:\n\tret;\n",
      "trip counts depend on 'x'");
  assert_refused("\tmov.f32 %f1, 0f00000000;\n$L1:\n\tadd.f32 %f1, %f1, 0f3F800000;\n"
                 "\tsetp.lt.f32 %p1, %f1, 0f41200000;\n\t@%p1 bra $L1;\n\tret;\n",
                 "trip counts depend on floats that are computed");
  assert_refused(
      "\tst.shared.u32 [%r2], %r2;\n\tld.shared.u32 %r3, [%r2];\n$L1:\n\tsub.s32 %r3, %r3, 1;\n"
      "\tsetp.gt.s32 %p1, %r3, 0;\n\t@%p1 bra $L1;\n\tret;\n",
      "trip counts depend on values in shared memory");
  assert_refused(
      LOAD_WORD
      "\t.loc 2 9 3, function_name $L_info0, inlined_at 1 12 5\n$L1:\n\tsub.s32 %r3, %r3, 1;\n"
      "\tsetp.gt.s32 %p1, %r3, 0;\n\t@%p1 bra $L1;\n\tret;\n}\n.file 1 \"/somewhere/k.cu\"\n{",
      "trip counts depend on 'x', k.cu:12");
  struct ptx_counts known =
      counts_of(LOAD_WORD "\tmov.u32 %r4, 0;\n$L1:\n\tadd.s32 %r4, %r4, 1;\n"
                          "\tadd.s32 %r5, %r3, %r4;\n\tsetp.lt.s32 %p1, %r4, %r1;\n"
                          "\t@%p1 bra $L1;\n\tret;\n",
                32, 100);
  assert_true(known.instructions > 400);
}

/* A loop of compare-and-swap is walked once. */
TEST(test_swap) {
  struct ptx_counts counts =
      counts_of(LOAD_WORD "$L1:\n\tadd.s32 %r4, %r3, 1;\n"
                          "\tatom.global.cas.b32 %r5, [%rd3], %r3, %r4;\n"
                          "\tsetp.ne.s32 %p1, %r3, %r5;\n\tmov.u32 %r3, %r5;\n"
                          "\t@%p1 bra $L1;\n\tret;\n",
                32, 0);
  assert_true(counts.instructions < 10);
}

enum { UNIT = 12 }; /* number of instructions of `side` */
static const char *const side = "\tadd.f32 %f2, %f2, %f2;\n\tadd.f32 %f3, %f3, %f3;\n\tadd.f32 "
                                "%f4, %f4, %f4;\n\tadd.f32 %f5, %f5, %f5;\n"
                                "\tadd.f32 %f2, %f2, %f2;\n\tadd.f32 %f3, %f3, %f3;\n\tadd.f32 "
                                "%f4, %f4, %f4;\n\tadd.f32 %f5, %f5, %f5;\n"
                                "\tadd.f32 %f2, %f2, %f2;\n\tadd.f32 %f3, %f3, %f3;\n\tadd.f32 "
                                "%f4, %f4, %f4;\n\tadd.f32 %f5, %f5, %f5;\n";

/* Returns the number of instructions of a body made of parts; NULL ends the list. */
static double instructions_of(const char *const *parts) {
  FREED(text) text = {0};
  for (; *parts; parts++) text_add(&text, *parts);
  const double instructions = counts_of(text_get(&text), 32, 0).instructions;
  return instructions;
}

/* Both sides of a branch on data count. What a right kernel never does, such as a trap, costs
   nothing. */
TEST(test_unknown_branches) {
  const char *load_word = LOAD_WORD "\tsetp.gt.s32 %p1, %r3, 5;\n", *branch = "\t@%p1 bra $L1;\n",
             *end = "\tret;\n", *label = "$L1:\n", *jump = "\tbra.uni $L2;\n", *after = "$L2:\n";
  const char *fails = "\t{\n\t.param .b64 param0;\n\tst.param.b64 [param0+0], %rd1;\n"
                      "\tcall.uni\n\t__assertfail,\n\t(\n\tparam0\n\t);\n\t}\n";
  const double before = instructions_of((const char *const[]){load_word, end, NULL});
  const double then =
      instructions_of((const char *const[]){load_word, branch, side, label, end, NULL});
  const double both = instructions_of(
      (const char *const[]){load_word, branch, side, jump, label, side, after, end, NULL});
  const double trap = instructions_of(
      (const char *const[]){load_word, branch, end, label, side, "\ttrap;\n", NULL});
  const double assert =
      instructions_of((const char *const[]){load_word, branch, fails, label, side, end, NULL});
  assert_true(then >= before + UNIT && both >= before + 2 * UNIT);
  assert_true(trap < before + UNIT && assert < before + UNIT + 4);
}

/* Addresses that depend on loaded numbers are spread over the buffer; lanes with the same number
   stay together. */
TEST(test_gather) {
  const char *by = "\tmul.wide.s32 %rd4, %r3, 4;\n\tadd.s64 %rd5, %rd1, %rd4;\n\tld.global.f32 "
                   "%f1, [%rd5];\n\tret;\n";
  FREED(text) text = {0};
  text_addf(&text, "%s%s", LOAD_WORD, by);
  assert_true(counts_of(text_get(&text), 32, 0).load_sectors > 28);
  text_clear(&text),
      text_addf(&text, "\tld.global.u32 %%r3, [%%rd1];\n\tadd.s32 %%r3, %%r3, %%r2;\n%s", by);
  assert_true(counts_of(text_get(&text), 32, 0).load_sectors <= 7);
}

/* Words of constant memory by an index pass one after the other; a fixed place is an operand. */
TEST(test_constants) {
  const char *const addresses[] = {"[table+8]", "[%r3]", "[%r4]"};
  const double cycles[] = {0, 2, 64};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(counts_of(formed("\t.const .align 4 .b8 table[4096];\n\tmul.lo.s32 %%r3, "
                                      "%%r1, 4;\n\tmul.lo.s32 %%r4, "
                                      "%%r2, 4;\n"
                                      "\tld.const.f32 %%f1, %s;\n\tret;\n",
                                      addresses[i]),
                               32, 3)
                         .pipe[PTX_PIPE_CONSTANT],
                     cycles[i]);
  }
}

/* Passes of atomics: 4 sectors for neighbours, 32 for all lanes on one place. If the place does
   not depend on the block, all blocks use it. */
TEST(test_atomics) {
  const char *by = "\tmul.wide.s32 %rd4, %r3, 4;\n\tadd.s64 %rd5, %rd1, %rd4;\n"
                   "\tred.global.add.f32 [%rd5], %f1;\n\tret;\n";
  const char *const places[] = {"\tmov.u32 %r3, %r2;\n", "\tmov.u32 %r3, 0;\n",
                                "\tmov.u32 %r4, %ctaid.x;\n\tmul.lo.s32 %r3, %r4, 64;\n"};
  const double sectors[] = {2 * 4 - 4, 2 * 32 - 1, 2 * 32 - 1}, crowded[] = {4, 32, 0};
  for (int i = 0; i < 3; i++) {
    struct ptx_counts counts = counts_of(formed("%s%s", places[i], by), 32, 0);
    assert_int_equal(counts.atomics, sectors[i]);
    assert_int_equal(counts.crowded, crowded[i]);
  }
  assert_int_equal(
      counts_of("\tmul.lo.s32 %r3, %r2, 4;\n\tatom.shared.add.f32 %f1, [%r3], %f2;\n\tret;\n", 32,
                0)
          .shared_wavefronts,
      4);
  assert_int_equal(
      counts_of("\tatom.shared.add.f32 %f1, [%r1], %f2;\n\tret;\n", 32, 0).shared_wavefronts, 128);
  assert_int_equal(
      counts_of("\tatom.shared.add.u32 %r3, [%r1], %r2;\n\tret;\n", 32, 0).shared_wavefronts, 2);
}

/* Inline asm as in cuda_fp16.hpp: types directly behind .reg, comments, nested scopes, the same
   names in each copy. */
TEST(test_scopes) {
  const char *copy =
      "\t{.reg.b16 h, r;\n\t/* of the\n\tfirst */ mov.b16 h, 1; // a\n{.reg.pred p;\n"
      "\tsetp.gt.u16 p, h, 0;\n\t@p bra L1;\n\tmov.b16 h, 2;\nL1:\n}\n\tmov.b16 r, h;\n}\n";
  assert_true(counts_of(formed("%s%s\tret;\n", copy, copy), 32, 0).instructions <= 7);
}

/* A switch goes to the label of its index; with a loaded index to all labels. */
TEST(test_table) {
  const char *table =
      "\t{\n$L_t: .branchtargets\n\t\t$L1,\n\t\t$L2;\n\tbrx.idx %r3, $L_t;\n\t}\n$L1:\n";
  const char *const known[] = {
      "\tmov.u32 %r3, 1;\n", table, side, "\tret;\n$L2:\n", side, side, "\tret;\n", NULL};
  const char *const loaded[] = {LOAD_WORD, table, side,       "\tret;\n$L2:\n",
                                side,      side,  "\tret;\n", NULL};
  const double second = instructions_of(known);
  assert_true(second >= 2 * UNIT && second < 3 * UNIT && instructions_of(loaded) >= 3 * UNIT);
}

/* Surveys 1000 blocks, of which those below the limit have work. */
static double working(int limit, uint32_t threads, struct ptx_survey *survey) {
  const int64_t parameters[] = {INT64_C(1) << PTX_BUFFER_SHIFT, limit};
  const struct ptx_launch launch = {.grid = {1000, 1, 1},
                                    .block = {threads, 1, 1},
                                    .parameters = parameters,
                                    .parameter_count = 2};
  FREED(text) text = {0};
  struct ptx_kernel kernel;
  text_addf(
      &text,
      "%s\tmov.u32 %%r3, %%ctaid.x;\n\tsetp.ge.s32 %%p1, %%r3, %%r1;\n\t@%%p1 bra $L1;\n%s%s%s%s",
      head, side, side, side, side);
  text_add(&text, "$L1:\n\tret;\n}\n");
  WORKS(ptx_open(text_get(&text), "k", &kernel, &err));
  WORKS(ptx_survey(&kernel, &machine, &launch, survey, &err));
  ptx_close(&kernel);
  return 1000 * survey->working;
}

TEST(test_idle_blocks) {
  const int limits[] = {1, 32, 333, 999, 1000};
  struct ptx_survey survey;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    assert_int_equal(working(limits[i], 64, &survey) + 0.5, limits[i]);
    assert_true((int)survey.at[0] < limits[i]);
  }
}

/* An idle block's warp executes as many instructions in a block of one warp as in one of many. */
TEST(test_idle_steps) {
  struct ptx_survey one, many;
  working(333, 32, &one);
  working(333, 256, &many);
  assert_true(many.idle > 0);
  assert_true(one.idle == many.idle);
}

/* An instruction that is not known may have several results, the first of which is not kept. */
TEST(test_first_result_left_out) {
  assert_true(counts_of("\tfresh.f32 {_, %f1}, %f2;\n\tret;\n", 32, 0).instructions > 0);
}

TEST(test_refusals) {
  struct ptx_counts counts;
  assert_refused("\tcall.uni f, ();\n\tret;\n",
                 "the kernel calls f, which is not inlined and not followed");
  assert_true(counts_of("\tcall.uni (retval0), vprintf, (param0);\n\tret;\n", 32, 0).instructions >
              100);
  FAILS(walk("$L1:\n\tbra.uni $L1;\n", 32, 0, &counts, &err), CUGEN_ERROR_COMPILE, "does not end");
  FAILS(walk("\tbra $L9;\n", 32, 0, &counts, &err), CUGEN_ERROR_COMPILE, "unknown name '$L9'");
  struct ptx_kernel kernel;
  FAILS(ptx_open("", "k", &kernel, &err), CUGEN_ERROR_COMPILE);
  FAILS(ptx_open(".entry k(", "k", &kernel, &err), CUGEN_ERROR_COMPILE);
  FAILS(ptx_open(".entry k() {", "k", &kernel, &err), CUGEN_ERROR_COMPILE);
}
