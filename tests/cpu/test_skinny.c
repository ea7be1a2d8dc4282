/* Products with few rows or columns (matmul's implementation skinny), and few tiles with a long k
   (mma with a split). */
#include "kernels.h"
#include "tests/testing.h"

TEST(test_runs) {
  run_section(*state, "skinny");
}

ALL_TESTS_WITH(open_library, close_library);
