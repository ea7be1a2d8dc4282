/* Portfolios as they are kept: few variants of a kernel that serve many sizes, and the rule that says which serves which. What they
   are learnt from is in tune/portfolio. */
#ifndef RUNTIME_STORE_PORTFOLIO_H
#define RUNTIME_STORE_PORTFOLIO_H

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

/* ---- What a portfolio says, in lines of text that people can read ---- */

enum { PORTFOLIO_BODY_MOST_VARIANTS = 64, PORTFOLIO_BODY_MOST_BYTES = 1 << 18 };

struct portfolio_body_variant {
  char *variant;  /* "tiled tile=16" */
  char *time;     /* an expression over the sizes, in microseconds where the objective is time; NULL: it has none */
  int64_t serves; /* of the problems that it was learnt from */
  char *problem;  /* one of them, */
  struct hash source; /* and the hash of the source there */
};

struct portfolio_body {
  char *
      rule; /* an expression over the sizes of a problem, and "least", the variant of the least time; its value is an index of
                       variants */
  int64_t problems;                                      /* that it was learnt from */
  double tuned_mean, tuned_worst, held_mean, held_worst; /* what they lose, as factors; 0: not known */
  double alone_mean, alone_worst;                        /* the first two, of a rule without its exceptions */
  double doubted;  /* what the rule names does not serve where its time is so many times another's; 0: it does */
  int64_t kernels; /* that its variants are, launched in several ways; 0: not known */
  struct portfolio_body_variant *
      variants; /* where the rule's is not valid, the one of the least time that is serves; without times the first */
  size_t count;
};

/* rule select(M * N <= 4096, 0, least)
   problems 200
   tuned 1.012000 1.070000
   held 1.021000 1.120000
   variant 120 0123456789abcdef0123456789abcdef tiled tile=16
   time 1.2 + 0.00034 * ceil_div(M, 16) * N
   at M=64 N=64
   ... */
void portfolio_body_print(const struct portfolio_body *body, struct text *out);
/* What that prints, and nothing else. CUGEN_ERROR_CACHE: what is wrong, to be prefixed with where it stands. Freed by
   portfolio_body_free. */
int portfolio_body_parse(const char *text, struct portfolio_body *out, cugen_error *err);
void portfolio_body_free(struct portfolio_body *body);

/* ---- Where it belongs ---- */

/* name: what is compared whole when one is stored in place of another. */
#define CACHE_PORTFOLIO_KEY(X)                                                                                       \
  X(device)                                                                                                          \
  X(config)                                                                                                          \
  X(class)   /* the problems' values that are no sizes: "dtype=bf16 layout=row" */                                   \
  X(options) /* these three as in cache_key */                                                                       \
  X(origin)  /* "": not known, as of what was imported */                                                            \
  X(objective)

struct cache_portfolio {
#define X(name) char *name;
  CACHE_PORTFOLIO_KEY(X)
#undef X
  char *body;
  int64_t learnt_at; /* seconds since the epoch */
};

/* What is wrong with a text of it; NULL: nothing. *name: which. */
const char *cache_portfolio_wrong(const struct cache_portfolio *portfolio, const char **name);
/* Its strings, not itself. */
void cache_portfolio_free(struct cache_portfolio *portfolio);
void cache_portfolios_free(struct cache_portfolio *portfolios, size_t count);

#endif
