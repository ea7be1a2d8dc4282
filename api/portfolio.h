/* Portfolios: finding a kernel's portfolio and applying it to a problem (portfolio.c); the records
   of many problems as a matrix (portfolio_data.c). The learning itself is in tune/portfolio. */
#ifndef API_PORTFOLIO_H
#define API_PORTFOLIO_H

#include "lookup.h"
#include "tune/portfolio/learn.h"

/* ---- portfolio.c ---------------------------------------------------------------------------- */

/* Returns the text of the objective under which a portfolio is kept. */
const char *portfolio_objective(const struct config *config);

/* A portfolio of the look-up's class, device, options and objective. */
struct portfolio_found {
  struct cache_portfolio kept;
  struct portfolio_body body;
};
/* Finds the look-up's portfolios, the latest first: those of its config file or unknown files, then
   those of other files with the same kernel, recognised by a variant's source. predictions: those
   learnt from these predictions; NULL: from the look-up's own kind of records. portfolios_free
   frees them. */
int portfolios_find(const struct lookup *lookup, const struct prediction_key *predictions,
                    struct portfolio_found **out, size_t *count, cugen_error *err);
void portfolios_free(struct portfolio_found *found, size_t count);

enum portfolio_kind {
  PORTFOLIO_REMEMBERED, /* in the cache */
  /* The kinds below ship with cugen, for shipped configs. */
  PORTFOLIO_MEASURED,    /* of the look-up's class, measured on a GPU of the look-up device's
                            compute capability */
  PORTFOLIO_PREDICTED,   /* of the look-up's class, predicted for a GPU of the look-up device's
                            compute capability */
  PORTFOLIO_OTHER_CLASS, /* measured with other layouts or flags and the same type of elements; none
                            if PORTFOLIO_MEASURED has one */
  PORTFOLIO_KINDS
};

/* The order in which the variants are tried: the variant that the rule names, then the others by
   time, variants without a time last. A named variant whose time is more than body->doubted times
   another's stands behind that variant. */
struct portfolio_order {
  size_t at[PORTFOLIO_BODY_MOST_VARIANTS];
  size_t count; /* all variants of the body */
  size_t timed; /* the first `timed` variants have a time, or are the one that the rule names */
  size_t near;  /* the first `near` variants are the named one, and variants whose times are not far
                   above the named one's */
  bool named;   /* false: the rule names no variant, as when a product of sizes overflows */
};
/* Evaluates the rule and the times for the problem. CUGEN_ERROR_CONFIG: the rule or a time is not
   an expression over the config's sizes, or the rule gives no whole number. */
int portfolio_ask(const struct portfolio_body *body, const struct config *config,
                  const struct problem *problem, struct portfolio_order *out, cugen_error *err);
/* Parses the rule, or the time of a variant, as a program over the slots of config_slots and one
   more slot: "least", the variant with the smallest time. err may be NULL. */
int portfolio_parse_rule(const char *rule, const struct config *config, struct expr **out,
                         cugen_error *err);

enum portfolio_state { PORTFOLIO_CURRENT, PORTFOLIO_STALE, PORTFOLIO_INVALID, PORTFOLIO_FAILING };
/* Finds and expands a portfolio's variant. INVALID: the look-up's problem has no such variant.
   STALE: the variant's source is not the measured one. CURRENT: the source is the measured one, or
   any_source is true, as for shipped portfolios. FAILING, for a variant that is known to fail, is
   set by callers only. *index and *spec are set unless INVALID. Free *spec also after a failure.
   Space and expander must be open. */
int portfolio_try(struct lookup *lookup, const struct portfolio_body_variant *variant,
                  bool any_source, enum portfolio_state *state, uint64_t *index,
                  struct kernel_spec *spec, cugen_error *err);

/* The variant that serves the look-up's problem, with its index and expansion; *found is false if
   no variant serves. Variants among the failures never serve. */
struct portfolio_answer {
  uint64_t index;
  struct kernel_spec spec; /* the caller frees or takes over the expansion */
  bool first;              /* the rule names a variant, and this one is tried first */
  bool same_model;         /* the portfolio ships, for a GPU of the look-up's model */
};
int portfolio_serve(struct lookup *lookup, const struct prediction_key *predictions,
                    struct failures *failures, struct portfolio_answer *out, bool *found,
                    cugen_error *err);
/* Serves by one given portfolio. A shipped portfolio also serves by variants whose source has
   changed, but serves nothing if the portfolio's rule names no variant, and never by unnamed
   variants without a time. A portfolio of another class serves only by variants whose time is not
   far above the named variant's. */
