/* Prints portfolios for people and as JSON. */
#ifndef CLI_PORTFOLIO_H
#define CLI_PORTFOLIO_H

#include "api/learning.h"
#include "cli.h"

/* Prints the table of the variants and, without --quiet, the rule and the losses. */
int portfolio_print(struct cli *cli, const cugen_portfolio *portfolio);
/* Prints the problems from which the portfolio was learnt, those of the greatest losses first:
   `top` problems, or all with --wide. */
int portfolio_print_problems(struct cli *cli, const cugen_portfolio *portfolio, size_t top);
json_t *portfolio_json(const void *portfolio); /* a cugen_portfolio */
int portfolio_print_list(struct cli *cli, const cugen_portfolio *portfolios, size_t count);

#endif
