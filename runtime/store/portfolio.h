/* Portfolios as the cache keeps them: a few variants of a kernel that serve many sizes, and the
   rule that selects a variant for a size. */
#ifndef RUNTIME_STORE_PORTFOLIO_H
#define RUNTIME_STORE_PORTFOLIO_H

#include "base/error.h"
#include "base/results.h"
#include "base/text.h"

/* ---- The body of a portfolio, as lines of readable text ------------------------------------- */

enum { PORTFOLIO_BODY_MOST_VARIANTS = 64, PORTFOLIO_BODY_MOST_BYTES = 1 << 18 };

struct portfolio_body {
  /* An expression over the sizes of a problem and "least", the index of the variant whose `time`
     is least. The rule's value is an index of `variants`; an index outside names no variant. */
  char *rule;
  /* number of problems that the portfolio was learnt from */
  int64_t problems;
  /* Mean and largest ratio of the selected variant's time to the best variant's: tuned_* on the
     learnt problems, held_* on problems that were left out of the learning; 0: not known. */
  double tuned_mean, tuned_worst, held_mean, held_worst;
  /* Like tuned_*, for the rule without the single problems that the rule names as exceptions. */
  double alone_mean, alone_worst;
  /* The variant that the rule selects is not used where its `time` exceeds another variant's by
     this factor; 0: it is always used. */
  double doubted;
  /* number of different kernels among the variants, some of which differ only in their launch;
     0: not known */
  int64_t kernels;
  /* Where the rule's variant is not valid, the valid variant of the least `time` is used, or the
     first valid variant if there are no times. */
  struct portfolio_body_variant *variants;
  size_t count;
};

/* Prints the body as text, for example:
   rule select(M * N <= 4096, 0, least)
   problems 200
   tuned 1.012000 1.070000
   held 1.021000 1.120000
   variant 120 0123456789abcdef0123456789abcdef tiled tile=16
   time 1.2 + 0.00034 * ceil_div(M, 16) * N
   at M=64 N=64
   ... */
void portfolio_body_print(const struct portfolio_body *body, struct text *out);
/* Reads a text as portfolio_body_print writes it. CUGEN_ERROR_CACHE: any other text; the message
   does not say where the text stands. The caller frees *out with portfolio_body_free. */
int portfolio_body_parse(const char *text, struct portfolio_body *out, cugen_error *err);
void portfolio_body_free(struct portfolio_body *body);

/* ---- The key of a portfolio ----------------------------------------------------------------- */

/* The parts of the key. A cache has at most one portfolio of a key. */
#define CACHE_PORTFOLIO_KEY(X)                                                                     \
  X(device)                                                                                        \
  X(config)                                                                                        \
  X(class)   /* the problems' values that are no sizes: "dtype=bf16 layout=row" */                 \
  X(options) /* device, config and options as in struct cache_key */                               \
  X(origin)  /* the config file; "": not known, for example after an import */                     \
  X(objective)

struct cache_portfolio {
#define X(name) char *name;
  CACHE_PORTFOLIO_KEY(X)
#undef X
  char *body;
  int64_t learnt_at; /* seconds since the epoch */
};

/* Returns what is wrong with the first invalid text of the key, and sets *name to the text's
   field; NULL if all are valid. Does not check the body. */
const char *cache_portfolio_wrong(const struct cache_portfolio *portfolio, const char **name);
/* Frees the strings, not the struct itself. */
void cache_portfolio_free(struct cache_portfolio *portfolio);
void cache_portfolios_free(struct cache_portfolio *portfolios, size_t count);

#endif
