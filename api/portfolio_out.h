/* Portfolios as they are handed out: cugen_portfolio, and what its strings are in. */
#ifndef API_PORTFOLIO_OUT_H
#define API_PORTFOLIO_OUT_H

#include "portfolio.h"

/* One portfolio and all that its strings are in. */
struct portfolio_holding {
  struct cache_portfolio kept;
  struct portfolio_body body;
  struct portfolio_data data; /* of one that was just learnt */
  cugen_portfolio_variant *variants;
  cugen_portfolio_problem *problems;
};

struct portfolio_holdings {
  struct portfolio_holding *all;
  cugen_portfolio *out;
  size_t count;
  struct text skipped; /* of each class without one a line that says why */
  cugen_error why;     /* of the first such class, where all are */
};

/* For kept_renew. */
void portfolio_holdings_clear(void *holdings);
/* An empty one more; NULL: no memory, and err is filled. Its cugen_portfolio is the last of holdings->out. */
struct portfolio_holding *portfolio_holding_add(struct portfolio_holdings *holdings, cugen_error *err);
/* Without the last one. */
void portfolio_holding_drop(struct portfolio_holdings *holdings);
/* Fills *out from what is kept and its body. */
int portfolio_publish(struct portfolio_holding *from, cugen_portfolio *out, cugen_error *err);

#endif
