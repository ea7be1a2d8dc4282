/* Plans and calls: a chosen variant loaded into an application's context, and launched on its
   streams. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "bitwise.h"
#include "capture.h"
#include "exploring.h"
#include "portfolio.h"
#include "runtime/devices.h"
#include "runtime/plan.h"
#include "tune/tuner/race.h"

struct cugen_plan {
  struct selection selection;
  struct kernel_spec spec;
  struct compiled compiled;
  struct device *device;
  struct plan *plan;
  void *context;            /* context into which the image is loaded; NULL: the primary one */
  struct text image;        /* key of the image */
  const cugen_plan *lender; /* the plan whose device and loaded image this plan uses; NULL: none */
  struct text kernel, problem;
  struct text choice; /* result of cugen_plan_save */
  cugen_plan_info info;
  struct exploration *exploration; /* NULL: nothing is explored */
  struct capture *capture;         /* NULL: nothing is captured */
  char device_name[128];
  atomic_uint_fast64_t launches; /* launches of closed calls */
};

struct cugen_call {
  struct call *call;
  struct call **explored; /* NULL, or RACE_MOST calls, of which the first is `call` */
  cugen_plan *plan;
  atomic_uint_fast64_t launches;
  struct memory scratch[KERNEL_MAX_ARGUMENTS]; /* scratch that the call owns; an entry without a
                                                  base is none */
};

/* ---- Opening: the context ------------------------------------------------------------------- */

static int plan_open_device(cugen_kernel *k, const cugen_plan_options *options, cugen_plan *p,
                            cugen_error *err) {
  const struct device_ops *ops;
  const bool primary = options->flags & CUGEN_PLAN_PRIMARY;
  struct device_options device = {.toolkit = k->lookup.lib->toolkit, .embedded = true};
  int status = lookup_check_present(&k->lookup, err);
  if (!status && primary && options->context)
    status = error_set(err, CUGEN_ERROR_USAGE,
                       "CUGEN_PLAN_PRIMARY and a context: a plan is loaded into one of them");
  if (!status && !primary) status = lookup_context(&k->lookup, options->context, &p->context, err);
  device.context = p->context;
  if (!status) status = device_find(k->lookup.device.id, &ops, &device.ordinal, err);
  return status ? status : ops->open(&device, &p->device, err);
}

/* ---- Opening: the variant ------------------------------------------------------------------- */

/* Appends why no portfolio serves. */
static void plan_say_portfolio(const struct lookup *l, struct text *out) {
  struct portfolio_found *found;
  size_t count;
  cugen_error ignored;
  if (portfolios_find(l, NULL, &found, &count, &ignored)) count = 0, found = NULL;
  text_add(out, count ? "portfolio; of what is remembered no variant is valid here with the source "
                        "that was measured"
                      : "portfolio, and none is remembered");
  portfolios_free(found, count);
}

/* Refuses a plan because no tuned variant serves its problem, and captures the problem. */
static int plan_refuse_untuned(cugen_kernel *k, const cugen_plan_options *options,
                               cugen_error *err) {
  const struct lookup *l = &k->lookup;
  struct text range = {0};
  const bool by_policy = options->distance == 0 && l->config->policy.kind == POLICY_PORTFOLIO;
  capture_add(l->lib->capture, &(struct capture_line){.kernel = l->config->name,
                                                      .problem = text_get(&l->problem_text),
                                                      .device = l->device.name,
                                                      .plan = "none",
                                                      .variant = "",
                                                      .opens = 1});
  if (by_policy || (options->flags & CUGEN_PLAN_BY_PORTFOLIO && options->distance >= 0))
    plan_say_portfolio(l, &range);
  else if (options->distance > 0)
    text_addf(&range, "nearest { distance = %g }, as asked", options->distance);
  else if (options->distance < 0)
    text_add(&range, "exact, as asked");
  else
    text_addf(&range, "%s, by %s", text_get(&k->policy), l->config->path);
  error_set(err, CUGEN_ERROR_USAGE,
            "no tuned problem serves %s %s on %s (policy %s), and the plan must be tuned "
            "(CUGEN_PLAN_TUNED_ONLY). Tune it first: cugen_kernel_tune, or 'cugen tune'. 'cugen "
            "cache why' says what was found",
            l->config->name, text_get(&l->problem_text), l->device.name, text_get(&range));
  text_free(&range);
  return CUGEN_ERROR_USAGE;
}

