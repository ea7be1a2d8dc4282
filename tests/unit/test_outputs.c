/* Outputs of a variant, bit for bit: as text and as fields. */
#include "base/results.h"
#include "tests/testing.h"

static const struct {
  const char *text;
  cugen_outputs outputs;
} good[] = {
    {"", {0, 0, 0, 0}},
    {"1 0123456789abcdef", {1, 0, 1, 0x0123456789abcdef}},
    {"0 0000000000000000", {1, 0, 0, 0}},
    {"18446744073709551615 ffffffffffffffff", {1, 0, UINT64_MAX, UINT64_MAX}},
    {"7 varies", {1, 1, 7, 0}},
};

TEST(what_is_printed_is_parsed) {
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    char text[OUTPUTS_TEXT];
    cugen_outputs got;
    assert_int_equal(outputs_text(&good[i].outputs, text, sizeof text), strlen(good[i].text));
    assert_string_equal(text, good[i].text);
    assert_true(outputs_parse(text, &got));
    assert_memory_equal(&got, &good[i].outputs, sizeof got);
  }
}

TEST(a_short_buffer_has_the_beginning) {
  char text[4];
  assert_int_equal(outputs_text(&good[1].outputs, text, sizeof text), 18);
  assert_string_equal(text, "1 0");
  assert_int_equal(outputs_text(NULL, text, sizeof text), 0);
}

TEST(what_is_no_such_text_is_not_known) {
  static const char *const bad[] = {"1",
                                    " ",
                                    "varies",
                                    "1 ",
                                    " 1 0123456789abcdef",
                                    "-1 0123456789abcdef",
                                    "+1 varies",
                                    "1 Varies",
                                    "1  varies",
                                    "1 varies ",
                                    "1 0123456789ABCDEF",
                                    "1 0123456789abcde",
                                    "1 0123456789abcdef0",
                                    "18446744073709551616 varies",
                                    "0x1 varies"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cugen_outputs got = good[1].outputs;
    if (outputs_parse(bad[i], &got)) fail_msg("'%s' was taken", bad[i]);
    assert_memory_equal(&got, &good[0].outputs, sizeof got);
  }
}

TEST(only_known_bits_of_equal_data_are_equal) {
  const cugen_outputs base = {1, 0, 3, 9},
                      others[] = {{0, 0, 0, 0}, {1, 1, 3, 0}, {1, 0, 4, 9}, {1, 0, 3, 8}};
  assert_true(outputs_equal(&base, &base));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(outputs_equal(&base, &others[i]));
  for (size_t i = 0; i < 2; i++) assert_false(outputs_equal(&others[i], &others[i]));
}
