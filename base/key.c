/* Texts of variants, problems and options; see key.h. */
#include "key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device_name.h"

/* ---- Settings ------------------------------------------------------------------------------- */

bool setting_next(const char **at, struct setting *out) {
  const char *text = *at + strspn(*at, " ");
  *out = (struct setting){text, strcspn(text, " "), strcspn(text, " =")};
  if (!out->name) out->name = out->length;
  *at = text + out->length;
  return out->length > 0;
}

void setting_print(const char *name, struct value value, struct text *out) {
  text_addf(out, "%s=", name);
  value_print(value, out);
}

const char *setting_value(const struct setting *setting, size_t *length) {
  const size_t begin = setting->name + (setting->name < setting->length);
  *length = setting->length - begin;
  return *length ? setting->text + begin : "";
}

bool setting_is_named(const char *word, const char *name) {
  const size_t length = strlen(name);
  return strncmp(word, name, length) == 0 && strchr(" =", word[length]);
}

bool setting_equal(const struct setting *a, const struct setting *b) {
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

bool setting_same_name(const struct setting *a, const struct setting *b) {
  return a->name == b->name && memcmp(a->text, b->text, a->name) == 0;
}

bool settings_have(const char *text, const struct setting *setting) {
  struct setting one;
  while (setting_next(&text, &one))
    if (setting_equal(&one, setting)) return true;
  return false;
}

bool settings_find(const char *text, const struct setting *like, struct setting *out) {
  while (setting_next(&text, out))
    if (setting_same_name(out, like)) return true;
  return false;
}

size_t settings_cut(char *text, const char **words, size_t most) {
  const char *at = text;
  struct setting one;
  size_t count = 0;
  while (setting_next(&at, &one)) {
    char *word = text + (one.text - text);
    at += *at == ' ';
    word[one.length] = '\0';
    if (count < most) words[count++] = word;
  }
  return count;
}

/* ---- Variants ------------------------------------------------------------------------------- */

struct variant_name variant_parse(const char *text) {
  const size_t length = strcspn(text, " ");
  return (struct variant_name){text, length, text + length};
}

bool variant_same_implementation(const char *a, const char *b) {
  const size_t length = variant_parse(a).length;
  return length == variant_parse(b).length && memcmp(a, b, length) == 0;
}

bool variant_is_of(const char *text, const char *implementation) {
  const size_t length = variant_parse(text).length;
  return length == strlen(implementation) && memcmp(text, implementation, length) == 0;
}

/* ---- Options -------------------------------------------------------------------------------- */

#define ARCH      "arch "
#define MEASURE   ", measure "
#define BASELINE  "baseline, "
#define PREDICTED DEVICE_NAME_PREDICTED "by model "

static bool record_options_predicted(const char *text, struct record_options *out) {
  int end = 0;
  return sscanf(text, PREDICTED "%d, " ARCH "%31[^,], figures %8" SCNx32 "%n", &out->model,
                out->arch, &out->figures, &end) == 3 &&
         !text[end];
}

static bool record_options_measured(const char *text, struct record_options *out) {
  const size_t begin = sizeof ARCH - 1, length = strcspn(text + begin, ",");
  const char *way = text + begin + length;
  if (length >= sizeof out->arch) return false;
  memcpy(out->arch, text + begin, length);
  if (!*way) return true;
  if (strncmp(way, MEASURE, sizeof MEASURE - 1) != 0) return false;
  out->compile = begin + length;
  out->measure = measure_way_find(way + sizeof MEASURE - 1);
  if (strcmp(way + sizeof MEASURE - 1, measure_way_names[MEASURE_SERVED]) == 0)
    out->measure = MEASURE_SERVED;
  return out->measure != MEASURE_WAYS;
}

struct record_options record_options_parse(const char *text) {
  const bool baseline = strncmp(text, BASELINE, sizeof BASELINE - 1) == 0;
  if (baseline) text += sizeof BASELINE - 1;
  struct record_options out = {.compile = strlen(text)};
  if (strncmp(text, ARCH, sizeof ARCH - 1) == 0)
    out.kind = !record_options_measured(text, &out) ? OPTIONS_OTHER
               : baseline                           ? OPTIONS_BASELINE
                                                    : OPTIONS_MEASURED;
  else if (record_options_predicted(text, &out))
    out.kind = OPTIONS_PREDICTED;
  return out;
}

void record_options_print(const struct record_options *options, struct text *out) {
  if (options->kind == OPTIONS_PREDICTED) {
    text_addf(out, PREDICTED "%d, " ARCH "%s, figures %08" PRIx32, options->model, options->arch,
              options->figures);
    return;
  }
  text_addf(out, ARCH "%s", options->arch);
  if (options->measure != MEASURE_BURST)
    text_addf(out, MEASURE "%s", measure_way_names[options->measure]);
}

void record_options_baseline(const char *options, struct text *out) {
  text_addf(out, BASELINE "%s", options);
}
