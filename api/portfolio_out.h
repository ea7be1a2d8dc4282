/* Portfolios as handed out to the caller: cugen_portfolio, and the memory of its strings. */
#ifndef API_PORTFOLIO_OUT_H
#define API_PORTFOLIO_OUT_H

#include "learning.h"
#include "portfolio.h"

/* One portfolio and the memory of all its strings. */
struct portfolio_holding {
  struct cache_portfolio kept;
  struct portfolio_body body;
  struct portfolio_data data; /* set for a portfolio that was just learnt */
  cugen_portfolio_problem *problems;
};

struct portfolio_holdings {
  struct portfolio_holding *all;
  cugen_portfolio *out;
  size_t count;
  char **skipped; /* the reason for each class without a portfolio */
  size_t skipped_count;
  cugen_error why; /* the error for the first skipped class, reported if no class has a portfolio */
};

/* The clear function for kept_renew. */
void portfolio_holdings_clear(void *holdings);
/* Appends an empty holding; NULL: out of memory, and err is filled. The new holding's
   cugen_portfolio is the last of holdings->out. */
struct portfolio_holding *portfolio_holding_add(struct portfolio_holdings *holdings,
                                                cugen_error *err);
/* Removes the last holding. */
void portfolio_holding_drop(struct portfolio_holdings *holdings);
/* Fills *out from the stored portfolio and its body. */
void portfolio_publish(const struct portfolio_holding *from, cugen_portfolio *out);

#endif
