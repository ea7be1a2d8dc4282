/* Writing, reading and checking the text of a portfolio; see portfolio.h. */
#include "portfolio.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* ---- Writing -------------------------------------------------------------------------------- */

/* Prints the value with six decimals and a '.', whatever the locale. */
static void print_fixed(double value, struct text *out) {
  const int64_t millionths = llround(value * 1e6);
  text_addf(out, "%" PRId64 ".%06" PRId64, millionths / 1000000, millionths % 1000000);
}

static void print_loss(const char *word, double mean, double worst, struct text *out) {
  text_addf(out, "%s ", word);
  print_fixed(mean, out);
  text_add_char(out, ' ');
  print_fixed(worst, out);
  text_add_char(out, '\n');
}

void portfolio_body_print(const struct portfolio_body *body, struct text *out) {
  text_addf(out, "rule %s\nproblems %" PRId64 "\n", body->rule, body->problems);
  print_loss("tuned", body->tuned_mean, body->tuned_worst, out);
  print_loss("held", body->held_mean, body->held_worst, out);
  if (body->kernels) {
    print_loss("alone", body->alone_mean, body->alone_worst, out);
    text_addf(out, "kernels %" PRId64 "\n", body->kernels);
  }
  if (body->doubted > 0) {
    text_add(out, "doubted ");
    print_fixed(body->doubted, out);
    text_add_char(out, '\n');
  }
  for (size_t i = 0; i < body->count; i++) {
    const struct portfolio_body_variant *v = &body->variants[i];
    text_addf(out, "variant %" PRId64 " %s %s\n", v->serves, v->source.hex, v->variant);
    if (v->time) text_addf(out, "time %s\n", v->time);
    text_addf(out, "at %s\n", v->problem);
  }
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct reader {
  const char *at;
  cugen_error *err;
};

static int portfolio_refuse(const struct reader *reader, const char *what) {
  return error_set(reader->err, CUGEN_ERROR_CACHE, "no portfolio: %s", what);
}

/* Skips the word and a space; returns false if the text does not begin with them. */
static bool portfolio_take_word(struct reader *reader, const char *word) {
  const size_t length = strlen(word);
  if (strncmp(reader->at, word, length) != 0 || reader->at[length] != ' ') return false;
  reader->at += length + 1;
  return true;
}

/* Copies the rest of the line to *out, and skips its end. */
static int take_rest(struct reader *reader, bool may_be_empty, char **out) {
  const size_t length = strcspn(reader->at, "\n");
  if (reader->at[length] != '\n' || (!length && !may_be_empty))
    return portfolio_refuse(reader, "a line is not whole");
  *out = strndup(reader->at, length);
  reader->at += length + 1;
  return *out ? CUGEN_OK : error_memory(reader->err);
}

/* Reads 1 to 15 digits, and skips `end`, which must follow. */
static bool portfolio_take_whole(struct reader *reader, char end, int64_t *out) {
  const size_t length = strspn(reader->at, "0123456789");
  if (length == 0 || length > 15 || reader->at[length] != end) return false;
  *out = 0;
  for (size_t i = 0; i < length; i++) *out = 10 * *out + (reader->at[i] - '0');
  reader->at += length + 1;
  return true;
}

/* Reads a number such as "1.012000": 0, or at least 1 and below 1e9. */
static bool take_fixed(struct reader *reader, char end, double *out) {
  int64_t whole, millionths;
  if (!portfolio_take_whole(reader, '.', &whole) || strspn(reader->at, "0123456789") != 6 ||
      !portfolio_take_whole(reader, end, &millionths))
    return false;
  *out = (double)whole + (double)millionths / 1e6;
  return whole >= 1 ? whole < 1000000000 : millionths == 0;
}

static int take_loss(struct reader *reader, const char *word, double *mean, double *worst) {
  const bool good = portfolio_take_word(reader, word) && take_fixed(reader, ' ', mean) &&
                    take_fixed(reader, '\n', worst);
  return good ? CUGEN_OK : portfolio_refuse(reader, "its losses are not numbers of 1 or more");
}

static int take_head(struct reader *reader, struct portfolio_body *out) {
  if (!portfolio_take_word(reader, "rule"))
    return portfolio_refuse(reader, "its first line is to be the rule");
  int status = take_rest(reader, false, &out->rule);
  if (status) return status;
  if (!portfolio_take_word(reader, "problems") ||
      !portfolio_take_whole(reader, '\n', &out->problems))
    return portfolio_refuse(reader, "its number of problems cannot be read");
  status = take_loss(reader, "tuned", &out->tuned_mean, &out->tuned_worst);
  if (!status) status = take_loss(reader, "held", &out->held_mean, &out->held_worst);
  if (!status && strncmp(reader->at, "alone ", 6) == 0) {
    status = take_loss(reader, "alone", &out->alone_mean, &out->alone_worst);
    if (!status && !(portfolio_take_word(reader, "kernels") &&
                     portfolio_take_whole(reader, '\n', &out->kernels)))
      return portfolio_refuse(reader, "its number of kernels cannot be read");
  }
  if (status || !portfolio_take_word(reader, "doubted") || take_fixed(reader, '\n', &out->doubted))
    return status;
  return portfolio_refuse(reader,
                          "the factor from which its rule is doubted is not a number of 1 or more");
}

static int take_variant(struct reader *reader, struct portfolio_body_variant *out) {
  enum { DIGITS = sizeof out->source.hex - 1 };
  if (!portfolio_take_word(reader, "variant") || !portfolio_take_whole(reader, ' ', &out->serves) ||
      strspn(reader->at, "0123456789abcdef") != DIGITS || reader->at[DIGITS] != ' ')
    return portfolio_refuse(
        reader, "a variant lacks the number of problems that it serves, or 32 hexadecimal digits");
  memcpy(out->source.hex, reader->at, DIGITS);
  reader->at += DIGITS + 1;
  int status = take_rest(reader, false, &out->variant);
  if (!status && portfolio_take_word(reader, "time")) status = take_rest(reader, false, &out->time);
  if (status) return status;
  if (!portfolio_take_word(reader, "at"))
    return portfolio_refuse(reader, "a variant has no problem");
  return take_rest(reader, true, &out->problem);
}

static int take_variants(struct reader *reader, struct portfolio_body *out) {
  int status = CUGEN_OK;
  out->variants = calloc(PORTFOLIO_BODY_MOST_VARIANTS, sizeof *out->variants);
  if (!out->variants) return error_memory(reader->err);
  while (*reader->at && !status) {
    if (out->count == PORTFOLIO_BODY_MOST_VARIANTS)
      return portfolio_refuse(reader, "it has too many variants");
    status = take_variant(reader, &out->variants[out->count++]);
  }
  return status || out->count ? status : portfolio_refuse(reader, "it has no variant");
}

int portfolio_body_parse(const char *text, struct portfolio_body *out, cugen_error *err) {
  struct reader reader = {text, err};
  *out = (struct portfolio_body){0};
  int status = cache_text_wrong(text, "\n")
                   ? portfolio_refuse(&reader, "it has control characters or is not UTF-8")
                   : CUGEN_OK;
  if (!status && strlen(text) > PORTFOLIO_BODY_MOST_BYTES)
    status = portfolio_refuse(&reader, "it is too long");
  if (!status) status = take_head(&reader, out);
  if (!status) status = take_variants(&reader, out);
  if (status) portfolio_body_free(out);
  return status;
}

void portfolio_body_free(struct portfolio_body *body) {
  for (size_t i = 0; i < body->count; i++) {
    free(body->variants[i].variant);
    free(body->variants[i].time);
    free(body->variants[i].problem);
  }
  free(body->variants);
  free(body->rule);
  *body = (struct portfolio_body){0};
}

/* ---- The whole portfolio -------------------------------------------------------------------- */

const char *cache_portfolio_wrong(const struct cache_portfolio *p, const char **name) {
  static const char may_be_empty[] = "class origin";
#define X(field)                                                                                   \
  *name = #field;                                                                                  \
  if (cache_text_wrong(p->field, "")) return cache_text_wrong(p->field, "");                       \
  if (!*p->field && !strstr(may_be_empty, #field)) return "is empty";
  CACHE_PORTFOLIO_KEY(X)
#undef X
  return NULL;
}

void cache_portfolio_free(struct cache_portfolio *p) {
#define X(name) free(p->name);
  CACHE_PORTFOLIO_KEY(X)
#undef X
  free(p->body);
  *p = (struct cache_portfolio){0};
}

void cache_portfolios_free(struct cache_portfolio *portfolios, size_t count) {
  for (size_t i = 0; i < count; i++) cache_portfolio_free(&portfolios[i]);
  free(portfolios);
}
