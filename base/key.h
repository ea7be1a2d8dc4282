/* The texts that name a record, as values: the variant "tiled tile=16 pad=1", the problem "M=64
   dtype=f16", and the options "arch sm_90a, measure graph". base/device_name.h has the text of the
   device. The stored formats hold these texts, so a printer must not change what it prints.

   A problem's text is settings, separated by spaces. A variant's text is the name of its
   implementation and then settings. Neither names nor values contain spaces. */
#ifndef BASE_KEY_H
#define BASE_KEY_H

#include "measure_way.h"
#include "value.h"

/* ---- Settings ------------------------------------------------------------------------------- */

/* One word of a text, "tile=16". A setting points into the text and is not terminated. */
struct setting {
  const char *text;
  size_t length; /* of the whole word */
  size_t name;   /* length of the name, which is the whole word if no '=' follows a name */
};

/* Reads the next word and moves *at behind it. Returns false at the end of the text. */
bool setting_next(const char **at, struct setting *out);
void setting_print(const char *name, struct value value, struct text *out);
/* Returns the value, or "" if the word is only a name. *length becomes the length of the value,
   which is not terminated. */
const char *setting_value(const struct setting *setting, size_t *length);
/* Returns whether the word that begins here, "tile=16" or "tile", has the name. */
bool setting_is_named(const char *word, const char *name);
bool setting_equal(const struct setting *a, const struct setting *b);
bool setting_same_name(const struct setting *a, const struct setting *b);

/* Returns whether one of the words of the text equals the setting. */
bool settings_have(const char *text, const struct setting *setting);
/* Finds the word with the name of `like`. Returns false if there is none. */
bool settings_find(const char *text, const struct setting *like, struct setting *out);
/* Ends each word of the text with a NUL and lists the first `most` words. Returns how many words
   were listed. */
size_t settings_cut(char *text, const char **words, size_t most);

/* ---- Variants ------------------------------------------------------------------------------- */

struct variant_name {
  const char *implementation; /* name of the implementation, not terminated */
  size_t length;              /* of that name */
  const char *settings;       /* the rest of the text */
};

struct variant_name variant_parse(const char *text);
bool variant_same_implementation(const char *a, const char *b);
/* Returns whether the text names a variant of the implementation. */
bool variant_is_of(const char *text, const char *implementation);
/* Makes "%.*s" print the name of the implementation. */
#define VARIANT_IMPLEMENTATION(text)                                                               \
  (int)variant_parse(text).length, variant_parse(text).implementation

/* ---- Options -------------------------------------------------------------------------------- */

enum options_kind {
  OPTIONS_OTHER,    /* any other text */
  OPTIONS_MEASURED, /* "arch sm_90a", "arch sm_90a, measure graph" */
  OPTIONS_BASELINE, /* "baseline, arch sm_90a, measure graph": records of a user's function and of
                       the variants that were compared with it */
  OPTIONS_PREDICTED /* "predicted by model 7, arch sm_90a, figures 0123abcd" */
};

/* The options of a set of records: how the variants were compiled and timed. */
struct record_options {
  enum options_kind kind;
  enum measure_way measure; /* of OPTIONS_MEASURED and OPTIONS_BASELINE */
  size_t compile;           /* length of the part that says how to compile, without "baseline, " and
                               the way of timing; set by record_options_parse */
  char arch[32];
  /* of OPTIONS_PREDICTED: the version of the model, and a hash of the GPU's described figures */
  int model;
  uint32_t figures;
};

struct record_options record_options_parse(const char *text);
void record_options_print(const struct record_options *options, struct text *out);
/* Prints the options of baselines, made from the options of measurements. */
void record_options_baseline(const char *options, struct text *out);

#endif
