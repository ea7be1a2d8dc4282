/* The list of cases; see shipped.h. The test golden/coverage names branches of the templates
   that no case reaches. */
#include "shipped.h"

#include "base/system.h"
#include "gen/config/device_file.h"
#include "gen/template/expand.h"
#include "runtime/model/described.h"
#include "tests/testing.h"

enum { MOST_TUNABLES = 32, MOST_SETTINGS = 8 };

#define KEPT(...)                                                                                  \
  { __VA_ARGS__, true }
#define HASHED(...)                                                                                \
  { __VA_ARGS__, false }

const struct shipped_case shipped_cases[] = {
    /* What a reader of docs/template.md looks for: a reference; a choice; loops in Lua, constants
       and two launches; a struct by value; a tensor map. */
    KEPT("matmul_reference", "matmul", NULL, "layout_a=col pitched=true"),
    KEPT("transpose_swizzled", "transpose", "swizzled tile=32 rows_per_thread=4", "dtype=u16"),
    KEPT("features_tree", "tests/configs/features.lua", "tree blocks=8 threads=128", ""),
    KEPT("struct_by_value", "tests/configs/struct.lua", "plain", ""),
    KEPT("tensor_map", "tests/configs/tensor.lua", "boxes threads=64", ""),

    /* Cases of which the table is enough. */
    HASHED("peak_fma_halves", "peak_fma", "chains", "dtype=f16"),
    HASHED("copy_element_rows", "copy", "element", "width=1001 height=7 pitched=true"),
    HASHED("wild", "tests/configs/wild.lua", "wild BLOCK_SIZE=256 ITEMS=4", ""),
    HASHED("matmul_naive_epilogue", "matmul", "naive", "scaled=true biased=true activation=relu"),
    HASHED("reduce_global", "reduce", "global", "rows=64 cols=4096 axis=row"),
    HASHED("particles_records", "particles", "wide group=1 vec=4", ""),
    HASHED("matmul_tiled", "matmul", "tiled tile=16 pad=1",
           "dtype=f64 layout_a=col specialize=true"),
    HASHED("filter_naive", "filter", "naive image_in=texture weights_in=shared", "boundary=mirror"),
    HASHED("matmul_naive", "matmul", "naive block_x=32 block_y=8 columns_along=x", ""),
    HASHED("matmul_naive_along_y", "matmul", "naive columns_along=y", ""),
    HASHED("matmul_tiled_cols", "matmul", "tiled tile=16", "layout_b=col layout_c=col"),
    HASHED("matmul_blocked", "matmul", "blocked", "M=1000 N=1000 K=1000 specialize=true"),
    HASHED("matmul_blocked_single", "matmul", "blocked double_buffer=false group=8",
           "layout_a=col layout_b=col layout_c=col pitched=true"),
    HASHED("matmul_pipelined", "matmul", "pipelined BM=64 BN=128 BK=16 TM=8 TN=8",
           "layout_b=col batch=2"),
    HASHED("matmul_pipelined_f64", "matmul", "pipelined order=cols group=1", "dtype=f64"),
    HASHED("matmul_pipelined_small", "matmul",
           "pipelined BM=48 BN=64 BK=16 TM=12 TN=4 lanes_m=2 group=1 split=2",
           "M=138 N=2602 K=6450"),
    HASHED("matmul_packed", "matmul", "packed split=2", "M=130 N=259 K=37 batch=2"),
    HASHED("matmul_packed_b", "matmul", "packed", "M=130 N=259 K=36"),
    HASHED("matmul_epilogue", "matmul", "pipelined",
           "layout_c=col scaled=true biased=true activation=relu"),
    HASHED("matmul_mma", "matmul", "mma BM=128 BN=256 WM=64 WN=64 k_bytes=64 stages=4 group=8",
           "dtype=bf16 layout_c=col"),
    HASHED("matmul_mma_gelu", "matmul", "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3",
           "dtype=f16 dtype_c=f32 scaled=true biased=true activation=gelu"),
    HASHED("matmul_mma_tf32", "matmul", "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3",
           "dtype=tf32 layout_a=col"),
    HASHED("matmul_mma_f64_8", "matmul",
           "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 f64_rows=8", "dtype=f64"),
    HASHED("matmul_mma_f64", "matmul",
           "mma BM=64 BN=128 WM=32 WN=32 k_bytes=128 group=1 f64_rows=16 f64_k=8",
           "dtype=f64 layout_b=col batch=3 K=4095"),
    HASHED("matmul_mma_f64_small", "matmul",
           "mma BM=64 BN=32 WM=32 WN=16 k_bytes=256 stages=3 f64_rows=16",
           "dtype=f64 layout_b=col M=497 N=467 K=481"),
    HASHED(
        "matmul_wgmma_four", "matmul",
        "wgmma BM=64 BN=80 consumers=1 pingpong=false cluster_x=4 cluster_y=1 split_k=1 swap=false",
        "dtype=bf16 layout_b=col M=240 N=1760 K=2472"),
    HASHED("matmul_wgmma", "matmul", "wgmma", "dtype=bf16 layout_b=col"),
    HASHED("matmul_wgmma_right", "matmul",
           "wgmma BM=128 BN=128 pingpong=false cluster_x=1 order=right deferred=false",
           "dtype=tf32 layout_b=col"),
    HASHED("matmul_wgmma_hilbert", "matmul",
           "wgmma BM=128 BN=128 pingpong=false cluster_x=1 order=hilbert deferred=false",
           "dtype=bf16 layout_b=col"),
    HASHED("matmul_wgmma_pingpong", "matmul",
           "wgmma BM=128 BN=128 pingpong=true cluster_x=1 cluster_y=2",
           "dtype=tf32 layout_b=col layout_c=col"),
    HASHED("matmul_wgmma_split", "matmul",
           "wgmma BM=64 BN=128 consumers=1 pingpong=false cluster_x=1 split_k=3 deferred=false",
           "dtype=f16 M=128 N=1024 layout_a=col"),
    HASHED("matmul_wgmma_gelu", "matmul", "wgmma BM=128 BN=128 deferred=true",
           "dtype=bf16 layout_b=col scaled=true biased=true activation=gelu"),
    HASHED("matmul_wgmma_batch", "matmul", "wgmma BM=128 BN=128 deferred=true order=right",
           "dtype=bf16 layout_a=col batch=3 biased=true activation=gelu"),
    HASHED("matmul_wgmma_batch_cols", "matmul", "wgmma BM=128 BN=128 pingpong=true cluster_x=1",
           "dtype=bf16 layout_c=col batch=3"),
    HASHED("matmul_wgmma_e4m3", "matmul",
           "wgmma BM=128 BN=128 cluster_x=1 deferred=false promote=4", "dtype=e4m3 layout_b=col"),
    HASHED("matmul_wgmma_i8", "matmul",
           "wgmma BM=64 BN=128 consumers=1 pingpong=false cluster_x=1 split_k=2 deferred=false",
           "dtype=i8 M=128 N=1024 layout_b=col layout_c=col"),
    HASHED("matmul_wgmma_padded", "matmul", "wgmma BM=128 BN=128 cluster_x=1",
           "dtype=bf16 M=4095 N=4095 K=4095"),
    HASHED("matmul_wgmma_padded_c", "matmul", "wgmma_stream BM=128 BN=128",
           "dtype=f16 layout_a=col M=2048 N=2047 K=4096 batch=1"),
    HASHED("matmul_mma_split", "matmul", "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 split=4",
           "dtype=f16 M=200 N=136"),
    HASHED("matmul_skinny", "matmul", "skinny units=1 warps_k=8 unroll=2 ahead=true",
           "dtype=bf16 layout_b=col M=1"),
    HASHED("matmul_skinny_across", "matmul", "skinny units=1 warps_k=4 unroll=1 split=2",
           "dtype=f16 M=11"),
    HASHED("matmul_skinny_f32", "matmul", "skinny units=2 warps_k=8 unroll=1 split=2",
           "N=3 layout_c=col"),
    HASHED("matmul_skinny_f32_across", "matmul", "skinny units=1 warps_k=8 unroll=1 ahead=true",
           "M=2"),
    HASHED("matmul_skinny_tf32", "matmul", "skinny units=1 warps_k=4 unroll=1",
           "dtype=tf32 M=92 N=4095 layout_a=col"),
    HASHED("matmul_wgmma_registers", "matmul", "wgmma BM=128 BN=256 cluster_x=1 swap=true",
           "dtype=tf32"),
    HASHED("matmul_wgmma_stream_registers", "matmul", "wgmma_stream BM=128 BN=128 cluster_x=1",
           "dtype=tf32 layout_a=col layout_b=col K=4095"),
    HASHED("matmul_wgmma_swap", "matmul",
           "wgmma BM=128 BN=16 cluster_x=1 split_k=2 swap=true deferred=false",
           "dtype=bf16 layout_b=col M=16"),
    HASHED("matmul_wgmma_stream", "matmul", "wgmma_stream cluster_x=2 deferred=false",
           "dtype=bf16 layout_b=col M=512 N=512 K=32768"),
    HASHED("matmul_wgmma_stream_deferred", "matmul", "wgmma_stream BM=128 BN=192 deferred=true",
           "dtype=bf16 layout_b=col"),
    HASHED("matmul_wgmma_stream_f32", "matmul", "wgmma_stream BM=128 BN=128",
           "dtype=f16 dtype_c=f32"),
    HASHED("peak_fma", "peak_fma", "chains", ""),
    HASHED("reader", "reader", "stream memory_kind=mapped", ""),
    HASHED("copy_element", "copy", "element threads=256", ""),
    HASHED("copy_tile", "copy", "tile rows_per_thread=1", "width=8192 height=8192"),
    HASHED("copy_vector", "copy", "vector access=16 loads=4 threads=256 blocks_per_sm=0", ""),
    HASHED("copy_vector_rows", "copy", "vector access=16 loads=4 blocks_per_sm=2",
           "dtype=u8 width=1001 height=9000 depth=500 pitched=true"),
    HASHED("copy_bulk", "copy", "bulk piece=16384 stages=4 blocks_per_sm=1", ""),
    HASHED("copy_bulk_rows", "copy", "bulk", "width=1001 height=77 pitch_x=1004"),
    HASHED("access", "access", "elements loads=4", "load_offset=1"),
    HASHED("access_scattered", "access", "elements loads=1 load_through=l2",
           "scattered=true store_offset=3 store_stride=2 dtype=f64"),
    HASHED("access_broadcast", "access", "elements", "broadcast=true"),
    HASHED("access_active_lanes", "access", "elements loads=4", "active_lanes=8"),
    HASHED("access_reference", "access", NULL, ""),
    HASHED("access_reference_broadcast", "access", NULL, "broadcast=true"),
    HASHED("transpose_coalesced_read", "transpose", "coalesced_read block_x=32 block_y=8", ""),
    HASHED("transpose_coalesced_write", "transpose", "coalesced_write block_x=32 block_y=8",
           "batch=3"),
    HASHED("transpose_read_plain", "transpose", "coalesced_read_plain", ""),
    HASHED("transpose_read_ldg", "transpose", "coalesced_read_ldg", ""),
    HASHED("transpose_padded", "transpose", "padded rows_per_thread=1", ""),
    HASHED("transpose_registers", "transpose", "registers access=16", "dtype=u8"),
    HASHED("transpose_vector", "transpose",
           "vector access=16 tile_rows=64 tile_cols=64 down_first=true", ""),
    HASHED("transpose_vector_plain", "transpose", "vector bank=plain", "dtype=f64"),
    HASHED("transpose_vector_wide", "transpose", "vector access=8 bank=pad",
           "dtype=f16 rows=65537 cols=65539"),
    HASHED("filter_naive_array", "filter", "naive image_in=array weights_in=constant", ""),
    HASHED("filter_naive_symbol", "filter", "naive weights_in=symbol", ""),
    HASHED("filter_tiled", "filter", "tiled weights_in=global",
           "boundary=zero dtype=f16 pitched=true"),
    HASHED("filter_strips", "filter", "strips ahead=true unrolled=false resident=512",
           "size=7 boundary=wrap"),
    HASHED("filter_strips_global", "filter", "strips weights_in=global ahead=false", "size=3"),
    HASHED("filter_strips_shared", "filter", "strips weights_in=shared ahead=false",
           "boundary=zero"),
    HASHED("filter_reference", "filter", NULL, "boundary=mirror pitched=true"),
    HASHED("filter_reference_clamp", "filter", NULL, ""),
    HASHED("filter_reference_zero", "filter", NULL, "boundary=zero"),
    HASHED("particles_groups", "particles", "wide group=32 vec=2", "dtype=f64"),
    HASHED("particles_arrays", "particles", "plain group=0", ""),
    HASHED("reduce_dynamic", "reduce", "dynamic", "dtype=i32 op=largest"),
    HASHED("reduce_shuffle", "reduce", "shuffle", "rows=3000 axis=col cols=1000"),
    HASHED("reduce_vector", "reduce", "vector", "dtype=bf16"),
    HASHED("reduce_onepass", "reduce", "onepass loads=plain", "op=max"),
    HASHED("reduce_rows", "reduce", "rows", "axis=row rows=100000 cols=100"),
    HASHED("reduce_columns", "reduce", "columns", "axis=col rows=5000 cols=5000"),
    KEPT("sum_global", "sum", "global", ""),
    HASHED("sum_static", "sum", "static", ""),
    HASHED("sum_dynamic", "sum", "dynamic", ""),
    HASHED("sum_reference", "sum", NULL, ""),
    HASHED("reduce_reference", "reduce", NULL, "axis=row"),
};
const size_t shipped_count = sizeof shipped_cases / sizeof *shipped_cases;

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
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
  CLOSED(config) *config;
  FREED(problem) problem;
  CLOSED(space) *space;
  struct expander *expander;
  struct value values[MOST_TUNABLES];
  struct variant variant;
  uint64_t index = 0;
  const struct device_facts *facts = &device->facts;
  char path[64], words[128], *next = NULL;
  const char *settings[MOST_SETTINGS];
  size_t count = 0;
  const bool ships = !strchr(shipped->config, '/');
  snprintf(path, sizeof path, ships ? "configs/%s.lua" : "%s", shipped->config);
  snprintf(words, sizeof words, "%s", shipped->settings);
  for (char *at = strtok_r(words, " ", &next); at; at = strtok_r(NULL, " ", &next))
    settings[count++] = at;
  check(config_open(&sources, path, &config, &err), &err);
  check(problem_set(config, settings, count, false, &problem, &err), &err);
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
