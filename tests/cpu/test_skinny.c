/* Products with few rows or columns (matmul's implementation skinny), and few tiles with a long k
   (mma with a split): every type, both operands by rows and by columns, rows at which wide loads
   may and may not start, ends of lines and of k, blocks that share a tile. */
#include "kernels.h"
#include "tests/testing.h"

/* Bits of the number choose the layouts; each type meets all four of A and B. */
TEST(test_layouts) {
  static const char *const types[] = {"dtype=f32", "dtype=f64", "dtype=tf32", "dtype=f16"};
  static const struct {
    const char *variant, *m, *n, *k;
  } sizes[] = {
      {"skinny units=1 warps_k=2 unroll=1 split=2 ahead=true", "M=11", "N=200", "K=328"},
      {"skinny units=1 warps_x=2 warps_k=1 unroll=1", "M=203", "N=1", "K=137"},
      {"skinny units=2 warps_k=2 unroll=1", "M=70", "N=3", "K=302"},
  };
  for (unsigned number = 0; number < 16; number++) {
    const unsigned size = number % 3, type = number / 4;
    const struct product_run run = {sizes[size].variant,
                                    {types[type], number & 1 ? "layout_a=col" : "layout_a=row",
                                     number & 2 ? "layout_b=col" : "layout_b=row",
                                     (number + type) & 1 ? "layout_c=col" : "layout_c=row",
                                     sizes[size].m, sizes[size].n, sizes[size].k}};
    run_products(*state, &run, 1);
  }
}

TEST(test_others) {
  static const struct product_run runs[] = {
      {"skinny warps_k=2 unroll=1", {"dtype=i8", "M=11", "N=200", "K=520", "layout_b=col"}},
      {"skinny warps_k=2 unroll=1 split=2",
       {"dtype=e4m3", "M=11", "N=200", "K=520", "layout_b=col"}},
      {"skinny warps_k=2 unroll=1 split=2",
       {"dtype=f16", "M=3", "N=100", "K=520", "layout_b=col", "batch=3", "biased=true",
        "activation=relu"}},
      {"skinny warps_k=2 unroll=1 split=2", {"dtype=tf32", "M=92", "N=100", "K=328"}},
      {"skinny warps_k=2 unroll=1", {"dtype=f32", "M=92", "N=18", "K=329", "layout_b=col"}},
      {"naive", {"M=1", "N=1", "K=5"}}, /* C is one element, and nearly 0 */
      {"skinny warps_k=2 unroll=1",
       {"dtype=tf32", "M=2", "N=1", "K=34", "layout_b=col", "layout_c=col", "activation=relu"}},
      {"skinny warps_k=4 unroll=2 ahead=true", /* specialised, pitched */
       {"dtype=bf16", "M=1", "N=70", "K=2000", "specialize=true", "pitched=true"}},
  };
  RUN_PRODUCTS(runs);
}

TEST(test_split) {
  static const struct product_run runs[] = {
      {"mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 split=3",
       {"dtype=bf16", "M=131", "N=100", "K=1101", "layout_c=col"}},
      {"mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 split=2",
       {"dtype=tf32", "M=70", "N=132", "K=331", "layout_b=col"}},
      {"mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 split=2",
       {"dtype=f64", "M=70", "N=66", "K=131"}},
      {"mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 split=2",
       {"dtype=i8", "M=70", "N=66", "K=528", "layout_b=col", "batch=2"}},
      {"mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=3 split=3",
       {"dtype=f16", "M=71", "N=66", "K=520", "scaled=true", "activation=gelu"}},
  };
  RUN_PRODUCTS(runs);
}

ALL_TESTS_WITH(open_library, close_library);
