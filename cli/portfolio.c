/* Prints portfolios for people and as JSON; see portfolio.h. */
#include "portfolio.h"

#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "print.h"
#include "settings.h"
#include "table.h"

/* Prints "1.2 %" for a factor of 1.012; "-": not known. */
static struct shown loss(double factor) {
  return factor > 0 ? print_format("%.1f %%", 100 * (factor - 1)) : print_format("-");
}

/* With fewer problems, losses found by cross-validation say little. */
enum { FEW_PROBLEMS = 16 };

static void print_losses(const cugen_portfolio *p) {
  printf("On these problems it loses %s on average", loss(p->mean).text);
  printf(", %s at worst", loss(p->worst).text);
  if (p->held_out_mean > 0) {
    printf("; on others, by cross-validation, %s", loss(p->held_out_mean).text);
    printf(" and %s", loss(p->held_out_worst).text);
  }
  puts(p->held_out_mean > 0 && p->problems < FEW_PROBLEMS
           ? ", which of so few problems says little."
           : ".");
}

static void print_missed(const char *where, size_t missed, const cugen_portfolio *p) {
  printf("%s%s of %s", where, print_count(missed).text, print_count(p->problems).text);
}

/* Prints how many problems have no loss, because no variant serves them. */
static void print_not_counted(const cugen_portfolio *p) {
  if (!p->missed && !p->held_out_missed) return;
  fputs("Not counted are problems that it does not serve at all: ", stdout);
  if (p->missed) print_missed("of these ", p->missed, p);
  if (p->missed && p->held_out_missed) fputs("; ", stdout);
  if (p->held_out_missed) print_missed("of others, by cross-validation, ", p->held_out_missed, p);
  puts(".");
}

static const char *portfolio_state_of(const cugen_portfolio_variant *v) {
  return v->stale ? "stale" : v->invalid ? "not valid here" : "";
}

/* Prints the variants with the columns that are needed: losses for a portfolio just learnt, states
   for a remembered one. */
