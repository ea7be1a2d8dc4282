/* Exploration of variants while a plan serves. The rule in tune/tuner/explore.h decides which
   variant is timed and when.

   plan_open   loads further variants: those with records of this problem that are right and at
               most twice as slow, and whose images are in the cache
   call_bind   binds them to the same arguments
   launch      takes the current variant; a limited share of the launches takes another variant,
               between two events
   plan_close  stores the result as a record timed in the way "served"

   Invariants:
   - A further variant is launched only if it has a right record for this problem on this kind of
     device, and only with arguments as verified: the same buffers, aligned like the driver's, and
     the problem's own whole numbers.
   - A launch never waits. If another thread is inside exploration_launch, the current variant is
     launched. Events are polled, not waited for.
   - A launch compiles, allocates and looks up nothing. While a stream is captured nothing is
     explored. */
#include "exploring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/element_conversion.h"
#include "base/system.h"
#include "tune/tuner/explore.h"

/* A variant that costs more than this many times the plan's own is not explored. */
static const double most_times = 2;

enum {
  READ_AGAIN = 4,           /* launches until the next look at a timed launch that has not ended, or
                               could not be timed */
  GATHERED = 3 * RACE_MOST, /* limit of the records that are looked at, because some of them have no
                               image */
  ALIGNED_GPU = 256, /* alignment in bytes of memory from the driver, and of the cpu device's */
  ALIGNED_CPU = 16
};

struct alternative {
  struct kernel_spec spec;
  struct compiled compiled;
  struct plan *plan;
  struct cache_record record;
  atomic_bool broken; /* the variant cannot be bound */
};

struct exploration {
  cugen *lib;
  struct device *device;
  const struct kernel_spec *own;
  struct alternative all[RACE_MOST]; /* all[0] is the plan's own variant, possibly the only one */
  struct explore rule;               /* protected by `busy` */
  struct timer *timer;
  size_t timed; /* index of the alternative that the timer is measuring; RACE_MOST: none */
  atomic_flag busy;
  atomic_bool settled, stopped;
  atomic_size_t current;
  atomic_uint_fast64_t launches, next, explored;
  char **key; /* parts of the cache key: device, config, problem, options, origin */
  size_t key_count;
};

/* ---- Results of earlier exploration --------------------------------------------------------- */

static void exploring_add_options(const struct lookup *l, struct text *out) {
  struct record_options served = record_options_parse(text_get(&l->options));
  served.measure = MEASURE_SERVED;
  record_options_print(&served, out);
}

struct tuned_later {
  int64_t than;
  bool found;
};

/* Finds a correct record that was measured after the exploration and may be better. */
static int is_tuned_later(void *context, struct cache_record *record, bool *stop,
                          cugen_error *err) {
  struct tuned_later *later = context;
  (void)err;
  *stop = later->found = record->measured_at > later->than;
  return CUGEN_OK;
}

int exploration_recall(struct lookup *l, const cugen_outputs *outputs, struct selection *selection,
                       bool *settled, cugen_error *err) {
  struct text options = {0};
  struct best_record best = {0};
  *settled = false;
  if (selection->how != CUGEN_PLAN_EXACT) return CUGEN_OK;
  exploring_add_options(l, &options);
  struct cache_key key = lookup_measured_key(l);
  key.options = text_get(&options);
  int status =
      options.failed ? error_memory(err) : api_best_giving(l, &key, NULL, outputs, &best, err);
  text_free(&options);
  struct tuned_later later = {.than = best.record.measured_at};
  if (!status && best.found) {
    const struct cache_key measured = lookup_measured_key(l);
    struct cache *cache;
    status = api_cache_to_read(l->lib, &cache, err);
    if (!status) status = cache_fastest(cache, &measured, is_tuned_later, &later, err);
  }
  *settled = !status && best.found && !later.found;
  if (!*settled) {
    api_best_free(&best);
    return status;
  }
  api_best_free(&selection->best);
  selection->best = best;
  selection->index = best.index;
  return CUGEN_OK;
}

/* ---- Alternatives --------------------------------------------------------------------------- */

struct gathering {
  const struct exploration_plan *plan;
  const struct objective *objective;
  struct cache_record records[GATHERED];
  size_t count;
};

