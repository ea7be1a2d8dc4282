/* Arranges records for people; see findings.h. */
#include "findings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/records.h"
#include "base/key.h"
#include "print.h"
#include "records.h"

/* ---- Implementations and records ------------------------------------------------------------ */

static int open_implementations(struct cli *cli, struct findings *f) {
  int status = api_kernel_space(cli->kernel, &f->space, &cli->error);
  if (status) return status;
  f->implementations = calloc(f->space.implementations + 1, sizeof *f->implementations);
  if (!f->implementations) return cli_no_memory(cli);
  for (size_t i = 0; i < f->space.implementations; i++) {
    const cugen_implementation_info *info = &f->space.implementation[i];
    snprintf(f->implementations[i].name, sizeof f->implementations[i].name, "%s", info->name);
    f->implementations[i].valid = info->valid;
    f->implementation_count++;
  }
  return CUGEN_OK;
}

size_t findings_implementation(const struct findings *f, const char *variant) {
  size_t i = 0;
  while (i < f->implementation_count && !variant_is_of(variant, f->implementations[i].name)) i++;
  return i;
}

static void take_right(struct findings *f, const cugen_record *record) {
  size_t at = findings_implementation(f, record->variant);
  if (at == f->implementation_count) return;
  f->right[f->right_count++] = record;
  f->implementations[at].right++;
  f->verified_count += record->verified != 0;
}

/* Finds the best records: moves the best of all to the front of the right records, which are sorted
   by cost. Returns false if there is no memory. */
static bool findings_find_best(struct findings *f) {
  const cugen_record **own = calloc(f->right_count + 1, sizeof *own);
  if (!own) return false;
  const size_t at = api_best_of(f->right, f->right_count);
  if (at < f->right_count) {
    const cugen_record *best = f->right[at];
    memmove(f->right + 1, f->right, at * sizeof *f->right);
    f->right[0] = best;
    f->implementations[findings_implementation(f, best->variant)].best = best;
  }
  for (size_t i = 0; i < f->implementation_count; i++) {
    size_t count = 0;
    for (size_t r = 0; r < f->right_count; r++)
      if (findings_implementation(f, f->right[r]->variant) == i) own[count++] = f->right[r];
    if (count && !f->implementations[i].best)
      f->implementations[i].best = own[api_best_of(own, count)];
  }
  free(own);
  return true;
}

static void take_failed(struct findings *f, const cugen_record *record) {
  size_t at = findings_implementation(f, record->variant), outcome = (size_t)record->outcome;
  if (outcome >= OUTCOMES) return;
  struct ending *failure = &f->failures[outcome];
  const bool unpredicted = record->outcome == CUGEN_OUTCOME_UNPREDICTED;
  if (unpredicted)
    f->unpredicted_count++;
  else
    f->failed_count++;
  if (at < f->implementation_count && unpredicted) f->implementations[at].unpredicted++;
  if (at < f->implementation_count && !unpredicted) f->implementations[at].failed++;
  if (failure->count++ == 0) failure->example = record;
}

/* Takes the current records and counts the stale ones. In `all` the right records come first,
   sorted by cost. */
static void take_records(struct findings *f, const cugen_stored_record *all, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (all[i].superseded) continue;
    if (!all[i].current) {
      f->stale_count++;
      continue;
    }
    if (all[i].measured_at >= f->measured_at) {
      f->measured_at = all[i].measured_at;
      f->driver_version = all[i].driver_version;
      f->nvrtc_version = all[i].nvrtc_version;
    }
    if (all[i].record.outcome == CUGEN_OUTCOME_OK && all[i].record.seconds > 0)
      take_right(f, &all[i].record);
    else
      take_failed(f, &all[i].record);
  }
}

static int refuse_stale(struct cli *cli) {
  struct cli meant = *cli;
  const char *id = meant.values[OPTION_DEVICE] = cugen_kernel_device(cli->kernel)->id;
  bool predicts = api_kernel_predicted(cli->kernel);
  cli_fail(cli, CUGEN_ERROR_USAGE, "every record of %s for this problem is of an earlier source; ",
           cli->operand);
  if (predicts || device_parse(id).kind != CUGEN_DEVICE_MODEL)
    cli_append(cli, "'%s' %s it again, ", hint(&meant, "tune").text,
               predicts ? "predicts" : "measures");
  cli_append(cli, "'%s' says more", hint(&meant, "cache why").text);
  return CUGEN_ERROR_USAGE;
}