static int portfolio_print_variants(struct cli *cli, const cugen_portfolio *p) {
  bool losses = false, states = false;
  for (size_t i = 0; i < p->variant_count; i++) {
    losses |= p->variants[i].mean > 0;
    states |= *portfolio_state_of(&p->variants[i]) != '\0';
  }
  struct table_column columns[6];
  size_t count = 0;
  struct table table;
  columns[count++] = (struct table_column){"", TABLE_RIGHT, 0};
  columns[count++] = (struct table_column){"serves", TABLE_RIGHT, 0};
  if (losses) columns[count++] = (struct table_column){"loses", TABLE_RIGHT, 1};
  if (losses) columns[count++] = (struct table_column){"at worst", TABLE_RIGHT, 2};
  if (states) columns[count++] = (struct table_column){"state", 0, 0};
  columns[count++] = (struct table_column){"variant", TABLE_WRAP, 0};
  table_open(&table, cli, columns, count);
  for (size_t i = 0; i < p->variant_count; i++) {
    const cugen_portfolio_variant *v = &p->variants[i];
    table_cell(&table, print_count(i).text);
    table_cell(&table, print_count((uint64_t)v->serves).text);
    if (losses) table_cell(&table, loss(v->mean).text);
    if (losses) table_cell(&table, loss(v->worst).text);
    if (states) table_cell(&table, portfolio_state_of(v));
    table_cell(&table, v->variant);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

int portfolio_print(struct cli *cli, const cugen_portfolio *p) {
  printf("Portfolio of %s", print_many(p->variant_count, "variant").text);
  if (p->kernels && p->kernels < p->variant_count)
    printf(" in %s", print_many(p->kernels, "kernel").text);
  printf(" for %s", print_many(p->problems, "problem").text);
  printf(" of %s%s%s%s:\n", p->config, *p->problem_class ? " " : "", p->problem_class,
         api_kernel_predicted(cli->kernel) ? ", by predictions" : "");
  int status = portfolio_print_variants(cli, p);
  if (status || options_given(cli, OPTION_QUIET)) return status;
  printf("Rule: %s\n", p->rule);
  if (p->doubted > 0)
    printf("The variant that it names is passed over where it takes more than %.1f times as long "
           "as another.\n",
           p->doubted);
  for (size_t i = 0; i < p->variant_count; i++)
    if (p->variants[i].time) printf("Time of %s: %s\n", print_count(i).text, p->variants[i].time);
  print_losses(p);
  print_not_counted(p);
  if (p->unserved)
    printf("%s problem%s no correct variant%s yet.\n", print_count(p->unserved).text,
           p->unserved == 1 ? " has" : "s have", cli_narrows(cli) ? " of those asked for" : "");
  return CUGEN_OK;
}

/* ---- A portfolio's problems ----------------------------------------------------------------- */

static int by_loss(const void *a, const void *b) {
  const cugen_portfolio_problem *x = *(const cugen_portfolio_problem *const *)a,
                                *y = *(const cugen_portfolio_problem *const *)b;
  if (x->loss != y->loss) return x->loss > y->loss ? -1 : 1;
  return strcmp(x->problem, y->problem);
}

int portfolio_print_problems(struct cli *cli, const cugen_portfolio *p, size_t top) {
  static const struct table_column columns[] = {{"problem", 0, 0},
                                                {"variant", TABLE_RIGHT, 0},
                                                {"time", TABLE_RIGHT, 0},
                                                {"own best", TABLE_RIGHT, 1},
                                                {"loses", TABLE_RIGHT, 0},
                                                {"held out", TABLE_RIGHT, 2},
                                                {"own best variant", TABLE_WRAP, 3}};
  struct table table;
  const cugen_portfolio_problem **sorted =
      calloc(p->problems + 1, sizeof(const cugen_portfolio_problem *));
  if (!sorted) return cli_no_memory(cli);
  for (size_t i = 0; i < p->problems; i++) sorted[i] = &p->problem[i];
  qsort(sorted, p->problems, sizeof *sorted, by_loss);
  const size_t shown = options_given(cli, OPTION_WIDE) || p->problems < top ? p->problems : top;
  const char *none = cli_narrows(cli) ? "none asked for is right" : "none is right";
  table_open(&table, cli, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < shown; i++) {
    const cugen_portfolio_problem *one = sorted[i];
    char *own = settings_take(one->problem, p->problem_class, false);
    table_cell(&table, own && *own ? own : one->problem);
    table_cell(&table, one->variant < p->variant_count ? print_count(one->variant).text : "-");
    table_cell(&table, one->seconds > 0 ? print_seconds(one->seconds).text : "-");
    table_cell(&table, one->best_seconds > 0 ? print_seconds(one->best_seconds).text : "-");
    table_cell(&table, loss(one->loss).text);
    table_cell(&table, loss(one->held_out_loss).text);
    table_cell(&table, *one->best ? one->best : none);
    free(own);
  }
  free(sorted);
  int status = table_close(&table, 0, stdout, &cli->error);
  if (!status && shown < p->problems)
    printf("The %s that lose most of %s problems; --top N and --wide show more.\n",
           print_count(shown).text, print_count(p->problems).text);
  return status;
}

/* ---- The list of portfolios ----------------------------------------------------------------- */

int portfolio_print_list(struct cli *cli, const cugen_portfolio *portfolios, size_t count) {
  static const struct table_column columns[] = {{"portfolio", 0, 0},
                                                {"class", TABLE_WRAP, 0},
                                                {"variants", TABLE_RIGHT, 0},
                                                {"problems", TABLE_RIGHT, 2},
                                                {"loses", TABLE_RIGHT, 0},
                                                {"held out", TABLE_RIGHT, 3},
                                                {"objective", TABLE_FOLD, 4},
                                                {"learnt", TABLE_FOLD, 5},
                                                {"options", TABLE_WRAP | TABLE_FOLD, 6},
                                                {"device", TABLE_WRAP | TABLE_FOLD, 0}};
  struct table table;
  table_open(&table, cli, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < count; i++) {
    const cugen_portfolio *p = &portfolios[i];
    table_cell(&table, p->config);
    table_cell(&table, *p->problem_class ? p->problem_class : "-");
    table_cell(&table, print_count(p->variant_count).text);
    table_cell(&table, print_count(p->problems).text);
    table_cell(&table, loss(p->mean).text);
    table_cell(&table, loss(p->held_out_mean).text);
    table_cell(&table, p->objective);
    table_cell(&table, print_moment(p->learnt_at).text);
    table_cell(&table, p->options);
    table_cell(&table, p->device);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *portfolio_variant_json(const void *item) {
  const cugen_portfolio_variant *v = item;
  return JSON_NEW(MEMBER(string, v, variant), MEMBER(integer, v, serves), MEMBER(known, v, mean),
                  MEMBER(known, v, worst), MEMBER(boolean, v, stale),
                  MEMBER(optional_string, v, time));
}

json_t *portfolio_json(const void *portfolio) {
  const cugen_portfolio *p = portfolio;
  const bool held = p->problem && (p->held_out_missed || p->held_out_mean > 0);
  json_t *problems = json_array();
  for (size_t i = 0; i < p->problems && p->problem; i++) {
    const cugen_portfolio_problem *one = &p->problem[i];
    const bool served = one->variant < p->variant_count;
    json_array_append_new(problems,
                          JSON_NEW(MEMBER(string, one, problem),
                                   {"variant", served ? json_count(one->variant) : json_null()},
                                   MEMBER(known, one, seconds), MEMBER(optional_string, one, best),
                                   MEMBER(known, one, best_seconds), MEMBER(known, one, loss),
                                   MEMBER(known, one, held_out_loss)));
  }
  return JSON_NEW(
      {"kernel", json_string(p->config)}, {"class", json_string(p->problem_class)},
      MEMBER(string, p, device), MEMBER(string, p, options), MEMBER(string, p, objective),
      MEMBER(string, p, rule), {"problem_count", json_count(p->problems)}, MEMBER(known, p, mean),
      MEMBER(known, p, worst), MEMBER(known, p, held_out_mean), MEMBER(known, p, held_out_worst),
      MEMBER(integer, p, learnt_at),
      {"variants", JSON_LIST(p->variants, p->variant_count, portfolio_variant_json)},
      {"doubted", p->doubted > 0 ? json_real(p->doubted) : json_null()},
      {"kernels", p->kernels ? json_count(p->kernels) : json_null()}, MEMBER(count, p, missed),
      {"held_out_missed", held ? json_count(p->held_out_missed) : json_null()},
      {"problems", problems});
}