static int exploring_gather(void *context, struct cache_record *record, bool *stop,
                            cugen_error *err) {
  struct gathering *g = context;
  const struct cache_record *own = g->plan->record;
  (void)err;
  *stop = g->count == GATHERED || cache_record_cost(record, g->objective) >
                                      most_times * cache_record_cost(own, g->objective);
  if (*stop || strcmp(record->variant, own->variant) == 0) return CUGEN_OK;
  if (g->plan->outputs && !cache_record_gave(record, g->plan->outputs)) return CUGEN_OK;
  g->records[g->count++] = *record;
  record->variant = record->reason = NULL;
  return CUGEN_OK;
}

static bool takes_its_place(const struct kernel_spec *spec, const struct kernel_spec *own) {
  if (strcmp(spec->buffers_hash.hex, own->buffers_hash.hex) != 0 ||
      spec->argument_count != own->argument_count || spec->flops != own->flops ||
      spec->bytes != own->bytes)
    return false;
  /* An alternative cannot use the call's own scratch buffers, constants, symbols and textures. */
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    const bool scratch =
        a->kind == CUGEN_ARGUMENT_SCRATCH && !a->unused && kernel_argument_bytes(a) > 0;
    if (scratch || a->kind == CUGEN_ARGUMENT_CONSTANT || kernel_argument_symbol(a) ||
        kernel_argument_textured(a))
      return false;
  }
  return true;
}

/* Loads the alternative's image, if the cache has it. */
static int exploring_load_image(const struct lookup *l, struct alternative *a, bool *found,
                                cugen_error *err) {
  struct text key = {0};
  struct cache *cache;
  int status = cache_image_key(&a->spec, device_target(&l->device, l->arch), text_get(&l->options),
                               l->nvrtc_version, &key, err);
  if (!status) status = api_cache_to_read(l->lib, &cache, err);
  if (!status)
    status = lookup_find_image(cache, &a->spec, text_get(&key), &a->compiled, found, err);
  text_free(&key);
  return status;
}

static void alternative_free(struct alternative *a) {
  plan_close(a->plan);
  compiled_free(&a->compiled);
  kernel_spec_free(&a->spec);
  cache_record_free(&a->record);
  a->plan = NULL;
}

/* Adds an alternative. A stale record, or an image that is missing or does not load, is no
   error. */
static int try_alternative(struct lookup *l, struct exploration *e, struct cache_record *record,
                           cugen_error *err) {
  struct alternative *a = &e->all[e->rule.race.count];
  cugen_error ignored;
  bool current, found = false;
  int status = api_check_current(l, false, record, &current, &a->spec, err);
  if (!status && current && takes_its_place(&a->spec, e->own))
    status = exploring_load_image(l, a, &found, err);
  if (!status && found &&
      plan_open(e->device, &a->spec, &a->compiled, &a->plan, &ignored) == CUGEN_OK) {
    lookup_drop_image(e->device, &a->compiled, &a->spec);
    a->record = *record;
    record->variant = record->reason = NULL;
    e->rule.race.count++;
    return CUGEN_OK;
  }
  alternative_free(a);
  return status == CUGEN_ERROR_MEMORY ? status : CUGEN_OK;
}

static int find_alternatives(struct lookup *l, const struct exploration_plan *plan,
                             struct exploration *e, cugen_error *err) {
  struct gathering g = {.plan = plan, .objective = l->config->objective};
  const struct cache_key key = lookup_measured_key(l);
  struct cache *cache;
  int status = lookup_prepare(l, err);
  if (!status) status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = cache_fastest(cache, &key, exploring_gather, &g, err);
  for (size_t i = 0; i < g.count; i++) {
    if (!status && e->rule.race.count < RACE_MOST)
      status = try_alternative(l, e, &g.records[i], err);
    cache_record_free(&g.records[i]);
  }
  return status;
}

/* Copies the cache key, because the kernel may be closed before the plan. */
static int keep_key(const struct lookup *l, struct exploration *e, cugen_error *err) {
  const struct cache_key key = lookup_measured_key(l);
  struct text options = {0};
  exploring_add_options(l, &options);
  const char *const parts[] = {key.device, key.config, key.problem, text_get(&options),
                               key.origin ? key.origin : ""};
  bool good = !options.failed;
  for (size_t i = 0; i < sizeof parts / sizeof *parts && good; i++)
    good = array_add_text(&e->key, &e->key_count, parts[i]);
  text_free(&options);
  return good ? CUGEN_OK : error_memory(err);
}

