/* The product on Hopper's tensor cores (matmul's implementations wgmma and wgmma_stream): tensor
   maps, clusters, mbarriers and wgmma on the cpu device. Every type, ragged edges, the ways to share
   the work. cpu/shipped reaches every branch of the templates. */

#include "kernels.h"
#include "tests/testing.h"

static const char small[] = "wgmma BM=64 BN=64 consumers=1 cluster_x=1 split_k=1 swap=false";

/* Each type but bf16, which the layouts have, with an epilogue or padded rows in turn. */
TEST(test_types) {
  static const struct product_run runs[] = {
      {small, {"dtype=f16", "dtype_c=f32", "M=131", "N=140", "K=200", "pitched=true"}},
      {small,
       {"dtype=tf32", "layout_b=col", "M=131", "N=140", "K=68", "scaled=true", "biased=true"}},
      {small, {"dtype=e4m3", "layout_b=col", "M=131", "N=133", "K=271", "scaled=true"}},
      {small, {"dtype=e5m2", "layout_b=col", "M=131", "N=136", "K=272", "dtype_c=f32"}},
      {small,
       {"dtype=i8", "dtype_c=f32", "layout_b=col", "M=131", "N=140", "K=272", "biased=true",
        "activation=gelu"}},
      {"wgmma promote=1 deferred=false", {"dtype=e4m3", "layout_b=col", "M=64", "N=128", "K=528"}},
  };
  RUN_PRODUCTS(runs);
}

/* tf32 with one operand across k, which passes through registers: each of the two, in C's rows and
   columns, with every way to share the work. */
TEST(test_registers) {
  static const struct product_run runs[] = {
      {"wgmma BM=128 BN=64 consumers=2 cluster_x=1 swap=true",
       {"dtype=tf32", "M=131", "N=140", "K=68", "scaled=true", "biased=true"}},
      {"wgmma BM=64 BN=64 consumers=1 cluster_x=1 swap=true", /* padded */
       {"dtype=tf32", "M=131", "N=141", "K=69"}},
      {"wgmma BM=64 BN=128 consumers=1 cluster_x=2",
       {"dtype=tf32", "M=131", "N=140", "K=68", "layout_c=col"}},
      {"wgmma BM=256 BN=64 consumers=2 cluster_x=1 cluster_y=2",
       {"dtype=tf32", "M=132", "N=140", "K=68", "layout_a=col", "layout_b=col"}},
      {"wgmma BM=128 BN=64 consumers=2 cluster_x=1 split_k=2 swap=true",
       {"dtype=tf32", "M=132", "N=60", "K=400", "layout_a=col", "layout_b=col", "layout_c=col"}},
      {"wgmma BM=128 BN=64 consumers=2 pingpong=true cluster_x=1 swap=true",
       {"dtype=tf32", "M=132", "N=140", "K=200", "batch=2"}},
      {"wgmma_stream BM=128 BN=128 cluster_x=1",
       {"dtype=tf32", "M=120", "N=120", "K=1100", "layout_a=col", "layout_b=col"}},
  };
  RUN_PRODUCTS(runs);
}

/* Bits of the number choose the layouts, so that each two matrices meet in all four ways; the
   shapes of tiles alternate. */
TEST(test_layouts) {
  static const struct {
    unsigned number;
    const char *variant;
  } rows[] = {
      {0, "wgmma BM=64 BN=128 consumers=1 cluster_x=2 split_k=1 swap=false"},
      {3, "wgmma BM=128 BN=64 consumers=2 cluster_x=1 cluster_y=2 split_k=1 swap=false"},
      {5, "wgmma BM=128 BN=64 consumers=2 pingpong=true cluster_x=1 split_k=1 swap=false"},
      {6, "wgmma BM=192 BN=64 consumers=3 cluster_x=1 split_k=1 swap=false"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const unsigned number = rows[i].number;
    const struct product_run run = {
        rows[i].variant,
        {"dtype=bf16", "M=264", "N=200", "K=136", number & 1 ? "layout_a=col" : "layout_a=row",
         number & 2 ? "layout_b=col" : "layout_b=row", number & 4 ? "layout_c=col" : "layout_c=row",
         number & 1 ? "pitched=true" : "pitched=false"}};
    run_products(*state, &run, 1);
  }
}

/* Ways to share the work and to store, batches, rows that are no multiple of 16 bytes. */
TEST(test_work) {
  static const struct product_run runs[] = {
      {"wgmma BM=64 BN=128 consumers=1 cluster_x=1 split_k=2",
       {"dtype=bf16", "M=71", "N=243", "K=519", "scaled=true", "activation=gelu"}},
      {"wgmma BM=128 BN=128 consumers=2 cluster_x=2 split_k=3",
       {"dtype=i8", "layout_b=col", "M=250", "N=128", "K=784"}},
      {"wgmma BM=64 BN=16 consumers=1 cluster_x=1 cluster_y=1 swap=false order=hilbert group=8",
       /* square tiles, and single columns and rows beside them */
       {"dtype=bf16", "layout_b=col", "M=600", "N=328", "K=72"}},
      {"wgmma swap=true BM=128 BN=48 split_k=2", {"dtype=bf16", "M=40", "N=264", "K=264"}},
      {"wgmma swap=true BM=192 BN=112 consumers=3",
       {"dtype=f16", "layout_a=col", "layout_b=col", "layout_c=col", "M=264", "N=104", "K=136"}},
      {"wgmma BM=128 BN=64 consumers=2 cluster_x=2 cluster_y=2 deferred=false",
       {"dtype=bf16", "M=201", "N=261", "K=135", "batch=2", "biased=true", "scaled=true"}},
      {"wgmma BM=128 BN=64 consumers=2 pingpong=true cluster_x=1 order=right",
       {"dtype=f16", "M=200", "N=136", "K=136", "batch=3", "layout_c=col", "biased=true",
        "pitched=true"}},
      {"wgmma BM=64 BN=176 consumers=1 store_buffers=2 order=right group=4",
       {"dtype=bf16", "layout_b=col", "M=330", "N=372", "K=72"}},
  };
  RUN_PRODUCTS(runs);
}

/* Tiles in parts: with and without whole tiles after them, parts that continue in the next tile,
   a tile in eight parts, with equal and with different numbers of clusters for each tile. */
TEST(test_streams) {
  static const struct product_run runs[] = {
      {"wgmma_stream BM=128 BN=128 cluster_x=1 deferred=true",
       {"dtype=bf16", "layout_b=col", "M=840", "N=264", "K=424", "biased=true"}},
      {"wgmma_stream BM=128 BN=128 cluster_x=1",
       {"dtype=tf32", "layout_b=col", "M=120", "N=120", "K=1100", "pitched=true"}},
      {"wgmma_stream BM=128 BN=128 cluster_x=1 aligned=true",
       {"dtype=bf16", "layout_b=col", "M=1100", "N=136", "K=1048", "activation=gelu"}},
      {"wgmma_stream BM=128 BN=128 cluster_x=2 aligned=true",
       {"dtype=f16", "M=200", "N=119", "K=1104", "scaled=true"}},
  };
  RUN_PRODUCTS(runs);
}

ALL_TESTS_WITH(open_library, close_library);
