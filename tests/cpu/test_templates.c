/* The shipped templates on the cpu device compute what their references compute: in every
   layout, for sizes that tiles divide and do not divide, aligned for wide loads and not. */
#include <stdio.h>

#include "kernels.h"
#include "tests/testing.h"

enum { SETTINGS = 9 };

/* ---- matmul --------------------------------------------------------------------------------- */

/* Variants in f32 and in f64. Width and padding are the first that type and layouts allow. */
static const char *const blocked[][2] = {
    {"blocked BM=64 BN=64 BK=8 TM=8 TN=8 double_buffer=true group=8 min_blocks=1",
     "blocked BM=64 BN=64 BK=8 TM=8 TN=4 double_buffer=true group=8 min_blocks=1"},
    {"blocked BM=64 BN=128 BK=16 TM=8 TN=8 double_buffer=false group=1 min_blocks=1",
     "blocked BM=64 BN=128 BK=16 TM=8 TN=4 double_buffer=false group=1 min_blocks=1"},
    {"blocked BM=128 BN=64 BK=8 TM=8 TN=8 vec=1 double_buffer=true group=1 min_blocks=1",
     "blocked BM=64 BN=64 BK=8 TM=4 TN=8 vec=1 double_buffer=true group=1 min_blocks=1"},
    {"blocked BM=64 BN=64 BK=32 TM=4 TN=4 vec=2 double_buffer=false group=8 min_blocks=1",
     "blocked BM=64 BN=64 BK=16 TM=4 TN=8 vec=1 double_buffer=false group=8 min_blocks=1"},
};

/* Each variant is valid in both types. The block copies tiles in several ways, all at once and
   one after the other. */
static const char *const pipelined[] = {
    "pipelined BM=64 BN=64 BK=8 TM=8 TN=8 lanes_m=4 order=rows bursts=1 stages=3 group=1",
    "pipelined BM=64 BN=128 BK=16 TM=8 TN=8 lanes_m=8 order=cols bursts=7 stages=3 group=8",
    "pipelined BM=128 BN=64 BK=8 TM=8 TN=8 lanes_m=4 order=rows bursts=7 stages=4 group=8",
    "pipelined BM=128 BN=64 BK=16 TM=8 TN=8 lanes_m=8 order=cols bursts=1 stages=3 group=1",
};

/* Parts of K, also more parts than tiles; operands copied to aligned rows, one or both. */
static const char *const parts[] = {
    "pipelined BM=64 BN=64 BK=16 TM=8 TN=8 lanes_m=8 order=rows bursts=7 stages=4 group=8 split=2",
    "packed BM=64 BN=128 BK=16 TM=8 TN=8 lanes_m=4 bursts=1 stages=3 group=1 split=1",
    "pipelined BM=64 BN=64 BK=16 TM=8 TN=8 lanes_m=4 order=cols bursts=7 stages=4 group=8 split=2",
    "packed BM=64 BN=128 BK=8 TM=8 TN=8 lanes_m=8 bursts=1 stages=3 group=1 split=2",
};

static const char *const simple[] = {
    "naive block_x=16 block_y=8 columns_along=x",
    "tiled tile=16 pad=0",
    "naive block_x=32 block_y=4 columns_along=y",
    "tiled tile=8 pad=1",
};

/* Odd sizes, whole tiles, aligned tiles; ragged aligned sizes; a k shorter than a tile; more
   than one row group. */
static const struct {
  const char *m, *n, *k;
} sizes[] = {
    {"M=131", "N=260", "K=37"}, {"M=128", "N=256", "K=64"}, {"M=68", "N=132", "K=36"},
    {"M=67", "N=63", "K=3"},    {"M=577", "N=130", "K=17"},
};

/* Bits of a number choose the layouts. In these four each two matrices meet in all four ways. */
static const unsigned layouts[] = {0, 3, 5, 6};

static unsigned in_f64(unsigned number) {
  return number >> 1 & 1;
}

static void run_matmul(cugen *lib, unsigned number, size_t size, const char *variant) {
  const char *settings[SETTINGS] = {number & 1 ? "layout_a=col" : "layout_a=row",
                                    number & 2 ? "layout_b=col" : "layout_b=row",
                                    number & 4 ? "layout_c=col" : "layout_c=row",
                                    in_f64(number) ? "dtype=f64" : "dtype=f32",
                                    (number ^ number >> 1) & 1 ? "pitched=true" : "pitched=false",
                                    (number ^ number >> 2) & 1 ? "specialize=true"
                                                               : "specialize=false",
                                    sizes[size].m,
                                    sizes[size].n,
                                    sizes[size].k};
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, "configs/matmul.lua", settings, SETTINGS);
  run_variant(kernel, variant);
}

