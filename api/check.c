/* Checking variants: api_kernel_check. */
#include "emulator/check/check.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "check.h"
#include "kernel.h"
#include "runtime/compile/toolkit.h"
#include "runtime/devices.h"

struct checked {
  struct check_result result;
  cugen_check_finding *findings;
  cugen_check_traffic *traffic;
  cugen_check_skip *skips;
  cugen_check_ran *ran;
  cugen_check_kept *kept;
  cugen_check_line *unreached;
  cugen_check_waiver *waivers;
};

static void clear_check(void *data) {
  struct checked *check = data;
  check_result_free(&check->result);
  free(check->findings);
  free(check->traffic);
  free(check->skips);
  free(check->ran);
  free(check->kept);
  free(check->unreached);
  free(check->waivers);
}

/* ---- Results for the caller ----------------------------------------------------------------- */

static cugen_check_finding publish_finding(const struct check_finding *f) {
  cugen_check_finding out = {.kind = f->kind,
                             .message = f->message,
                             .file = f->here.file,
                             .line = f->here.line,
                             .user_file = f->here.user,
                             .user_line = f->here.user_line,
                             .other_file = f->other.file,
                             .other_line = f->other.line,
                             .array = f->raw.array,
                             .shared = f->raw.shared,
                             .variant = f->variant,
                             .problem = f->problem,
                             .variants = f->variants.count,
                             .count = f->count,
                             .places = f->places,
                             .also = f->also ? f->also : "",
                             .note = f->note,
                             .waived = f->waiver ? f->waiver->reason : ""};
  memcpy(out.block, f->raw.here.block, sizeof out.block);
  memcpy(out.thread, f->raw.here.thread, sizeof out.thread);
  memcpy(out.other_block, f->raw.other.block, sizeof out.other_block);
  memcpy(out.other_thread, f->raw.other.thread, sizeof out.other_thread);
  return out;
}

static cugen_check_traffic publish_traffic(const struct check_traffic *t) {
  return (cugen_check_traffic){.variant = t->variant,
                               .problem = t->problem,
                               .launch = t->launch,
                               .launches = t->launches,
                               .entry = t->entry,
                               .array = t->counter.array,
                               .memory = t->counter.memory,
                               .write = t->counter.write,
                               .requests = t->counter.requests,
                               .bytes = t->counter.bytes,
                               .needed = t->counter.needed,
                               .ideal = t->counter.ideal,
                               .lines = t->counter.lines,
                               .touched = t->counter.touched,
                               .elsewhere = t->elsewhere};
}

static size_t publish_lines(const struct reached *r, cugen_check_line *out) {
  size_t count = 0;
  for (size_t i = 0; i < r->count; i++)
    if (!r->lines[i].ran) out[count++] = (cugen_check_line){r->lines[i].file, r->lines[i].line};
  return count;
}

static void publish_waivers(const struct config *config, const struct check_result *r,
                            cugen_check_waiver *out) {
  for (size_t i = 0; i < config->waiver_count; i++) {
    const struct config_waiver *w = &config->waivers[i];
    out[i] = (cugen_check_waiver){w->line.path, w->line.number, w->kind, w->at, w->reason, 0};
    for (size_t f = 0; f < r->finding_count; f++) out[i].findings += r->findings[f].waiver == w;
  }
}

static int check_publish(struct checked *check, const cugen_kernel *k, cugen_check *out,
                         cugen_error *err) {
  const struct check_result *r = &check->result;
  check->findings = calloc(r->finding_count + 1, sizeof *check->findings);
  check->traffic = calloc(r->traffic_count + 1, sizeof *check->traffic);
  check->skips = calloc(r->skip_count + 1, sizeof *check->skips);
  check->ran = calloc(r->runs + 1, sizeof *check->ran);
  check->kept = calloc(r->kept_count + 1, sizeof *check->kept);
  check->unreached = calloc(r->reached.count + 1, sizeof *check->unreached);
  check->waivers = calloc(k->lookup.config->waiver_count + 1, sizeof *check->waivers);
  if (!check->waivers || !check->unreached || !check->kept || !check->findings || !check->traffic ||
      !check->skips || !check->ran)
    return error_memory(err);
  for (size_t i = 0; i < r->finding_count; i++)
    check->findings[i] = publish_finding(&r->findings[i]);
  for (size_t i = 0; i < r->traffic_count; i++) check->traffic[i] = publish_traffic(&r->traffic[i]);
  for (size_t i = 0; i < r->skip_count; i++)
    check->skips[i] = (cugen_check_skip){r->skips[i].what, r->skips[i].why, r->skips[i].refused,
                                         r->skips[i].variants.count};
  for (size_t i = 0; i < r->runs; i++)
    check->ran[i] = (cugen_check_ran){r->ran[i].variant, r->ran[i].problem};
  for (size_t i = 0; i < r->kept_count; i++)
    check->kept[i] = (cugen_check_kept){r->kept[i].setting, r->kept[i].why};
  publish_waivers(k->lookup.config, r, check->waivers);
  const size_t unreached = publish_lines(&r->reached, check->unreached);
  *out = (cugen_check){.findings = check->findings,
                       .lines = r->reached.count,
                       .lines_reached = r->reached.count - unreached,
                       .unreached = check->unreached,
                       .unwatched = (const char *const *)r->unwatched,
                       .unwatched_count = r->unwatched_count,
                       .finding_count = r->finding_count,
                       .note_count = r->note_count,
                       .traffic = check->traffic,
                       .traffic_count = r->traffic_count,
                       .skips = check->skips,
                       .skip_count = r->skip_count,
                       .ran = check->ran,
                       .variants = r->variants,
                       .problems = r->problems,
                       .runs = r->runs,
                       .variants_of = r->variants_of,
                       .variants_elsewhere = r->variants_elsewhere,
                       .runs_done = r->done,
                       .runs_planned = r->planned,
                       .problem_texts = (const char *const *)r->problem_texts,
                       .kept = check->kept,
                       .kept_count = r->kept_count,
                       .waivers = check->waivers,
                       .waiver_count = k->lookup.config->waiver_count,
                       .waived_count = r->waived_count,
                       .elsewhere = r->elsewhere,
                       .compared = config_proves(k->lookup.config),
                       .has_check = api_kernel_has_check(k)};
  return CUGEN_OK;
}