int exploration_open(struct lookup *l, const struct exploration_plan *plan,
                     struct exploration **out, cugen_error *err) {
  const struct device_ops *ops = plan->device->ops;
  cugen_error no_timer;
  *out = NULL;
  if (!config_proves(l->config) || objective_needs_energy(l->config->objective) || !ops->timer_make)
    return CUGEN_OK;
  struct exploration *e = calloc(1, sizeof *e);
  if (!e) return error_memory(err);
  e->lib = l->lib, e->device = plan->device, e->own = plan->spec, e->timed = RACE_MOST;
  atomic_flag_clear(&e->busy);
  struct cache_record *own = &e->all[0].record;
  *own = *plan->record;
  own->variant = strdup(plan->record->variant);
  own->reason = strdup(plan->record->reason);
  e->rule.race.count = 1;
  int status = own->variant && own->reason ? CUGEN_OK : error_memory(err);
  if (!status) status = keep_key(l, e, err);
  if (!status) status = find_alternatives(l, plan, e, err);
  if (!status && e->rule.race.count > 1) {
    explore_begin(&e->rule, e->rule.race.count, plan->share);
    atomic_store(&e->next, explore_due(&e->rule));
    if (ops->timer_make(plan->device, &e->timer, &no_timer) == CUGEN_OK) {
      *out = e;
      return CUGEN_OK;
    }
  }
  exploration_close(e);
  return status;
}

/* ---- Storing results ------------------------------------------------------------------------ */

/* Replaces the record's times by those of the rounds. */
static void take_times(const struct race_runner *runner, struct cache_record *record) {
  double sorted[RACE_ROUNDS];
  const size_t count = (size_t)runner->rounds;
  memcpy(sorted, runner->times, count * sizeof *sorted);
  array_sort_doubles(sorted, count);
  record->samples = runner->rounds;
  record->seconds = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
  record->seconds_min = sorted[0];
  record->seconds_p20 = sorted[count / 5];
  record->seconds_p80 = sorted[count - 1 - count / 5];
  record->measured_at = clock_unix();
  record->run_began = 0, record->run_seconds = 0;
  record->compile_seconds = record->measure_seconds = 0;
  record->energy = record->energy_resolution = 0;
  record->clock_mhz = record->power_watts = 0, record->throttle[0] = '\0';
}

/* Stores the current variant if the rule has settled by enough rounds, and was not stopped. A cache
   that cannot be written is not an error. */
static void exploring_store(struct exploration *e) {
  const size_t current = atomic_load(&e->current);
  struct cache *cache;
  cugen_error ignored;
  if (!atomic_load(&e->settled) || atomic_load(&e->stopped) ||
      e->rule.race.runners[current].rounds < RACE_LEAST_ROUNDS)
    return;
  const struct cache_key key = {.device = e->key[0],
                                .config = e->key[1],
                                .problem = e->key[2],
                                .options = e->key[3],
                                .origin = e->key[4]};
  struct cache_record *record = &e->all[current].record;
  take_times(&e->rule.race.runners[current], record);
  if (api_cache(e->lib, &cache, &ignored) == CUGEN_OK) cache_store(cache, &key, record, &ignored);
}

