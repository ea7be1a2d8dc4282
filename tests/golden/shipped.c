/* The list of cases; see shipped.h. The test golden/coverage names branches of the templates
   that no case reaches. */
#include "shipped.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "gen/config/device_file.h"
#include "gen/template/expand.h"
#include "runtime/model/described.h"

enum { MOST_TUNABLES = 32, MOST_NAME = 64 };

const struct shipped_case shipped_cases[] = {
    /* What a reader of docs/template.md looks for: sizes compiled in; a reference; operations on
       pairs; pitched rows; a choice; a texture and includes; structs of arrays; an operator from
       the config, and two launches; loops in Lua, and constants; a plain .cu; what is fused; a
       struct by value; a tensor map. */
    {"matmul_tiled",
     "configs/matmul.lua",
     "tiled tile=16 pad=1",
     {"dtype=f64", "layout_a=col", "specialize=true"},
     true},
    {"matmul_reference", "configs/matmul.lua", NULL, {"layout_a=col", "pitched=true"}, true},
    {"peak_fma_halves", "configs/peak_fma.lua", "chains", {"dtype=f16"}, true},
    {"copy_element_rows",
     "configs/copy.lua",
     "element",
     {"width=1001", "height=7", "pitched=true"},
     true},
    {"transpose_swizzled",
     "configs/transpose.lua",
     "swizzled tile=32 rows_per_thread=4",
     {"dtype=u16"},
     true},
    {"filter_naive",
     "configs/filter.lua",
     "naive image_in=texture weights_in=shared",
     {"boundary=mirror"},
     true},
    {"particles_records", "configs/particles.lua", "wide group=1 vec=4", {NULL}, true},
    {"reduce_global", "configs/reduce.lua", "global", {"rows=64", "cols=4096", "axis=row"}, true},
    {"features_tree", "tests/configs/features.lua", "tree blocks=8 threads=128", {NULL}, true},
    {"wild", "tests/configs/wild.lua", "wild BLOCK_SIZE=256 ITEMS=4", {NULL}, true},
    {"matmul_naive_epilogue",
     "configs/matmul.lua",
     "naive",
     {"scaled=true", "biased=true", "activation=relu"},
     true},
    {"struct_by_value", "tests/configs/struct.lua", "plain", {NULL}, true},
    {"tensor_map", "tests/configs/tensor.lua", "boxes threads=64", {NULL}, true},

    /* Cases of which the table is enough. */
    {"matmul_naive",
     "configs/matmul.lua",
     "naive block_x=32 block_y=8 columns_along=x",
     {NULL},
     false},
    {"matmul_naive_along_y", "configs/matmul.lua", "naive columns_along=y", {NULL}, false},
    {"matmul_tiled_cols",
     "configs/matmul.lua",
     "tiled tile=16",
     {"layout_b=col", "layout_c=col"},
     false},
    {"matmul_blocked",
     "configs/matmul.lua",
     "blocked",
     {"M=1000", "N=1000", "K=1000", "specialize=true"},
     false},
    {"matmul_blocked_single",
     "configs/matmul.lua",
     "blocked double_buffer=false group=8",
     {"layout_a=col", "layout_b=col", "layout_c=col", "pitched=true"},
     false},
    {"matmul_pipelined",
     "configs/matmul.lua",
     "pipelined BM=64 BN=128 BK=16 TM=8 TN=8",
     {"layout_b=col", "batch=2"},
     false},
    {"matmul_pipelined_f64",
     "configs/matmul.lua",
     "pipelined order=cols group=1",
     {"dtype=f64"},
     false},
    {"matmul_packed",
     "configs/matmul.lua",
     "packed split=2",
     {"M=130", "N=259", "K=37", "batch=2"},
     false},
    {"matmul_packed_b", "configs/matmul.lua", "packed", {"M=130", "N=259", "K=36"}, false},
    {"matmul_epilogue",
     "configs/matmul.lua",
     "pipelined",
     {"layout_c=col", "scaled=true", "biased=true", "activation=relu"},
     false},
    {"matmul_mma",
     "configs/matmul.lua",
     "mma BM=128 BN=256 WM=64 WN=64 k_bytes=64 stages=4 group=8",
     {"dtype=bf16", "layout_c=col"},
     false},
    {"matmul_mma_gelu",
     "configs/matmul.lua",
     "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3",
     {"dtype=f16", "dtype_c=f32", "scaled=true", "biased=true", "activation=gelu"},
     false},
    {"matmul_mma_tf32",
     "configs/matmul.lua",
     "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3",
     {"dtype=tf32", "layout_a=col"},
     false},
    {"matmul_mma_f64_8",
     "configs/matmul.lua",
     "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 f64_rows=8",
     {"dtype=f64"},
     false},
    {"matmul_mma_f64",
     "configs/matmul.lua",
     "mma BM=64 BN=128 WM=32 WN=32 k_bytes=128 group=1 f64_rows=16 f64_k=8",
     {"dtype=f64", "layout_b=col", "batch=3", "K=4095"},
     false},
    {"matmul_wgmma", "configs/matmul.lua", "wgmma", {"dtype=bf16", "layout_b=col"}, false},
    {"matmul_wgmma_right",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 pingpong=false cluster_x=1 order=right deferred=false",
     {"dtype=tf32", "layout_b=col"},
     false},
    {"matmul_wgmma_hilbert",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 pingpong=false cluster_x=1 order=hilbert deferred=false",
     {"dtype=bf16", "layout_b=col"},
     false},
    {"matmul_wgmma_pingpong",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 pingpong=true cluster_x=1 cluster_y=2",
     {"dtype=tf32", "layout_b=col", "layout_c=col"},
     false},
    {"matmul_wgmma_split",
     "configs/matmul.lua",
     "wgmma BM=64 BN=128 consumers=1 pingpong=false cluster_x=1 split_k=3 deferred=false",
     {"dtype=f16", "M=128", "N=1024", "layout_a=col"},
     false},
    {"matmul_wgmma_gelu",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 deferred=true",
     {"dtype=bf16", "layout_b=col", "scaled=true", "biased=true", "activation=gelu"},
     false},
    {"matmul_wgmma_batch",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 deferred=true order=right",
     {"dtype=bf16", "layout_a=col", "batch=3", "biased=true", "activation=gelu"},
     false},
    {"matmul_wgmma_batch_cols",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 pingpong=true cluster_x=1",
     {"dtype=bf16", "layout_c=col", "batch=3"},
     false},
    {"matmul_wgmma_e4m3",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 cluster_x=1 deferred=false promote=4",
     {"dtype=e4m3", "layout_b=col"},
     false},
    {"matmul_wgmma_i8",
     "configs/matmul.lua",
     "wgmma BM=64 BN=128 consumers=1 pingpong=false cluster_x=1 split_k=2 deferred=false",
     {"dtype=i8", "M=128", "N=1024", "layout_b=col", "layout_c=col"},
     false},
    {"matmul_wgmma_padded",
     "configs/matmul.lua",
     "wgmma BM=128 BN=128 cluster_x=1",
     {"dtype=bf16", "M=4095", "N=4095", "K=4095"},
     false},
    {"matmul_wgmma_padded_c",
     "configs/matmul.lua",
     "wgmma_stream BM=128 BN=128",
     {"dtype=f16", "layout_a=col", "M=2048", "N=2047", "K=4096", "batch=1"},
     false},
    {"matmul_mma_split",
     "configs/matmul.lua",
     "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 split=4",
     {"dtype=f16", "M=200", "N=136"},
     false},
    {"matmul_skinny",
     "configs/matmul.lua",
     "skinny units=1 warps_k=8 unroll=2 ahead=true",
     {"dtype=bf16", "layout_b=col", "M=1"},
     false},
    {"matmul_skinny_across",
     "configs/matmul.lua",
     "skinny units=1 warps_k=4 unroll=1 split=2",
     {"dtype=f16", "M=11"},
     false},
    {"matmul_skinny_f32",
     "configs/matmul.lua",
     "skinny units=2 warps_k=8 unroll=1 split=2",
     {"N=3", "layout_c=col"},
     false},
    {"matmul_skinny_f32_across",
     "configs/matmul.lua",
     "skinny units=1 warps_k=8 unroll=1 ahead=true",
     {"M=2"},
     false},
    {"matmul_skinny_tf32",
     "configs/matmul.lua",
     "skinny units=1 warps_k=4 unroll=1",
     {"dtype=tf32", "M=92", "N=4095", "layout_a=col"},
     false},
    {"matmul_wgmma_registers",
     "configs/matmul.lua",
     "wgmma BM=128 BN=256 cluster_x=1 swap=true",
     {"dtype=tf32"},
     false},
    {"matmul_wgmma_stream_registers",
     "configs/matmul.lua",
     "wgmma_stream BM=128 BN=128 cluster_x=1",
     {"dtype=tf32", "layout_a=col", "layout_b=col", "K=4095"},
     false},
    {"matmul_wgmma_swap",
     "configs/matmul.lua",
     "wgmma BM=128 BN=16 cluster_x=1 split_k=2 swap=true deferred=false",
     {"dtype=bf16", "layout_b=col", "M=16"},
     false},
    {"matmul_wgmma_stream",
     "configs/matmul.lua",
     "wgmma_stream cluster_x=2 deferred=false",
     {"dtype=bf16", "layout_b=col", "M=512", "N=512", "K=32768"},
     false},
    {"matmul_wgmma_stream_deferred",
     "configs/matmul.lua",
     "wgmma_stream BM=128 BN=192 deferred=true",
     {"dtype=bf16", "layout_b=col"},
     false},
    {"matmul_wgmma_stream_f32",
     "configs/matmul.lua",
     "wgmma_stream BM=128 BN=128",
     {"dtype=f16", "dtype_c=f32"},
     false},
    {"peak_fma", "configs/peak_fma.lua", "chains", {NULL}, false},
    {"reader", "configs/reader.lua", "stream memory_kind=mapped", {NULL}, false},
    {"copy_element", "configs/copy.lua", "element threads=256", {NULL}, false},
    {"copy_tile",
     "configs/copy.lua",
     "tile rows_per_thread=1",
     {"width=8192", "height=8192"},
     false},
    {"copy_vector",
     "configs/copy.lua",
     "vector access=16 loads=4 threads=256 blocks_per_sm=0",
     {NULL},
     false},
    {"copy_vector_rows",
     "configs/copy.lua",
     "vector access=16 loads=4 blocks_per_sm=2",
     {"dtype=u8", "width=1001", "height=9000", "depth=500", "pitched=true"},
     false},
    {"copy_bulk", "configs/copy.lua", "bulk piece=16384 stages=4 blocks_per_sm=1", {NULL}, false},
    {"copy_bulk_rows",
     "configs/copy.lua",
     "bulk",
     {"width=1001", "height=77", "pitch_x=1004"},
     false},
    {"access", "configs/access.lua", "elements loads=4", {"load_offset=1"}, false},
    {"access_scattered",
     "configs/access.lua",
     "elements loads=1 load_through=l2",
     {"scattered=true", "store_offset=3", "store_stride=2", "dtype=f64"},
     false},
    {"access_broadcast", "configs/access.lua", "elements", {"broadcast=true"}, false},
    {"access_active_lanes", "configs/access.lua", "elements loads=4", {"active_lanes=8"}, false},
    {"access_reference", "configs/access.lua", NULL, {NULL}, false},
    {"access_reference_broadcast", "configs/access.lua", NULL, {"broadcast=true"}, false},
    {"transpose_coalesced_read",
     "configs/transpose.lua",
     "coalesced_read block_x=32 block_y=8",
     {NULL},
     false},
    {"transpose_coalesced_write",
     "configs/transpose.lua",
     "coalesced_write block_x=32 block_y=8",
     {"batch=3"},
     false},
    {"transpose_read_plain", "configs/transpose.lua", "coalesced_read_plain", {NULL}, false},
    {"transpose_read_ldg", "configs/transpose.lua", "coalesced_read_ldg", {NULL}, false},
    {"transpose_padded", "configs/transpose.lua", "padded rows_per_thread=1", {NULL}, false},
    {"transpose_registers", "configs/transpose.lua", "registers access=16", {"dtype=u8"}, false},
    {"transpose_vector",
     "configs/transpose.lua",
     "vector access=16 tile_rows=64 tile_cols=64 down_first=true",
     {NULL},
     false},
    {"transpose_vector_plain", "configs/transpose.lua", "vector bank=plain", {"dtype=f64"}, false},
    {"transpose_vector_wide",
     "configs/transpose.lua",
     "vector access=8 bank=pad",
     {"dtype=f16", "rows=65537", "cols=65539"},
     false},
    {"filter_naive_array",
     "configs/filter.lua",
     "naive image_in=array weights_in=constant",
     {NULL},
     false},
    {"filter_naive_symbol", "configs/filter.lua", "naive weights_in=symbol", {NULL}, false},
    {"filter_tiled",
     "configs/filter.lua",
     "tiled weights_in=global",
     {"boundary=zero", "dtype=f16", "pitched=true"},
     false},
    {"filter_strips",
     "configs/filter.lua",
     "strips ahead=true unrolled=false resident=512",
     {"size=7", "boundary=wrap"},
     false},
    {"filter_strips_global",
     "configs/filter.lua",
     "strips weights_in=global ahead=false",
     {"size=3"},
     false},
    {"filter_strips_shared",
     "configs/filter.lua",
     "strips weights_in=shared ahead=false",
     {"boundary=zero"},
     false},
    {"filter_reference", "configs/filter.lua", NULL, {"boundary=mirror", "pitched=true"}, false},
    {"filter_reference_clamp", "configs/filter.lua", NULL, {NULL}, false},
    {"filter_reference_zero", "configs/filter.lua", NULL, {"boundary=zero"}, false},
    {"particles_groups", "configs/particles.lua", "wide group=32 vec=2", {"dtype=f64"}, false},
    {"particles_arrays", "configs/particles.lua", "plain group=0", {NULL}, false},
    {"reduce_dynamic", "configs/reduce.lua", "dynamic", {"dtype=i32", "op=largest"}, false},
    {"reduce_shuffle",
     "configs/reduce.lua",
     "shuffle",
     {"rows=3000", "axis=col", "cols=1000"},
     false},
    {"reduce_vector", "configs/reduce.lua", "vector", {"dtype=bf16"}, false},
    {"reduce_onepass", "configs/reduce.lua", "onepass loads=plain", {"op=max"}, false},
    {"reduce_rows", "configs/reduce.lua", "rows", {"axis=row", "rows=100000", "cols=100"}, false},
    {"reduce_columns",
     "configs/reduce.lua",
     "columns",
     {"axis=col", "rows=5000", "cols=5000"},
     false},
    {"sum_global", "configs/sum.lua", "global", {NULL}, true},
    {"sum_static", "configs/sum.lua", "static", {NULL}, false},
    {"sum_dynamic", "configs/sum.lua", "dynamic", {NULL}, false},
    {"sum_reference", "configs/sum.lua", NULL, {NULL}, false},
    {"reduce_reference", "configs/reduce.lua", NULL, {"axis=row"}, false},
};
const size_t shipped_count = sizeof shipped_cases / sizeof *shipped_cases;

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