/* ---- Running the check ---------------------------------------------------------------------- */

static int check_on_progress(const struct check_progress *progress, void *context) {
  const cugen_check_options *options = context;
  const cugen_check_progress state = {progress->done, progress->planned, progress->findings};
  return options->progress ? options->progress(&state, options->context) : 0;
}

/* Uses the check problem for every kernel, because only the cpu device runs the variants. */
static int check_make_target(cugen_kernel *k, struct tune_target *out, cugen_error *err) {
  struct lookup *l = &k->lookup;
  struct cache *images;
  int status = api_kernel_use_check(k, err);
  if (!status) status = lookup_space(l, err);
  if (!status) status = api_images(l->lib, &images, err);
  if (status) return status;
  *out = lookup_target(l);
  out->filter = l->filter;
  out->stop = api_stop(l->lib);
  out->ops = &cpu_device_ops;
  out->arch = "cpu";
  out->images = images;
  out->problem_is_check = true;
  return CUGEN_OK;
}

static int check_check(cugen_kernel *k, const cugen_check_options *options,
                       struct check_result *out, cugen_error *err) {
  static const double timeout = 60;
  struct tune_target target;
  struct problem whole = {0};
  const struct check_options wanted = {.variant = options->variant,
                                       .all = options->all != 0,
                                       .branches = options->branches != 0,
                                       .strict = options->strict != 0,
                                       .no_traffic = options->no_traffic != 0,
                                       .sample = options->sample,
                                       .seed = options->seed ? options->seed : 1,
                                       .threads =
                                           options->threads > 0 ? options->threads : cpu_count(),
                                       .timeout = options->timeout > 0 ? options->timeout : timeout,
                                       .settings = (const char *const *)k->settings,
                                       .setting_count = k->setting_count,
                                       .whole = &whole,
                                       .progress = check_on_progress,
                                       .context = (void *)(uintptr_t)options};
  int status = check_make_target(k, &target, err);
  if (!status)
    status = problem_set(k->opened.config, (const char *const *)k->settings, k->setting_count,
                         false, &whole, err);
  if (!status) status = check_run(&target, &wanted, out, err);
  text_restart(&k->printed);
  if (out->printed) text_add(&k->printed, out->printed);
  problem_free(&whole);
  return status;
}

/* Explains a check without runs. refusal: the status of a variant that was refused, which is then
   the reason. */
static int check_explain_nothing(const cugen_check *out, int refusal, cugen_error *err) {
  if (!out->skip_count)
    return error_set(err, CUGEN_ERROR_EMPTY, "nothing was checked: no variant was chosen");
  size_t first = 0;
  for (size_t i = out->skip_count; refusal && i-- > 0;)
    if (out->skips[i].refused) first = i;
  const cugen_check_skip *skip = &out->skips[first];
  return error_set(err, refusal ? refusal : CUGEN_ERROR_EMPTY, "nothing was checked: %s: %.*s",
                   skip->what, (int)strcspn(skip->why, "\n"), skip->why);
}

/* Returns the status for the findings, or for the variants that could not be checked. */
static int check_conclude(const cugen_check *out, const struct check_result *result,
                          cugen_error *err) {
  const size_t refused = result->refused.count, faulty = result->faulty.count;
  const size_t findings = out->finding_count - out->note_count;
  if (findings)
    return error_set(err, CUGEN_ERROR_WRONG, "%zu finding%s in %zu variant%s", findings,
                     findings == 1 ? "" : "s", out->variants, out->variants == 1 ? "" : "s");
  if (!out->runs && faulty) return error_copy(err, &result->fault);
  if (!out->runs) return check_explain_nothing(out, result->refusal, err);
  if (faulty)
    return error_set(err, result->fault.status,
                     "nothing found, but %zu variant%s could not be checked", faulty,
                     faulty == 1 ? "" : "s");
  if (!refused) return CUGEN_OK;
  return error_set(err, result->refusal, "nothing found, but %zu variant%s could not be checked",
                   refused, refused == 1 ? "" : "s");
}

int api_kernel_check(cugen_kernel *k, const cugen_check_options *options, cugen_check *out,
                     cugen_error *err) {
  static const cugen_check_options defaults = {0};
  if (!options) options = &defaults;
  *out = (cugen_check){0};
  if ((options->variant != NULL) + (options->all != 0) + (options->branches != 0) +
          (options->sample != 0) >
      1)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "one of variant, all, branches and sample is expected, not several");
  struct checked *checked = kept_renew(&k->check, sizeof *checked, clear_check, err);
  if (!checked) return CUGEN_ERROR_MEMORY;
  const bool on_check = k->on_check;
  int status =
      api_restore_problem(k, on_check, check_check(k, options, &checked->result, err), err);
  cugen_error ignored; /* the findings so far are reported, however the check ended */
  if (check_publish(checked, k, out, &ignored)) return error_memory(err);
  return status ? status : check_conclude(out, &checked->result, err);
}
