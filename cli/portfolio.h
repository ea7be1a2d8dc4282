/* Portfolios for people and as JSON. */
#ifndef CLI_PORTFOLIO_H
#define CLI_PORTFOLIO_H

#include "cli.h"

/* The table of its variants, its rule and what it loses. */
int portfolio_print(struct cli *cli, const cugen_portfolio *portfolio);
/* The problems that it was learnt from, the greatest losses first; as many as --top says. */
int portfolio_print_problems(struct cli *cli, const cugen_portfolio *portfolio, size_t top);
json_t *portfolio_json(const cugen_portfolio *portfolio);
/* A row for each, in a table of their own. */
int portfolio_print_list(struct cli *cli, const cugen_portfolio *portfolios, size_t count);

#endif