/* Expands the plan's variant, unless choosing has expanded it for this problem and GPU. */
static int plan_expand(struct lookup *l, cugen_plan *p, cugen_error *err) {
  struct best_record *best = &p->selection.best;
  const bool elsewhere =
      p->selection.how == CUGEN_PLAN_NEAR || p->selection.how == CUGEN_PLAN_OTHER_GPU;
  if (best->found && !elsewhere) {
    p->spec = best->spec;
    best->spec = (struct kernel_spec){0};
    return CUGEN_OK;
  }
  int status = lookup_expander(l, err);
  return status ? status : lookup_expand(l, p->selection.index, &p->spec, err);
}

/* Finds the compiled image or compiles it. An image that cannot be cached is no error. */
static int find_image(const struct lookup *l, const char *key, cugen_plan *p, cugen_error *err) {
  struct cache *cache;
  bool found = false;
  int status = api_cache(l->lib, &cache, err);
  if (!status) status = lookup_find_image(cache, &p->spec, key, &p->compiled, &found, err);
  p->info.image_from_cache = found;
  if (status || found) return status;
  status = lookup_compile(l, &p->spec, false, &p->compiled, err);
  if (!status) cache_image_store(cache, key, &p->compiled, NULL);
  return status;
}

/* Plans that may lend their loaded image to the plan that is opened. A plan that is opened among
   others keeps its own image, to lend it. */
struct others {
  cugen_plan *const *plans;
  size_t count;
};

/* Returns whether arguments are variables of the image; such a loaded image belongs to one plan. */
static bool has_variables(const struct kernel_spec *spec) {
  for (size_t i = 0; i < spec->argument_count; i++)
    if (spec->arguments[i].kind == CUGEN_ARGUMENT_CONSTANT ||
        kernel_argument_symbol(&spec->arguments[i]))
      return true;
  return false;
}

/* A loaded function keeps the dynamic shared memory and the carveout that were set last. Returns
   whether both plans set the same values, so that the plans can share functions. */
static bool same_functions(const struct kernel_spec *a, const struct kernel_spec *b) {
  if (a->launch_count != b->launch_count) return false;
  for (size_t i = 0; i < a->launch_count; i++)
    if (a->launches[i].shared_bytes != b->launches[i].shared_bytes ||
        a->launches[i].has_carveout != b->launches[i].has_carveout ||
        a->launches[i].carveout != b->launches[i].carveout ||
        strcmp(a->launches[i].entry, b->launches[i].entry) != 0)
      return false;
  return true;
}

static const cugen_plan *find_lender(const struct others *others, const cugen_plan *p) {
  for (size_t i = 0; others && i < others->count && !has_variables(&p->spec); i++) {
    const cugen_plan *of = others->plans[i];
    if (!of->lender && of->context == p->context &&
        strcmp(text_get(&of->image), text_get(&p->image)) == 0 &&
        same_functions(&of->spec, &p->spec))
      return of;
  }
  return NULL;
}

/* Loads the image, or takes that of another plan. */
static int plan_load(const struct lookup *l, const struct others *others, cugen_plan *p,
                     cugen_error *err) {
  int status = cache_image_key(&p->spec, device_target(&l->device, l->arch), text_get(&l->options),
                               l->nvrtc_version, &p->image, err);
  if (status) return status;
  p->lender = find_lender(others, p);
  if (p->lender) {
    p->device->ops->close(p->device);
    p->device = p->lender->device;
    p->info.image_from_cache = true;
    status = plan_open_sharing(p->lender->plan, &p->spec, &p->lender->compiled, &p->plan, err);
  } else {
    status = find_image(l, text_get(&p->image), p, err);
    if (!status) status = plan_open(p->device, &p->spec, &p->compiled, &p->plan, err);
  }
  if (!status) lookup_drop_image(p->device, others ? NULL : &p->compiled, &p->spec);
  return status;
}

