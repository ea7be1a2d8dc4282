/* The texts that name a record: what base/key.c reads in them, and that it prints them as the
   stored formats have them. */
#include "base/device_name.h"
#include "base/key.h"
#include "tests/testing.h"

/* ---- Settings ------------------------------------------------------------------------------- */

/* Checks the words of a text: "[name=value]" for a setting, "[name]" for a bare name. */
static void expect_settings(const char *text, const char *expected) {
  FREED(text) got = {0};
  struct setting one;
  while (setting_next(&text, &one)) {
    size_t length;
    const char *value = setting_value(&one, &length);
    text_addf(&got, "[%.*s", (int)one.name, one.text);
    if (one.name < one.length) text_addf(&got, "=%.*s", (int)length, value);
    text_add_char(&got, ']');
  }
  assert_string_equal(text_get(&got), expected);
}

TEST(settings_are_words) {
  expect_settings("", "");
  expect_settings("   ", "");
  expect_settings("M=64 dtype=f16", "[M=64][dtype=f16]");
  expect_settings("  M=64   N=8 ", "[M=64][N=8]");
  expect_settings("tiled tile=16", "[tiled][tile=16]");
  expect_settings("s=c=d e= =5 =", "[s=c=d][e=][=5][=]");
}

static struct setting setting_of(const char *text) {
  struct setting one;
  assert_true(setting_next(&text, &one));
  return one;
}

TEST(settings_are_compared_as_wholes) {
  const struct setting m = setting_of("M=64 N=8"), longer = setting_of("M=641"),
                       other = setting_of("M=8"), bare = setting_of("M");
  struct setting found;
  assert_true(setting_equal(&m, &m) && !setting_equal(&m, &longer));
  assert_true(setting_same_name(&m, &other) && setting_same_name(&m, &bare));
  assert_true(setting_is_named(m.text, "M") && !setting_is_named(m.text, "N"));
  assert_true(settings_have("N=8 M=64", &m) && settings_have("M=64", &m));
  assert_false(settings_have("M=6 MM=64 M=641", &m) || settings_have("", &m));
  assert_true(settings_find("MM=1 M=3 M=4", &m, &found));
  assert_memory_equal(found.text, "M=3", 3);
  assert_false(settings_find("MM=1", &m, &found));
  assert_true(setting_is_named("M=a b", "M") && setting_is_named("M", "M"));
  assert_false(setting_is_named("MM=1", "M") || setting_is_named("M=1", "MM"));
}

TEST(a_text_is_cut_into_words) {
  const char *words[2] = {NULL, NULL};
  char *text = strdup(" M=1  N=2 K=3");
  assert_non_null(text);
  assert_int_equal(settings_cut(text, words, 2), 2);
  assert_string_equal(words[0], "M=1");
  assert_string_equal(words[1], "N=2");
  free(text);
}

/* ---- Variants ------------------------------------------------------------------------------- */

TEST(a_variant_begins_with_its_implementation) {
  const struct variant_name name = variant_parse("tiled tile=16 pad=1");
  assert_int_equal(name.length, 5);
  assert_string_equal(name.settings, " tile=16 pad=1");
  assert_string_equal(variant_parse("naive").settings, "");
  assert_int_equal(variant_parse("").length, 0);
  assert_true(variant_same_implementation("tiled tile=16", "tiled"));
  assert_false(variant_same_implementation("tiled tile=16", "tiled2 tile=16"));
  assert_false(variant_same_implementation("tiled2", "tiled"));
  assert_true(variant_is_of("tiled tile=16", "tiled") && variant_is_of("tiled", "tiled"));
  assert_false(variant_is_of("tiled tile=16", "tile") || variant_is_of("tiled", "tiled2"));
}

/* ---- Options -------------------------------------------------------------------------------- */

static void expect_options(const char *text, enum options_kind kind, const char *arch,
                           enum measure_way measure, size_t compile) {
  const struct record_options got = record_options_parse(text);
  FREED(text) printed = {0};
  assert_int_equal(got.kind, kind);
  assert_string_equal(got.arch, arch);
  assert_int_equal(got.measure, measure);
  assert_int_equal(got.compile, compile);
  record_options_print(&got, &printed);
  if (kind != OPTIONS_OTHER && kind != OPTIONS_BASELINE)
    assert_string_equal(text_get(&printed), text);
}

TEST(options_print_as_they_were_read) {
  expect_options("arch sm_90a", OPTIONS_MEASURED, "sm_90a", MEASURE_BURST, 11);
  expect_options("arch sm_90a, measure graph", OPTIONS_MEASURED, "sm_90a", MEASURE_GRAPH, 11);
  expect_options("arch x86-64, measure served", OPTIONS_MEASURED, "x86-64", MEASURE_SERVED, 11);
  expect_options("arch sm_80, measure later", OPTIONS_OTHER, "sm_80", MEASURE_WAYS, 10);
  expect_options("arch sm_80, flags -x", OPTIONS_OTHER, "sm_80", MEASURE_BURST, 20);
  expect_options("arch an_architecture_of_more_than_32_characters", OPTIONS_OTHER, "",
                 MEASURE_BURST, 47);
  expect_options("baseline, arch sm_90a", OPTIONS_BASELINE, "sm_90a", MEASURE_BURST, 11);
  expect_options("baseline, predicted", OPTIONS_OTHER, "", MEASURE_BURST, 9);
  FREED(text) baseline = {0};
  record_options_baseline("arch sm_90a, measure graph", &baseline);
  expect_options(text_get(&baseline), OPTIONS_BASELINE, "sm_90a", MEASURE_GRAPH, 11);
  expect_options("-arch=sm_90a", OPTIONS_OTHER, "", MEASURE_BURST, 12);
  expect_options("", OPTIONS_OTHER, "", MEASURE_BURST, 0);
}

TEST(options_of_predictions_have_their_origin) {
  static const char text[] = "predicted by model 7, arch sm_90a, figures 00a1b2c3";
  expect_options(text, OPTIONS_PREDICTED, "sm_90a", MEASURE_BURST, strlen(text));
  const struct record_options got = record_options_parse(text);
  assert_int_equal(got.model, 7);
  assert_int_equal(got.figures, 0xa1b2c3);
  assert_int_equal(
      record_options_parse("predicted by model 7, arch sm_90a, figures 00a1b2c3, more").kind,
      OPTIONS_OTHER);
  assert_int_equal(record_options_parse("predicted by model 7").kind, OPTIONS_OTHER);
}

/* ---- Devices -------------------------------------------------------------------------------- */

TEST(the_text_of_a_gpu_prints_as_it_was_read) {
  static const char *const texts[] = {"NVIDIA H200 sm_90 132 SMs", "A sm_80 B sm_90 7 SMs"};
  static const char *const others[] = {"predicted NVIDIA H200 sm_90 132 SMs",
                                       "NVIDIA H200 sm_90 132",
                                       "NVIDIA H200 sm_90 x SMs",
                                       "NVIDIA H200 sm_90 132 SMs more",
                                       " sm_90 132 SMs",
                                       "cpu",
                                       ""};
  struct device_gpu gpu;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char printed[64];
    assert_true(device_gpu_parse(texts[i], &gpu));
    assert_int_equal(gpu.capability, 90);
    device_gpu_print(&gpu, printed, sizeof printed);
    assert_string_equal(printed, texts[i]);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(device_gpu_parse(others[i], &gpu));
}