TEST(test_blocked) {
  for (unsigned i = 0; i < 4; i++)
    run_matmul(*state, layouts[i], i, blocked[i][in_f64(layouts[i])]);
}

TEST(test_pipelined) {
  for (unsigned i = 0; i < 4; i++) run_matmul(*state, layouts[i], i + 1, pipelined[i]);
}

/* Sizes whose M and K are odd, so that A is copied to aligned rows in either layout. */
TEST(test_parts_and_packed) {
  static const size_t odd[] = {0, 3, 4};
  for (unsigned i = 0; i < 4; i++) run_matmul(*state, layouts[i], odd[i % 3], parts[i]);
}

/* 16-bit types are added in f32 and stored as that type or f32; tf32 is stored as f32. */
TEST(test_matmul_types) {
  static const char *const types[][2] = {{"dtype=f16", "dtype_c=default"},
                                         {"dtype=f16", "dtype_c=f32"},
                                         {"dtype=bf16", "dtype_c=default"},
                                         {"dtype=bf16", "dtype_c=f32"},
                                         {"dtype=tf32", "dtype_c=default"}};
  for (unsigned i = 0; i < 5; i++) {
    const char *settings[] = {types[i][0],
                              types[i][1],
                              i & 1 ? "layout_a=col" : "layout_a=row",
                              i & 2 ? "layout_b=col" : "layout_b=row",
                              i % 3 ? "layout_c=col" : "layout_c=row",
                              i & 4 ? "pitched=true" : "pitched=false",
                              "M=67",
                              "N=70",
                              "K=77"};
    CLOSED(cugen_kernel) *kernel = open_kernel(*state, "configs/matmul.lua", settings, 9);
    run_variant(kernel, simple[i % 4]);
  }
}

/* Each product of a batch has its own operands and its own part of C, in every layout. */
TEST(test_batch) {
  const char *const variants[] = {"naive block_x=16 block_y=8 columns_along=x",
                                  "tiled tile=16 pad=0",
                                  blocked[0][0],
                                  pipelined[0],
                                  parts[0],
                                  parts[3]};
  for (unsigned i = 0; i < 6; i++) {
    const unsigned lie = i * 5 % 8;
    const char *settings[] = {lie & 1 ? "layout_a=col" : "layout_a=row",
                              lie & 2 ? "layout_b=col" : "layout_b=row",
                              lie & 4 ? "layout_c=col" : "layout_c=row",
                              lie & 1 ? "pitched=false" : "pitched=true",
                              "batch=3",
                              "scaled=true",
                              "M=67",
                              "N=70",
                              "K=17"};
    CLOSED(cugen_kernel) *kernel = open_kernel(*state, "configs/matmul.lua", settings, 9);
    run_variant(kernel, variants[i]);
  }
}

/* The epilogue of an element of the sum, with its row and its column. */
TEST(test_epilogue) {
  for (unsigned i = 0; i < 4; i++) {
    const char *settings[] = {i & 1 ? "layout_c=col" : "layout_c=row",
                              i & 2 ? "dtype=f64" : "dtype=f32",
                              i == 3 ? "scaled=false" : "scaled=true",
                              i == 2 ? "biased=false" : "biased=true",
                              i & 1 ? "activation=relu" : "activation=gelu",
                              "M=67",
                              "N=129",
                              "K=33"};
    CLOSED(cugen_kernel) *kernel = open_kernel(*state, "configs/matmul.lua", settings, 8);
    run_variant(kernel, i == 0 ? "tiled tile=16 pad=0" : i == 3 ? pipelined[0] : parts[0]);
  }
}

/* ---- reader --------------------------------------------------------------------------------- */

/* In every kind of memory: less than a load, a full chunk, one element more, more passes than
   chunks. */
TEST(test_reader) {
  static const char *const kinds[] = {"device", "managed", "pinned", "mapped", "registered"};
  static const char *const sizes_read[][3] = {{"n=1", "passes=1", "chunk=4096"},
                                              {"n=4096", "passes=5", "chunk=4096"},
                                              {"n=20481", "passes=2", "chunk=2048"},
                                              {"n=9999", "passes=7", "chunk=36"}};
  for (size_t i = 0; i < 5; i++) {
    const char *const *read = sizes_read[i % 4];
    const char *settings[] = {read[0], read[1], read[2], i < 4 ? "dtype=f32" : "dtype=f64"};
    char variant[80];
    CLOSED(cugen_kernel) *kernel = open_kernel(*state, "configs/reader.lua", settings, 4);
    snprintf(variant, sizeof variant, "stream memory_kind=%s vec=%d loads=%d", kinds[i % 5],
             i < 4 ? 4 : 2, i % 3 ? 4 : 1);
    run_variant(kernel, variant);
  }
}

ALL_TESTS_WITH(open_library, close_library);