static int plan_describe(cugen_kernel *k, cugen_plan *p, cugen_error *err) {
  const struct cache_record *record = &p->selection.best.record;
  const cugen_plan_choice how = p->selection.how;
  text_add(&p->kernel, k->lookup.config->name);
  text_add(&p->problem, text_get(&k->lookup.problem_text));
  if (p->kernel.failed || p->problem.failed) return error_memory(err);
  p->info.kernel = text_get(&p->kernel);
  p->info.problem = text_get(&p->problem);
  p->info.variant = p->spec.variant;
  p->info.choice = how;
  p->info.distance = p->selection.distance;
  p->info.source_hash = p->spec.source_hash.hex;
  p->info.launches = kernel_spec_calls(&p->spec);
  p->info.arguments = p->spec.argument_count;
  p->info.tuned_on = p->selection.other.length ? text_get(&p->selection.other) : NULL;
  p->info.predicted = p->selection.predicted;

  /* A default, pinned or portfolio choice comes without a measurement. */
  const bool measured =
      how != CUGEN_PLAN_DEFAULT && how != CUGEN_PLAN_PINNED && how != CUGEN_PLAN_PORTFOLIO;
  p->info.flops = measured ? record->flops : p->spec.flops;
  p->info.bytes = measured ? record->bytes : p->spec.bytes;
  if (!measured) return CUGEN_OK;
  p->info.seconds = record->seconds;
  p->info.tuned_for = text_get(&p->selection.problem);
  p->info.measured_at = record->measured_at;
  p->info.driver_version = record->driver_version;
  p->info.nvrtc_version = record->nvrtc_version;
  return CUGEN_OK;
}

static int plan_choose(cugen_kernel *k, const cugen_plan_options *options, struct selection *out,
                       cugen_error *err) {
  struct lookup *l = &k->lookup;
  bool pinned = false;
  if (options->choice) return api_select_bytes(l, options->choice, options->choice_size, out, err);
  if (options->bitwise) return bitwise_select(k, options->bitwise, out, err);
  int status = api_select_pinned(l, out, &pinned, err);
  if (status || pinned) return status;
  status = api_select(l, options->distance, options->flags & CUGEN_PLAN_BY_PORTFOLIO, out, err);
  if (status || !out->failed.length) return status;
  /* A plan launches without verifying, so a variant that is known to fail cannot serve. */
  return error_set(err, CUGEN_ERROR_WRONG,
                   "every variant of %s %s is remembered to have failed on %s, the first with "
                   "'%s'. Mend the kernel: what is remembered of another source does not count. Or "
                   "measure again: cugen_tune_options.again",
                   l->config->name, text_get(&k->problem_short), l->device.name,
                   text_get(&out->failed));
}

/* ---- Opening: capturing --------------------------------------------------------------------- */

static const char *const choice_words[] = {
    [CUGEN_PLAN_EXACT] = "exact",   [CUGEN_PLAN_PORTFOLIO] = "portfolio",
    [CUGEN_PLAN_NEAR] = "near",     [CUGEN_PLAN_DEFAULT] = "default",
    [CUGEN_PLAN_PINNED] = "pinned", [CUGEN_PLAN_OTHER_GPU] = "other_gpu"};