/* Fails, because the options leave out all records or all variants. */
static int refuse_left_out(struct cli *cli, const struct findings *f) {
  struct cli meant = *cli;
  cugen_choice choice = {0};
  if (!f->space.valid) return api_kernel_choose(cli->kernel, 0, &choice, &cli->error);
  meant.values[OPTION_DEVICE] = cugen_kernel_device(cli->kernel)->id;
  return cli_fail(cli, CUGEN_ERROR_USAGE,
                  "no record of %s is of a variant that the options name; '%s' %s them",
                  cli->operand, hint(&meant, "tune").text,
                  api_kernel_predicted(cli->kernel) ? "predicts" : "measures");
}

static int findings_load_records(struct cli *cli, struct findings *f) {
  const cugen_stored_record *all;
  size_t count;
  int status = api_kernel_stored(cli->kernel, 1, &all, &count, &cli->error);
  if (status) return status;
  f->right = calloc(count + 1, sizeof *f->right);
  if (!f->right) return cli_no_memory(cli);
  if (!trace_open(all, count, &f->trace)) return cli_no_memory(cli);
  take_records(f, all, count);
  if (!findings_find_best(f)) return cli_no_memory(cli);
  if (f->right_count || f->failed_count || f->unpredicted_count) return CUGEN_OK;
  return cli_narrows(cli) ? refuse_left_out(cli, f) : refuse_stale(cli);
}

/* ---- All findings --------------------------------------------------------------------------- */

int findings_open(struct cli *cli, struct findings *out) {
  *out = (struct findings){0};
  int status = findings_find(cli, out);
  if (!status) status = open_implementations(cli, out);
  if (!status) status = findings_load_records(cli, out);
  if (!status) status = api_kernel_ceilings(cli->kernel, &out->ceilings, &cli->error);
  cugen_baseline_result baseline = {.function = NULL};
  if (!status) status = api_kernel_baseline(cli->kernel, &baseline, &cli->error);
  if (status) {
    findings_close(out);
    return status;
  }
  out->device = cugen_kernel_device(cli->kernel);
  out->kernel = cli->kernel;
  out->predicted = api_kernel_predicted(cli->kernel);
  out->baseline = records_baseline(cli, &baseline);
  return CUGEN_OK;
}

void findings_close(struct findings *f) {
  trace_close(&f->trace);
  free(f->baseline);
  free(f->implementations);
  free(f->right);
  cugen_close(f->listing);
  *f = (struct findings){0};
}

void findings_print_heading(struct cli *cli, const struct findings *f) {
  printf("%s %s on ", cugen_kernel_name(cli->kernel), api_kernel_problem_short(cli->kernel));
  cli_print_device(cli, stdout);
  puts(f->now               ? ": predicted now, nothing is remembered"
       : f->predicted       ? ": predicted, nothing is measured"
       : findings_on_cpu(f) ? "; times are the CPU's own, not a GPU's"
                            : "");
}

bool findings_on_cpu(const struct findings *f) {
  return device_parse(f->device->id).kind == CUGEN_DEVICE_CPU;
}

double findings_rate(const cugen_record *record) {
  return record->seconds > 0 ? (record->flops > 0 ? record->flops : record->bytes) / record->seconds
                             : 0;
}

bool findings_has_roof(const struct findings *f) {
  const cugen_record *r = f->right_count ? f->right[0] : NULL;
  return r && r->flops > 0 && r->bytes > 0 && records_peak(&f->ceilings) > 0 &&
         records_bandwidth(&f->ceilings) > 0;
}

/* Returns true for problems of one kernel that differ only in sizes. */
static bool is_other_size(const char *a, const char *b) {
  struct setting one, other;
  size_t length;
  while (setting_next(&a, &one))
    if (!setting_next(&b, &other) ||
        !(setting_equal(&one, &other) || isdigit((unsigned char)*setting_value(&one, &length))))
      return false;
  return !setting_next(&b, &other);
}

bool findings_takes_other(const struct findings *f, const cugen_cache_set *set) {
  return findings_is_kin(f, set) && is_other_size(cugen_kernel_problem(f->kernel), set->problem) &&
         set->seconds > 0 && set->flops > 0 && set->bytes > 0 && f->right_count &&
         strcmp(set->best, "") != 0 &&
         (set->flops != f->right[0]->flops || set->bytes != f->right[0]->bytes);
}
