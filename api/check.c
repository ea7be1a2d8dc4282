/* Checks variants. */
#include "emulator/check/check.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "check.h"
#include "kernel.h"
#include "runtime/devices.h"

static void clear_check(void *data) {
  check_result_free(data);
}

static int check_check(cugen_kernel *k, const cugen_check_options *options,
                       struct check_result *out, cugen_error *err) {
  static const double timeout = 60;
  struct lookup *l = &k->lookup;
  struct cache *images;
  struct problem whole = {0};
  struct check_options wanted = {.wanted = *options,
                                 .settings = (const char *const *)k->settings,
                                 .setting_count = k->setting_count,
                                 .whole = &whole};
  if (!options->seed) wanted.wanted.seed = 1;
  if (options->threads <= 0) wanted.wanted.threads = cpu_count();
  if (!(options->timeout > 0)) wanted.wanted.timeout = timeout;
  int status = api_kernel_use_check(k, err);
  if (!status) status = lookup_space(l, err);
  if (!status) status = api_images(l->lib, &images, err);
  if (!status)
    status =
        problem_set(k->opened.config, wanted.settings, wanted.setting_count, false, &whole, err);
  if (!status) {
    /* The problem is the check problem on any device, because only the cpu device runs variants. */
    struct tune_target target = lookup_target(l);
    target.filter = l->filter;
    target.stop = api_stop(l->lib);
    target.ops = &cpu_device_ops;
    target.arch = "cpu";
    target.images = images;
    target.problem_is_check = true;
    status = check_run(&target, &wanted, out, err);
  }
  out->check.compared = config_proves(l->config);
  out->check.has_check = api_kernel_has_check(k);
  text_restart(&k->printed);
  if (out->printed) text_add(&k->printed, out->printed);
  problem_free(&whole);
  return status;
}

/* Explains a check without runs by its first skip. refusal: the status of the first refused
   variant, whose skip then is the reason; 0: none was refused. */
static int check_explain_nothing(const cugen_check *out, int refusal, cugen_error *err) {
  if (!out->skip_count)
    return error_set(err, CUGEN_ERROR_EMPTY, "nothing was checked: no variant was chosen");
  size_t first = 0;
  for (size_t i = out->skip_count; refusal && i-- > 0;)
    if (out->skips[i].refused) first = i;
  const cugen_check_skip *skip = &out->skips[first];
  int length;
  const char *why = error_essence(skip->why, &length);
  return error_set(err, refusal ? refusal : CUGEN_ERROR_EMPTY, "nothing was checked: %s: %.*s",
                   skip->what, length, why);
}

/* Returns the status for the findings or, without any, for variants that could not be checked. */
static int check_conclude(const struct check_result *result, cugen_error *err) {
  const cugen_check *out = &result->check;
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
  struct check_result *result = kept_renew(&k->check, sizeof *result, clear_check, err);
  if (!result) return CUGEN_ERROR_MEMORY;
  const bool on_check = k->on_check;
  const int status = api_restore_problem(k, on_check, check_check(k, options, result, err), err);
  *out = result->check; /* the findings so far are reported, however the check ended */
  return status ? status : check_conclude(result, err);
}