static void capture_plan(const cugen_plan *p, double seconds, uint64_t opens, uint64_t launches) {
  capture_add(p->capture, &(struct capture_line){.kernel = p->info.kernel,
                                                 .problem = p->info.problem,
                                                 .device = p->device_name,
                                                 .plan = choice_words[p->info.choice],
                                                 .variant = p->info.variant,
                                                 .seconds = seconds,
                                                 .opens = opens,
                                                 .launches = launches});
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* Starts exploration if the options ask for it, the variant was tuned for this very problem, and no
   earlier exploration has settled. */
static int plan_explore(cugen_kernel *k, const cugen_plan_options *options, bool settled,
                        cugen_plan *p, cugen_error *err) {
  static const double usual_share = 0.05;
  const struct cache_record *record = &p->selection.best.record;
  const double share = options->explore_share;
  const struct exploration_plan own = {.device = p->device,
                                       .spec = &p->spec,
                                       .record = record,
                                       .outputs = options->bitwise ? &record->outputs : NULL,
                                       .share = share > 0 ? share : usual_share};
  if (!(options->flags & CUGEN_PLAN_EXPLORE) || settled || p->selection.how != CUGEN_PLAN_EXACT)
    return CUGEN_OK;
  return exploration_open(&k->lookup, &own, &p->exploration, err);
}

static int plan_open_parts(cugen_kernel *k, const cugen_plan_options *options,
                           const struct others *others, cugen_plan *p, cugen_error *err) {
  bool settled = false;
  int status = plan_open_device(k, options, p, err);
  if (!status) status = plan_choose(k, options, &p->selection, err);
  const cugen_outputs outputs = p->selection.best.record.outputs;
  if (!status && options->flags & CUGEN_PLAN_EXPLORE)
    status = exploration_recall(&k->lookup, options->bitwise ? &outputs : NULL, &p->selection,
                                &settled, err);
  const cugen_plan_choice how = p->selection.how;
  if (!status && options->flags & CUGEN_PLAN_TUNED_ONLY &&
      (how == CUGEN_PLAN_DEFAULT || how == CUGEN_PLAN_OTHER_GPU))
    status = plan_refuse_untuned(k, options, err);
  if (!status) status = plan_expand(&k->lookup, p, err);
  if (!status) status = api_write_choice(&k->lookup, &p->spec, &p->choice, err);
  if (!status) status = plan_load(&k->lookup, others, p, err);
  if (!status) status = plan_explore(k, options, settled, p, err);
  if (!status) status = plan_describe(k, p, err);
  if (status) return status;
  p->capture = k->lookup.lib->capture;
  memcpy(p->device_name, k->lookup.device.name, sizeof p->device_name);
  capture_plan(p, p->info.seconds, 1, 0);
  return CUGEN_OK;
}

static int plan_check_options(const cugen_plan_options *options, cugen_error *err) {
  const unsigned known =
      CUGEN_PLAN_TUNED_ONLY | CUGEN_PLAN_PRIMARY | CUGEN_PLAN_BY_PORTFOLIO | CUGEN_PLAN_EXPLORE;
  if (API_SIZE(err, cugen_plan_options, CUGEN_PLAN_OPTIONS_INIT, options)) return CUGEN_ERROR_USAGE;
  if (options->flags & ~known)
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_plan_options.flags: 0x%x is no flag",
                     options->flags & ~known);
  if (options->choice && options->bitwise)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_plan_options.choice and cugen_plan_options.bitwise: a choice is one "
                     "variant already");
  if (options->choice && options->flags & CUGEN_PLAN_EXPLORE)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "cugen_plan_options.choice and CUGEN_PLAN_EXPLORE: a choice is one variant, and stays it");
  if (!(options->explore_share >= 0 && options->explore_share <= 0.5))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "cugen_plan_options.explore_share is %g, should be 0 to 0.5",
                     options->explore_share);
  if (isnan(options->distance))
    return error_set(err, CUGEN_ERROR_USAGE, "cugen_plan_options.distance is no number");
  return CUGEN_OK;
}

/* *goes_on: the plan's variant cannot serve, and another variant may. */
static int plan_try(cugen_kernel *k, const cugen_plan_options *options, const struct others *others,
                    cugen_plan **out, bool *goes_on, cugen_error *err) {
  *goes_on = false;
  cugen_plan *p = calloc(1, sizeof *p);
  if (!p) return error_memory(err);
  const bool explores = options->flags & CUGEN_PLAN_EXPLORE; /* a plan that explores shares no
                                                                images */
  int status = plan_open_parts(k, options, explores ? NULL : others, p, err);
  const cugen_plan_choice how = options->bitwise ? CUGEN_PLAN_PINNED : p->selection.how;
  *goes_on = status && p->spec.variant && !options->choice &&
             api_pass_over(&k->lookup, how, p->spec.variant, status);
  if (status)
    cugen_plan_close(p);
  else
    *out = p;
  return status;
}

