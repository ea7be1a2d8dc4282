/* The product on Hopper's tensor cores (matmul's implementations wgmma and wgmma_stream): tensor
   maps, clusters, mbarriers and wgmma on the cpu device. cpu/shipped reaches every branch of the
   templates. */
#include "kernels.h"
#include "tests/testing.h"

TEST(test_runs) {
  run_section(*state, "wgmma");
}

ALL_TESTS_WITH(open_library, close_library);
