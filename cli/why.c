/* cugen cache why: shows what a look-up finds, or field by field why it finds nothing. */
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/records.h"
#include "api/why.h"
#include "cli.h"
#include "print.h"
#include "records.h"
#include "table.h"

static int print_match(struct cli *cli, const cugen_why_match *match) {
  static const struct table_column columns[] = {{"", 0, 0}, {"", 0, 0}, {"", TABLE_WRAP, 0}};
  const bool right = match->outcome == CUGEN_OUTCOME_OK;
  printf("\n%s: %s", match->variant,
         right ? print_seconds(match->seconds).text : outcome_text((int)match->outcome));
  printf(", %s %s\n  %s\n", match->predicted ? "predicted" : "measured",
         print_moment(match->measured_at).text, match->verdict);
  if (options_given(cli, OPTION_QUIET)) return CUGEN_OK;
  struct table table;
  table_open(&table, cli, columns, 3);
  for (size_t i = 0; i < match->row_count; i++) {
    const cugen_why_row *row = &match->rows[i];
    table_cell(&table, row->field);
    if (row->state == CUGEN_WHY_SAME) {
      table_cell(&table, "same");
      table_cell(&table, row->found);
    } else if (row->state == CUGEN_WHY_UNKNOWN) {
      table_cell(&table, "not known");
      table_cell(&table, "the record does not say");
    } else {
      table_cell(&table, row->decides ? "DIFFERS" : "differs");
      table_cellf(&table, "%s now, %s in the cache%s", row->wanted, row->found,
                  row->decides ? "" : "; it decides nothing");
    }
  }
  return table_close(&table, 2, stdout, &cli->error);
}

/* Prints how the variant taken compares with the other right variants, if it is the first of this
   problem's own records and right. */
static void print_lead(const struct cli *cli, const char *taken) {
  size_t count, right = 0, tied = 0;
  const cugen_record *all = api_records(cli->kernel, &count), *best = all, *least = all;
  if (!count || best->outcome != CUGEN_OUTCOME_OK || strcmp(best->variant, taken) != 0) return;
  for (; right < count && !all[right].outcome; right++)
    if (all[right].cost < least->cost) least = &all[right];
  const cugen_record *next = NULL; /* of least cost among those that do not tie */
  for (size_t i = 0; i < right; i++) {
    if (all[i].cost <= least->cost * CUGEN_TIE)
      tied++;
    else if (!next || all[i].cost < next->cost)
      next = &all[i];
  }
  const char *objective = api_kernel_objective_text(cli->kernel);
  printf("Why it leads: ");
  if (right == 1) printf("it is the only right variant that is remembered.");
  if (right > 1 && tied > 1)
    printf("%s of %s right variants are within 0.5%% of the best by %s; of such a tie the one that "
           "%s is taken.",
           print_count(tied).text, print_count(right).text, objective, records_preference(cli));
  if (right > 1 && tied == 1)
    printf("it is the best of %s right variants by %s.", print_count(right).text, objective);
  if (strcmp(least->variant, best->variant) != 0)
    printf(" '%s' is %.2g%% better.", least->variant, 100 * (1 - least->cost / best->cost));
  if (next)
    printf(" %s, '%s', takes %.3g times as much.",
           tied > 1 ? "The first that does not tie" : "The next", next->variant,
           next->cost / best->cost);
  putchar('\n');
}

static int print_why(struct cli *cli, const cugen_why *why) {
  int status = CUGEN_OK;
  if (!options_given(cli, OPTION_QUIET)) cli_print_head(cli);
  printf("%s: %s.\n", why->hit ? "Hit" : "Miss", why->verdict);
  if (why->hit && why->match_count && !cli->values[OPTION_VARIANT] &&
      !options_given(cli, OPTION_QUIET))
    print_lead(cli, why->matches[0].variant);
  for (size_t i = 0; !status && i < why->match_count; i++)
    status = print_match(cli, &why->matches[i]);
  if (status || !*why->advice) return status;
  printf("\nTo do: %s", message_own(why->advice).text);
  if (why->tune) {
    const struct cli meant = cli_to_tune(cli);
    printf(": %s", hint(&meant, "tune").text);
  }
  putchar('\n');
  return CUGEN_OK;
}

static json_t *row_json(const void *item) {
  static const char *const states[] = {"same", "differs", "unknown"};
  const cugen_why_row *row = item;
  return JSON_NEW(MEMBER(string, row, field), MEMBER(string, row, wanted),
                  MEMBER(string, row, found), {"state", json_string(states[row->state])},
                  MEMBER(boolean, row, decides));
}

static json_t *match_json(const void *item) {
  const cugen_why_match *match = item;
  return JSON_NEW(
      MEMBER(string, match, variant), MEMBER(string, match, verdict),
      {"outcome", json_string(outcome_name((int)match->outcome))},
      {"seconds", match->outcome == CUGEN_OUTCOME_OK ? json_number(match->seconds) : json_null()},
      MEMBER(integer, match, measured_at),
      {"fields", JSON_LIST(match->rows, match->row_count, row_json)});
}

static int why_print_json(struct cli *cli, const cugen_why *why) {
  return cli_print_json(
      cli, JSON_ADD(json_kernel(cli), MEMBER(boolean, why, hit), MEMBER(string, why, verdict),
                    {"advice", json_optional_string(message_own(why->advice).text)},
                    {"matches", JSON_LIST(why->matches, why->match_count, match_json)}));
}

int command_cache_why(struct cli *cli) {
  cugen_why why;
  const cugen_stored_record *all;
  size_t count;
  int status = cli_open_kernel(cli);
  if (!status) status = cli_use_check_on_cpu(cli);
  /* For a described GPU without stored records, cli_stored turns to predictions. */
  if (!status && cli_device(cli) == CUGEN_DEVICE_MODEL) status = cli_stored(cli, &all, &count);
  if (!status) status = api_kernel_why(cli->kernel, cli->values[OPTION_VARIANT], &why, &cli->error);
  if (status) return status;
  if (!why.hit) cli_remark_no_cache(cli);
  return options_given(cli, OPTION_JSON) ? why_print_json(cli, &why) : print_why(cli, &why);
}
