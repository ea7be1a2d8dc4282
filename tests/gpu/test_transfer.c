/* Transfers on a real GPU: every kind of memory, both directions, odd sizes too. If other bytes
   arrive than were sent, the measurement fails. */
#include "api/transfer.h"
#include "tests/opening.h"

enum { SIZES = 4 };

TEST(test_all_kinds) {
  static const int64_t sizes[SIZES] = {1, 4099, 1 << 20, (1 << 24) - 5};
  cugen_transfer_options options = {0};
  cugen_transfer result;
  CLOSED(cugen) *lib = OPEN_LIBRARY(.cache = "none");
  const char *why;
  cugen_devices(lib, NULL, 0, &why);
  if (why) {
    printf("skipped: %s\n", why);
    exit(77);
  }
  options.sizes = sizes;
  options.size_count = SIZES;
  options.seconds = 0.01;
  WORKS(api_transfer_measure(lib, &options, &result, &err));
  size_t measured = 0;
  for (size_t i = 0; i < result.count; i++) {
    const cugen_transfer_row *row = &result.rows[i];
    if (row->unavailable) printf("%s: %s\n", row->memory, row->unavailable);
    measured += !row->unavailable;
    assert_true(row->unavailable || (row->seconds > 0 && row->alone > 0));
  }
  /* a device without managed memory lacks two of the kinds */
  assert_true(measured >= (size_t)7 * 2 * SIZES);
}