/* If no variant serves, the error is that of the first one. */
static int open_among(cugen_kernel *k, const cugen_plan_options *options,
                      const struct others *others, cugen_plan **out, cugen_error *err) {
  static const cugen_plan_options defaults = CUGEN_PLAN_OPTIONS_INIT;
  if (!options) options = &defaults;
  *out = NULL;
  bool goes_on;
  cugen_error later;
  int status = plan_check_options(options, err);
  if (status) return status;
  status = plan_try(k, options, others, out, &goes_on, err);
  for (int i = 1; i < API_MOST_CHOICES && goes_on; i++)
    if (!plan_try(k, options, others, out, &goes_on, &later)) return CUGEN_OK;
  lookup_forget_dropped(&k->lookup); /* so that the next plan fails with the same error */
  return status;
}

int cugen_plan_open(cugen_kernel *k, const cugen_plan_options *options, cugen_plan **out,
                    cugen_error *error) {
  if (!out) return API_NEEDS(error, "out", out);
  *out = NULL;
  if (API_NEEDS(error, "kernel", k)) return CUGEN_ERROR_USAGE;
  return open_among(k, options, NULL, out, error);
}

int api_plan_open_among(cugen_kernel *k, const cugen_plan_options *options,
                        cugen_plan *const *plans, size_t count, cugen_plan **out,
                        cugen_error *err) {
  return open_among(k, options, &(struct others){plans, count}, out, err);
}

void cugen_plan_close(cugen_plan *p) {
  if (!p) return;
  const uint64_t launches = atomic_load_explicit(&p->launches, memory_order_relaxed);
  if (launches) capture_plan(p, 0, 0, launches);
  exploration_close(p->exploration);
  plan_close(p->plan);
  if (p->device && !p->lender) p->device->ops->close(p->device);
  compiled_free(&p->compiled);
  kernel_spec_free(&p->spec);
  text_free(&p->image);
  api_selection_free(&p->selection);
  text_free(&p->kernel);
  text_free(&p->problem);
  text_free(&p->choice);
  free(p);
}

const cugen_plan_info *cugen_plan_about(const cugen_plan *p) {
  return p ? &p->info : NULL;
}

int cugen_plan_save(cugen_plan *p, const void **bytes, size_t *size, cugen_error *error) {
  const bool given = bytes && size;
  if (given) *bytes = NULL, *size = 0;
  if (API_NEEDS(error, "plan, bytes, size", p, bytes, size) || !given) return CUGEN_ERROR_USAGE;
  *bytes = text_get(&p->choice);
  *size = p->choice.length;
  return CUGEN_OK;
}

int cugen_plan_explored(const cugen_plan *p, cugen_plan_exploration *out, cugen_error *error) {
  if (API_NEEDS(error, "plan, out", p, out)) return CUGEN_ERROR_USAGE;
  *out = (cugen_plan_exploration){.variants = 1, .settled = 1, .variant = p->info.variant};
  if (p->exploration) exploration_describe(p->exploration, out);
  return CUGEN_OK;
}

