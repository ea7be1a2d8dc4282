/* The shipped templates on the cpu device compute what their references compute: in every
   layout, for sizes that tiles divide and do not divide, aligned for wide loads and not. */
#include "kernels.h"
#include "tests/testing.h"

TEST(test_runs) {
  run_section(*state, "templates");
}

ALL_TESTS_WITH(open_library, close_library);