static size_t count_settings(const struct shipped_case *shipped) {
  size_t count = 0;
  while (count < SHIPPED_SETTINGS && shipped->settings[count]) count++;
  return count;
}

void shipped_device(const char *name, struct device_description *out) {
  struct gpu_model model;
  assert_int_equal(device_file_open(NULL, name, &model, NULL), CUGEN_OK);
  described_model(&model, out);
}

bool shipped_expand_for(const struct shipped_case *shipped, const struct device_description *device,
                        struct kernel_spec *out) {
  cugen_error err;
  /* Templates of another commit lie below the working folder (shipped.py); otherwise the
     built-in ones are used. */
  const struct sources sources = {.template_dir = getenv("CUGEN_EXPANSIONS") ? "templates" : NULL};
  struct config *config;
  struct problem problem;
  struct space *space;
  struct expander *expander;
  struct value values[MOST_TUNABLES];
  struct variant variant;
  uint64_t index = 0;
  const struct device_facts *facts = &device->facts;
  check(config_open(&sources, shipped->config, &config, &err), &err);
  check(problem_set(config, shipped->settings, count_settings(shipped), false, &problem, &err),
        &err);
  check(space_open(config, &problem, facts, &space, &err), &err);
  check(expander_open(&sources, &expander, &err), &err);
  assert_true(space_max_tunables(space) <= MOST_TUNABLES);
  const bool has = !shipped->variant || !space_find(space, shipped->variant, &index, &err);
  if (has) space_variant(space, index, &variant, values);
  if (has && shipped->variant)
    check(expand_variant(expander, config, &problem, facts, &variant, out, &err), &err);
  else if (has)
    check(expand_reference(expander, config, &problem, facts, &variant, 0, out, &err), &err);
  expander_close(expander);
  space_close(space);
  problem_free(&problem);
  config_close(config);
  return has;
}

void shipped_expand(const struct shipped_case *shipped, struct kernel_spec *out) {
  struct device_description device;
  shipped_device("H200", &device);
  if (!shipped_expand_for(shipped, &device, out))
    fail_msg("%s: an H200 has no variant '%s'", shipped->name, shipped->variant);
}

/* ---- The table ------------------------------------------------------------------------------ */

bool shipped_is_writing(void) {
  const char *mode = getenv("CUGEN_GOLDEN");
  return mode && strcmp(mode, "write") == 0;
}

bool shipped_row(const char *table, const char *name, struct text *hash, struct text *code) {
  const size_t length = strlen(name);
  for (const char *line = table, *next; *line; line = next) {
    next = line + strcspn(line, "\n");
    next += *next == '\n';
    if (strncmp(line, name, length) != 0 || line[length] != ' ') continue;
    const char *word = line + strspn(line + length, " ") + length;
    const size_t hex = strcspn(word, " \n"), gap = strspn(word + hex, " ");
    text_add_n(hash, word, hex);
    text_add_n(code, word + hex + gap, strcspn(word + hex + gap, "\n"));
    return true;
  }
  return false;
}