int cugen_plan_argument(const cugen_plan *p, size_t index, cugen_argument_info *out,
                        cugen_error *error) {
  if (API_NEEDS(error, "plan, out", p, out)) return CUGEN_ERROR_USAGE;
  if (index >= p->spec.argument_count)
    return error_set(error, CUGEN_ERROR_USAGE, "argument %zu: there are %zu", index,
                     p->spec.argument_count);
  kernel_argument_info(&p->spec.arguments[index], out);
  return CUGEN_OK;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static bool may_be_left_out(const struct kernel_argument *argument) {
  return argument->kind == CUGEN_ARGUMENT_SCRATCH || argument->absent;
}

/* Returns the number of arguments that must be given. Scratch and absent arguments at the end of
   the list may be left out. */
static size_t count_needed(const cugen_plan *p) {
  size_t needed = p->spec.argument_count;
  while (needed > 0 && may_be_left_out(&p->spec.arguments[needed - 1])) needed--;
  return needed;
}

/* Appends "A, B, C", the names of the first `count` arguments; only_null: those that may be
   NULL. */
static void list_arguments(const cugen_plan *p, size_t count, bool only_null, struct text *out) {
  for (size_t i = 0; i < count; i++) {
    const struct kernel_argument *a = &p->spec.arguments[i];
    const bool symbol = kernel_argument_symbol(a) && a->kind != CUGEN_ARGUMENT_CONSTANT;
    if (only_null && !may_be_left_out(a) && a->kind != CUGEN_ARGUMENT_SCALAR && !symbol) continue;
    text_addf(out, "%s%s", out->length ? ", " : "", a->name);
  }
}

static int plan_refuse_count(const cugen_plan *p, size_t count, cugen_error *err) {
  const size_t needed = count_needed(p);
  struct text all = {0}, null = {0};
  list_arguments(p, p->spec.argument_count, false, &all);
  list_arguments(p, needed, true, &null);
  error_set(err, CUGEN_ERROR_USAGE, "%s takes %zu arguments (%s) and was given %zu", p->info.kernel,
            p->spec.argument_count, text_get(&all), count);
  if (needed < p->spec.argument_count)
    error_append(err, "; those behind '%s' may be left out",
                 needed ? p->spec.arguments[needed - 1].name : "");
  if (null.length) error_append(err, "; NULL may stand for %s", text_get(&null));
  text_free(&all);
  text_free(&null);
  return CUGEN_ERROR_USAGE;
}

static int take_argument(cugen_call *call, size_t i, void *given, struct memory *out,
                         cugen_error *err) {
  const struct kernel_argument *argument = &call->plan->spec.arguments[i];
  struct memory *own = &call->scratch[i];
  if (argument->unused && !given) return CUGEN_OK;
  if (argument->kind == CUGEN_ARGUMENT_SCRATCH && !given) {
    struct device *device = call->plan->device;
    const size_t bytes = (size_t)kernel_argument_bytes(argument);
    const bool has = own->base;
    int status =
        has ? CUGEN_OK : device->ops->alloc(device, argument->memory, bytes, false, own, err);
    /* Scratch with fill = "zero" must be zero before the first launch. */
    if (!has && !status) status = device->ops->fill(device, own->device, 0, bytes, err);
    *out = *own;
    return status;
  }
  if (argument->kind == CUGEN_ARGUMENT_SCALAR)
    out->host = given;
  else
    out->device = given;
  return CUGEN_OK;
}

/* Binds the arguments. The old binding is released only when the new one is complete. */
static int bind(cugen_call *call, void *const *arguments, size_t count, cugen_error *err) {
  const cugen_plan *p = call->plan;
  struct memory memory[KERNEL_MAX_ARGUMENTS] = {0};
  bool moved = false;
  const bool fits = count >= count_needed(p) && count <= p->spec.argument_count;
  int status = fits ? CUGEN_OK : plan_refuse_count(p, count, err);
  for (size_t i = 0; i < p->spec.argument_count && !status; i++)
    status = take_argument(call, i, i < count ? arguments[i] : NULL, &memory[i], err);
  if (!status && call->call && !call->explored) status = call_move(call->call, memory, &moved, err);
  if (status || moved) return status;
  status = call->call ? call_rebind(p->plan, memory, &call->call, err)
                      : call_bind(p->plan, memory, NULL, 0, &call->call, err);
  if (status) return status;
  if (!call->explored) return CUGEN_OK;
  call->explored[0] = call->call;
  exploration_bind(p->exploration, memory, call->explored);
  return CUGEN_OK;
}

int cugen_call_bind(cugen_plan *p, void *const *arguments, size_t count, cugen_call **out,
                    cugen_error *error) {
  if (!out) return API_NEEDS(error, "out", out);
  *out = NULL;
  if (API_NEEDS(error, "plan, arguments", p, count ? (const void *)arguments : p))
    return CUGEN_ERROR_USAGE;
  cugen_call *call = calloc(1, sizeof *call);
  if (!call) return error_memory(error);
  call->plan = p;
  if (p->exploration) call->explored = calloc(RACE_MOST, sizeof *call->explored);
  int status =
      p->exploration && !call->explored ? error_memory(error) : bind(call, arguments, count, error);
  if (status)
    cugen_call_close(call);
  else
    *out = call;
  return status;
}

int cugen_call_rebind(cugen_call *call, void *const *arguments, size_t count, cugen_error *error) {
  if (API_NEEDS(error, "call, arguments", call, count ? (const void *)arguments : call))
    return CUGEN_ERROR_USAGE;
  return bind(call, arguments, count, error);
}

void cugen_call_close(cugen_call *call) {
  if (!call) return;
  atomic_fetch_add_explicit(&call->plan->launches,
                            atomic_load_explicit(&call->launches, memory_order_relaxed),
                            memory_order_relaxed);
  call_free(call->call);
  if (call->explored) exploration_unbind(call->explored);
  free(call->explored);
  for (size_t i = 0; i < KERNEL_MAX_ARGUMENTS; i++)
    if (call->scratch[i].base) call->plan->device->ops->free(call->plan->device, &call->scratch[i]);
  free(call);
}

int cugen_call_launch(const cugen_call *call, void *stream, cugen_error *error) {
  if (!call) return API_NEEDS(error, "call", call);
  /* An atomic addition costs more; threads that share a call may lose counts. */
  const uint_fast64_t before = atomic_load_explicit(&call->launches, memory_order_relaxed);
  atomic_store_explicit(&((cugen_call *)(uintptr_t)call)->launches, before + 1,
                        memory_order_relaxed);
  if (call->explored)
    return exploration_launch(call->plan->exploration, call->explored, stream, error);
  return call_launch_on(call->call, stream, error);
}

/* ---- Symbols -------------------------------------------------------------------------------- */

static int plan_find_symbol(const cugen_plan *p, const char *name, bool written, void **address,
                            size_t *bytes, cugen_error *err) {
  const char *names[KERNEL_MAX_ARGUMENTS];
  size_t count = 0;
  cugen_error why = {0};
  if (p->exploration) exploration_stop(p->exploration);
  int status = plan_symbol(p->plan, name, written, address, bytes, &why);
  if (status != CUGEN_ERROR_CONFIG) return status ? error_copy(err, &why) : CUGEN_OK;
  for (size_t i = 0; i < p->spec.argument_count; i++)
    if (kernel_argument_symbol(&p->spec.arguments[i])) names[count++] = p->spec.arguments[i].name;
  const char *nearest = text_nearest(name, names, count);
  return error_set(err, CUGEN_ERROR_USAGE,
                   "there is no __constant__ or __device__ variable '%s' in %s, variant '%s'%s%s%s",
                   name, p->info.kernel, p->info.variant, nearest ? " (nearest '" : "",
                   nearest ? nearest : "", nearest ? "')" : "");
}

int cugen_plan_symbol(const cugen_plan *p, const char *name, void **address, size_t *bytes,
                      cugen_error *error) {
  void *at;
  size_t room;
  if (address) *address = NULL;
  if (bytes) *bytes = 0;
  if (API_NEEDS(error, "plan, name", p, name)) return CUGEN_ERROR_USAGE;
  int status = plan_find_symbol(p, name, false, &at, &room, error);
  if (status) return status;
  if (address) *address = at;
  if (bytes) *bytes = room;
  return CUGEN_OK;
}

/* Finds a part of the variable; CUGEN_ERROR_USAGE: the bytes do not all lie in the variable. */
static int find_part(const cugen_plan *p, const char *name, bool written, size_t offset,
                     size_t bytes, void **out, cugen_error *err) {
  size_t room;
  int status = plan_find_symbol(p, name, written, out, &room, err);
  if (status) return status;
  if (offset > room || bytes > room - offset)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "symbol '%s' has %zu bytes: %zu bytes from byte %zu on reach past its end",
                     name, room, bytes, offset);
  *out = (char *)*out + offset;
  return CUGEN_OK;
}

int cugen_plan_write(cugen_plan *p, const char *name, size_t offset, const void *from, size_t bytes,
                     void *stream, cugen_error *error) {
  void *at;
  if (API_NEEDS(error, "plan, name, from", p, name, from)) return CUGEN_ERROR_USAGE;
  int status = find_part(p, name, true, offset, bytes, &at, error);
  return status ? status : p->device->ops->copy(p->device, at, from, bytes, &stream, error);
}

int cugen_plan_read(cugen_plan *p, const char *name, size_t offset, void *to, size_t bytes,
                    void *stream, cugen_error *error) {
  void *at;
  if (API_NEEDS(error, "plan, name, to", p, name, to)) return CUGEN_ERROR_USAGE;
  int status = find_part(p, name, false, offset, bytes, &at, error);
  return status ? status : p->device->ops->copy(p->device, to, at, bytes, &stream, error);
}