int portfolio_serve_by(struct lookup *lookup, const struct portfolio_body *body,
                       enum portfolio_kind kind, struct failures *failures,
                       struct portfolio_answer *out, bool *found, cugen_error *err);

/* ---- shipped.c ------------------------------------------------------------------------------ */

/* The nearest shipped portfolio of a kind: by the number of settings in which the classes differ,
   then by the similarity of the GPUs. The rule names no variant for sizes beyond the portfolio's
   limit (shipped.c). portfolio_shipped_free frees it. */
struct portfolio_shipped {
  struct portfolio_body body;
  char *device;    /* text of the portfolio's GPU */
  bool predicted;  /* the portfolio was learnt from predictions */
  bool same_model; /* the GPU is of the look-up's model */
};
int portfolio_find_shipped(const struct lookup *lookup, enum portfolio_kind kind,
                           struct portfolio_shipped *out, bool *found, cugen_error *err);
void portfolio_shipped_free(struct portfolio_shipped *shipped);

/* Serves like portfolio_serve, by the nearest shipped portfolio of the kind that has a valid
   variant. The text of the portfolio's GPU is appended to `device`. */
int portfolio_serve_shipped(struct lookup *lookup, enum portfolio_kind kind,
                            struct failures *failures, struct portfolio_answer *out,
                            struct text *device, bool *found, cugen_error *err);

/* ---- portfolio_data.c ----------------------------------------------------------------------- */

/* All problems with records under the look-up's config, device and options. Free *out also after a
   failure. */
struct portfolio_problems {
  struct problem *all;
  size_t count;
};
int portfolio_problems_open(const struct lookup *lookup, struct portfolio_problems *out,
                            cugen_error *err);
void portfolio_problems_free(struct portfolio_problems *problems);

/* A record of a variant for a problem. */
struct portfolio_entry {
  size_t problem, variant;
  double cost, seconds;       /* NAN if the variant failed; cost also if the record is stale */
  struct hash source, passed; /* passed: kernel_spec_passed, set when the record was judged */
  uint64_t lacks;
  bool stale; /* judged as stale, so that its cost does not count */
};

struct portfolio_row {
  const struct problem *problem; /* borrowed */
  char *text;
  double best_cost, best_seconds; /* of the best record; 0: there is none */
  char *best;
};

/* The records of the problems of one class. */
struct portfolio_data {
  const struct lookup *base;
  struct portfolio_row *rows;
  size_t row_count;
  char **variants; /* sorted, without duplicates */
  size_t variant_count;
  struct portfolio_entry *entries; /* sorted by problem, then by variant */
  size_t entry_count;
};

/* Collects the records. The problems are sorted by their texts. Records of variants that the
   look-up's filter excludes are left out. Free *out also after a failure. */
int portfolio_data_open(const struct lookup *base, const struct problem *const *problems,
                        size_t count, struct portfolio_data *out, cugen_error *err);
void portfolio_data_free(struct portfolio_data *data);
/* Opens a look-up with its space for a row's problem, with records of the base's kind. filter: of
   the space; NULL: none. Close *out also after a failure. */
int portfolio_open_row(const struct portfolio_data *data, size_t row, const cugen_filter *filter,
                       struct lookup *out, cugen_error *err);
/* Returns NULL if there is no record. */
struct portfolio_entry *portfolio_entry_of(const struct portfolio_data *data, size_t problem,
                                           size_t variant);
/* Returns the cost divided by the best cost of the problem, 1 or more; NAN if unknown. */
double portfolio_entry_ratio(const struct portfolio_data *data,
                             const struct portfolio_entry *entry);

enum { PORTFOLIO_MOST_CANDIDATES = 96 };
/* Chooses few variants of which one is near the best of each problem, if `most` suffice; each adds
   the most further problems. out has room for `most`. */
int portfolio_candidates(const struct portfolio_data *data, size_t most, size_t *out, size_t *count,
                         cugen_error *err);

/* Lists the given variants without a record for the problem, variants that are fast for near sizes
   first. out has room for `count`. Returns the number of listed variants. */
size_t portfolio_missing(const struct portfolio_data *data, size_t problem, const size_t *variants,
                         size_t count, size_t *out);

/* The matrix of the chosen variants. */
struct portfolio_columns {
  struct portfolio_matrix matrix;
  const char **names;
  double *ratios;
  int64_t *values;
  bool *decides;
  size_t *kernels; /* for each variant, the first variant with the same compiled kernel */
  double *best;
};
int portfolio_columns_open(struct portfolio_data *data, const size_t *variants, size_t count,
                           struct portfolio_columns *out, cugen_error *err);
void portfolio_columns_free(struct portfolio_columns *columns);

#endif
