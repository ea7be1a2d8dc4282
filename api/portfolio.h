/* Portfolios: which one is a kernel's, and what it says of a problem (portfolio.c); what is remembered of many problems as a matrix
   (portfolio_data.c). Learning one is tune/portfolio, with records and handles joined in learning.c. */
#ifndef API_PORTFOLIO_H
#define API_PORTFOLIO_H

#include "lookup.h"
#include "tune/portfolio/learn.h"

/* ---- portfolio.c ---- */

/* The objective as a portfolio is kept under it. */
const char *portfolio_objective(const struct config *config);

/* A portfolio that is the look-up's: of its class, device, options and objective, from its own config file or of none that is known, and behind these
   from other files of the same kernel: one of its first variants has the same source. */
struct portfolio_found {
  struct cache_portfolio kept;
  struct portfolio_body body;
};
/* All of them, the latest first; predictions: of those that were learnt from such, NULL: of what the look-up is of. Freed by
   portfolios_free. */
int portfolios_find(const struct lookup *lookup, const struct prediction_key *predictions,
                    struct portfolio_found **out, size_t *count, cugen_error *err);
void portfolios_free(struct portfolio_found *found, size_t count);

/* Which variants are to serve, in this order: the one that the rule names, then by their times, those without one last. One whose time is more than
   body->doubted times another's stands behind that. */
struct portfolio_order {
  size_t at[PORTFOLIO_BODY_MOST_VARIANTS];
  size_t count; /* all of the body */
  bool named;   /* false: the rule names none, as where a product of sizes overflows */
};
/* CUGEN_ERROR_CONFIG: it is no rule over the config's sizes. */
int portfolio_ask(const struct portfolio_body *body, const struct config *config, const struct problem *problem,
                  struct portfolio_order *out, cugen_error *err);
/* The rule, or a variant's time, as a program over the slots of config_slots, and one behind them: "least", the variant of the least time. err
   may be NULL. */
int portfolio_parse_rule(const char *rule, const struct config *config, struct expr **out, cugen_error *err);

/* What became of a variant of a portfolio. */
enum portfolio_state { PORTFOLIO_CURRENT, PORTFOLIO_STALE, PORTFOLIO_INVALID };
/* INVALID: it is no variant of the look-up's problem. STALE: its source is not the one that was measured. CURRENT: *index and *spec are
   the variant's. *spec is to be freed whatever comes back. Space and expander are open. */
int portfolio_try(struct lookup *lookup, const struct portfolio_body_variant *variant, enum portfolio_state *state,
                  uint64_t *index, struct kernel_spec *spec, cugen_error *err);

/* The variant that serves the look-up's problem: its index and expansion in *out, and which portfolio says so. *found false: none does.
   None of the failures serves. */
struct portfolio_answer {
  uint64_t index;
  struct kernel_spec spec; /* to be freed by its taker */
  bool first;              /* it is the one that the rule names */
  bool same_model;         /* of what ships: it was measured on a GPU of this model */
};
int portfolio_serve(struct lookup *lookup, const struct prediction_key *predictions, struct failures *failures,
                    struct portfolio_answer *out, bool *found, cugen_error *err);
/* The same by this one. shipped: whatever its variants' sources were when they were measured, and nothing where the rule names none. */
int portfolio_serve_by(struct lookup *lookup, const struct portfolio_body *body, bool shipped,
                       struct failures *failures, struct portfolio_answer *out, bool *found, cugen_error *err);

/* ---- shipped.c ---- */

/* One that ships, of a shipped config: the one that was measured on this GPU, else on the most like it of its compute capability; or, of
   those that are predicted, that for this GPU or the most like it. Its rule names none for problems larger than it was learnt from. Freed by
   portfolio_shipped_free. */
struct portfolio_shipped {
  struct portfolio_body body;
  char *device;    /* that GPU */
  bool predicted;  /* it was learnt from predictions */
  bool same_model; /* it is of the look-up's model */
};
int portfolio_find_shipped(const struct lookup *lookup, bool predicted, struct portfolio_shipped *out, bool *found,
                           cugen_error *err);
void portfolio_shipped_free(struct portfolio_shipped *shipped);

/* As portfolio_serve, by that one. device: that GPU is added. */
int portfolio_serve_shipped(struct lookup *lookup, bool predicted, struct failures *failures,
                            struct portfolio_answer *out, struct text *device, bool *found, cugen_error *err);

/* ---- portfolio_problems.c ---- */

/* All problems of the look-up's config, device and options of which something is remembered. To be freed whatever comes back. */
struct portfolio_problems {
  struct problem *all;
  size_t count;
};
int portfolio_problems_open(const struct lookup *lookup, struct portfolio_problems *out, cugen_error *err);
void portfolio_problems_free(struct portfolio_problems *problems);

/* ---- portfolio_data.c ---- */

/* A record of a variant on a problem. */
struct portfolio_entry {
  size_t problem, variant;
  double cost, seconds;       /* NAN: it failed */
  struct hash source, passed; /* passed: kernel_spec_passed, of one that was judged */
  uint64_t lacks;
  bool stale; /* as it turned out: its cost is no more */
};

struct portfolio_row {
  const struct problem *problem; /* borrowed */
  char *text;
  double best_cost, best_seconds; /* of its best record; 0: none is right */
  char *best;
};

/* What is remembered of problems of one class. */
struct portfolio_data {
  const struct lookup *base;
  struct portfolio_row *rows;
  size_t row_count;
  char **variants; /* sorted, each once */
  size_t variant_count;
  struct portfolio_entry *entries; /* by problem, then by variant */
  size_t entry_count;
};

/* Problems are sorted by their texts: their order is nobody's choice. Records of variants that the look-up's filter does not admit are
   left out. To be freed whatever comes back. */
int portfolio_data_open(const struct lookup *base, const struct problem *const *problems, size_t count,
                        struct portfolio_data *out, cugen_error *err);
void portfolio_data_free(struct portfolio_data *data);
/* NULL: there is none. */
struct portfolio_entry *portfolio_entry_of(const struct portfolio_data *data, size_t problem, size_t variant);
/* Its cost by the best's, 1 or more; NAN: not known. */
double portfolio_entry_ratio(const struct portfolio_data *data, const struct portfolio_entry *entry);

enum { PORTFOLIO_MOST_CANDIDATES = 96 };
/* Variants that are worth measuring on every problem: few that are near the best of each. Into out (room for `most`), those that cover the
   most first. */
int portfolio_candidates(const struct portfolio_data *data, size_t most, size_t *out, size_t *count,
                         cugen_error *err);

/* Of these variants those of which nothing is remembered on the problem, the most promising first: what is fast for near sizes. Into out
   (room for count); how many there are. */
size_t portfolio_missing(const struct portfolio_data *data, size_t problem, const size_t *variants, size_t count,
                         size_t *out);

/* A matrix of those variants. */
struct portfolio_columns {
  struct portfolio_matrix matrix;
  const char **names;
  double *ratios;
  int64_t *values;
  bool *decides;
  size_t *kernels; /* each its own, until portfolio_kernels has told */
  double *best;
};
int portfolio_columns_open(struct portfolio_data *data, const size_t *variants, size_t count,
                           struct portfolio_columns *out, cugen_error *err);
void portfolio_columns_free(struct portfolio_columns *columns);

/* ---- portfolio_kernels.c ---- */

/* Of each of these variants the first of them that is the same compiled kernel. */
int portfolio_kernels(const struct portfolio_data *data, const size_t *variants, size_t count, size_t *out,
                      cugen_error *err);

#endif