void exploration_close(struct exploration *e) {
  if (!e) return;
  exploring_store(e);
  if (e->timer) e->device->ops->timer_free(e->device, e->timer);
  for (size_t i = 0; i < RACE_MOST; i++) alternative_free(&e->all[i]);
  array_free_texts(e->key, e->key_count);
  free(e);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static bool can_take(const struct exploration *e, const struct memory *memory) {
  const bool gpu = e->device->ops->capabilities & DEVICE_EXECUTES_ON_GPU;
  unsigned char packed[KERNEL_STRUCT_BYTES];
  for (size_t i = 0; i < e->own->argument_count; i++) {
    const struct kernel_argument *a = &e->own->arguments[i];
    const bool whole = a->kind == CUGEN_ARGUMENT_SCALAR && memory[i].host && !a->absent &&
                       !a->struct_bytes && !a->dtype->floating;
    /* A whole number must equal the number with which the variant was verified. */
    if (whole && (!element_pack(a->dtype, a->value, packed) ||
                  memcmp(packed, memory[i].host, (size_t)a->dtype->bytes) != 0))
      return false;
    if ((uintptr_t)memory[i].device % (gpu ? ALIGNED_GPU : ALIGNED_CPU)) return false;
  }
  return true;
}

void exploration_bind(struct exploration *e, const struct memory *memory, struct call **calls) {
  cugen_error ignored;
  exploration_unbind(calls);
  if (!can_take(e, memory)) return;
  for (size_t i = 1; i < e->rule.race.count; i++)
    if (call_bind(e->all[i].plan, memory, NULL, 0, &calls[i], &ignored)) {
      calls[i] = NULL;
      atomic_store(&e->all[i].broken, true);
    }
}

void exploration_unbind(struct call **calls) {
  for (size_t i = 1; i < RACE_MOST; i++) {
    call_free(calls[i]);
    calls[i] = NULL;
  }
}

/* ---- Launches ------------------------------------------------------------------------------- */

/* Makes the result of the rule visible to the other threads. */
static void exploring_publish(struct exploration *e) {
  atomic_store(&e->current, e->rule.current);
  atomic_store(&e->explored, e->rule.explored);
  atomic_store(&e->settled, e->rule.settled);
  if (!e->rule.settled) atomic_store(&e->next, explore_due(&e->rule));
}

/* Takes the result of the last timed launch. Returns false if the launch has not ended yet. */
static bool exploring_take_result(struct exploration *e) {
  const size_t runner = e->timed;
  double seconds;
  if (runner == RACE_MOST) return true;
  if (!e->device->ops->timer_read(e->device, e->timer, &seconds)) return false;
  e->timed = RACE_MOST;
  if (seconds > 0) explore_note(&e->rule, runner, seconds);
  exploring_publish(e);
  return true;
}

/* Launches the due variant between two events, or, if it cannot be timed, the current variant.
   *timed: the due variant was launched, perhaps without success. */
static int launch_timed(struct exploration *e, struct call *const *calls, struct call *current,
                        void *stream, bool *timed, cugen_error *err) {
  const struct device_ops *ops = e->device->ops;
  const size_t runner = explore_runner(&e->rule);
  *timed = calls[runner] && ops->timer_start(e->device, e->timer, stream);
  if (!calls[runner] && atomic_load(&e->all[runner].broken))
    explore_drop(&e->rule, runner), exploring_publish(e);
  if (!*timed) return call_launch_on(current, stream, err);
  const int status = call_launch_on(calls[runner], stream, err);
  if (status && runner != e->rule.current) {
    /* If the alternative has a single launch, the current variant is launched instead. */
    explore_drop(&e->rule, runner);
    exploring_publish(e);
    return kernel_spec_calls(&e->all[runner].spec) > 1 ? status
                                                       : call_launch_on(current, stream, err);
  }
  if (status) return status;
  explore_launched(&e->rule, runner);
  if (ops->timer_stop(e->device, e->timer, stream)) e->timed = runner;
  exploring_publish(e);
  return CUGEN_OK;
}

static struct call *call_of(struct call *const *calls, size_t runner) {
  return calls[runner] ? calls[runner] : calls[0];
}

/* Launches while this thread holds the `busy` flag. */
static int launch_with_turn(struct exploration *e, struct call *const *calls, uint64_t number,
                            void *stream, cugen_error *err) {
  bool timed = false;
  const bool over = exploring_take_result(e);
  struct call *current = call_of(calls, e->rule.current);
  const bool due = over && !e->rule.settled && number >= explore_due(&e->rule);
  const int status = due ? launch_timed(e, calls, current, stream, &timed, err)
                         : call_launch_on(current, stream, err);
  if (!over || (due && !timed)) atomic_store(&e->next, number + READ_AGAIN);
  return status;
}

int exploration_launch(struct exploration *e, struct call *const *calls, void *stream,
                       cugen_error *err) {
  if (atomic_load_explicit(&e->stopped, memory_order_relaxed))
    return call_launch_on(calls[0], stream, err);
  struct call *current = call_of(calls, atomic_load_explicit(&e->current, memory_order_acquire));
  if (atomic_load_explicit(&e->settled, memory_order_relaxed))
    return call_launch_on(current, stream, err);
  const uint64_t number = atomic_fetch_add_explicit(&e->launches, 1, memory_order_relaxed);
  if (number < atomic_load_explicit(&e->next, memory_order_relaxed) ||
      atomic_flag_test_and_set(&e->busy))
    return call_launch_on(current, stream, err);
  const int status = launch_with_turn(e, calls, number, stream, err);
  atomic_flag_clear(&e->busy);
  return status;
}

void exploration_stop(struct exploration *e) {
  atomic_store(&e->stopped, true);
}

void exploration_describe(struct exploration *e, cugen_plan_exploration *out) {
  const size_t current = atomic_load(&e->stopped) ? 0 : atomic_load(&e->current);
  out->variants = e->rule.race.count;
  out->launches = atomic_load(&e->launches);
  out->explored = atomic_load(&e->explored);
  out->settled = atomic_load(&e->settled) || atomic_load(&e->stopped);
  out->variant = current ? e->all[current].spec.variant : e->own->variant;
}
