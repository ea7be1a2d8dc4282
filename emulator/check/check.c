/* Carrying out a check; see check.h. Each thread has an instrument of its own and takes runs
   from one list. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/system.h"
#include "findings.h"
#include "left_out.h"
#include "selection.h"
#include "tune/data/verify.h"

/* Where a variant's traffic was counted: nowhere, on a problem that differs from the check problem
   in more than sizes, at most in sizes, or in sizes that are whole tiles. Counters of a later value
   replace those of an earlier one. */
enum counted { COUNTED_NOT, COUNTED_ELSEWHERE, COUNTED_SIZE, COUNTED_WHOLE_TILES };

struct variant_state {
  bool seen; /* the variant has been checked */
  /* The variant's data cannot be made, because that crashes or never ends; the variant is not tried
     on other sizes. */
  bool lost;
  enum counted counted;
};

struct check {
  const struct tune_target *target;
  const struct check_options *options;
  struct check_list list;
  struct check_result *result;
  pthread_mutex_t mutex; /* protects the members that follow, and result */
  pthread_cond_t changed;
  size_t next, done;
  int running;                    /* number of threads that have not ended */
  struct variant_state *variants; /* by number */
  size_t refused_run;             /* the run that result->refusal is about */
  /* the variant that result->fault is about, if the config has no launch for it */
  size_t fault_variant;
  int status;
  cugen_error error;
  atomic_bool stop;
};

static bool check_is_stopped(void *context) {
  return atomic_load(&((struct check *)context)->stop);
}

/* ---- Results: called with the mutex held ---------------------------------------------------- */

static size_t variant_words(const struct check *c) {
  return c->list.variant_count / 64 + 1;
}

static int check_add_variant(const struct check *c, struct check_variants *set, size_t variant,
                             cugen_error *err) {
  const uint64_t bit = UINT64_C(1) << variant % 64;
  if (!set->bits) set->bits = calloc(variant_words(c), sizeof *set->bits);
  if (!set->bits) return error_memory(err);
  set->count += !(set->bits[variant / 64] & bit);
  set->bits[variant / 64] |= bit;
  return CUGEN_OK;
}

static bool same_place(const struct source_place *a, const struct source_place *b) {
  return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static bool check_is_race(const cugen_check_finding *f) {
  return f->kind == CUGEN_FINDING_RACE || f->kind == CUGEN_FINDING_BLOCK_RACE ||
         f->kind == CUGEN_FINDING_SAME_VALUE ||
         (f->kind == CUGEN_FINDING_MISSING_FENCE && f->detail->raw.fence);
}

/* Ranks what a finding says about two accesses that race. In another run the race may show as a
   write of the same value, or the accesses may be ordered by chance, by atomics on the same data;
   such findings rank lower. */
static int race_rank(const cugen_check_finding *f) {
  if (f->kind == CUGEN_FINDING_SAME_VALUE) return 0;
  return f->kind == CUGEN_FINDING_MISSING_FENCE && same_place(&f->detail->fence, &f->detail->here)
             ? 1
             : 2;
}

static bool same_kind(const cugen_check_finding *a, const cugen_check_finding *b) {
  return a->kind == b->kind ||
         (check_is_race(a) && check_is_race(b) && race_rank(a) != race_rank(b));
}

/* Two accesses that race are one finding, in either order. Accesses of one line to two arrays
   are two findings. */
static bool same_places(const cugen_check_finding *a, const cugen_check_finding *b) {
  const struct check_detail *x = a->detail, *y = b->detail;
  if (strcmp(a->array, b->array) != 0) return false;
  if (same_place(&x->here, &y->here) && same_place(&x->other, &y->other)) return true;
  return check_is_race(a) && a->line && a->other_line && same_place(&x->here, &y->other) &&
         same_place(&x->other, &y->here);
}

static bool check_same_finding(const cugen_check_finding *a, const cugen_check_finding *b) {
  if (!same_kind(a, b) || !same_places(a, b)) return false;
  return a->line || variant_same_implementation(a->variant, b->variant);
}

/* Returns true if the finding describes the problem better than the known finding: by a higher
   race_rank, then by an access that stands later in the same file, then by an earlier run in the
   list. */
static bool describes_better(const cugen_check_finding *f, const cugen_check_finding *known) {
  if (f->kind != known->kind) return race_rank(f) > race_rank(known);
  if (strcmp(f->file, known->file) == 0 && f->line != known->line) return f->line > known->line;
  return f->detail->number < known->detail->number;
}

/* Joins two findings; the description that is not used is left in `f`. */
static void join_findings(const struct check *c, cugen_check_finding *known,
                          cugen_check_finding *f) {
  const uint64_t count = known->count + f->count;
  if (describes_better(f, known)) {
    const cugen_check_finding other = *known;
    *known = *f;
    *f = other;
  }
  variants_join(&known->detail->variants, &f->detail->variants, variant_words(c));
  known->count = count;
}

/* Takes over the finding's memory, also on failure. Every kept finding has a set of variants. */
static int keep_finding(struct check *c, cugen_check_finding *f, size_t variant, cugen_error *err) {
  cugen_check *r = &c->result->check;
  if (!f->message || !f->variant || !f->problem || !f->detail ||
      check_add_variant(c, &f->detail->variants, variant, err)) {
    finding_free(f);
    return error_memory(err);
  }
  const size_t problem = c->list.runs[f->detail->number].problem;
  f->detail->on_check = problem == c->list.families[c->list.problems[problem].family].first;
  for (size_t i = 0; i < r->finding_count; i++) {
    cugen_check_finding *known = &r->findings[i];
    if (!check_same_finding(known, f)) continue;
    const bool waived = known->detail->waiver && f->detail->waiver,
               on_check = known->detail->on_check || f->detail->on_check;
    join_findings(c, known, f);
    known->detail->on_check = on_check;
    if (!waived) known->detail->waiver = NULL;
    finding_free(f);
    return CUGEN_OK;
  }
  if (!ARRAY_ROOM(r->findings, r->finding_count)) {
    finding_free(f);
    return error_memory(err);
  }
  r->findings[r->finding_count++] = *f;
  return CUGEN_OK;
}

/* Adds a variant that is skipped for the reason of a known skip. The variant with the least number
   gives the texts. */
static int join_skip(struct check *c, cugen_check_skip *known, const char *what, size_t number,
                     const char *why, cugen_error *err) {
  if (number < known->detail->number) {
    char *name = strdup(what), *reason = strdup(why);
    free(name && reason ? known->what : name);
    free(name && reason ? known->why : reason);
    if (!name || !reason) return error_memory(err);
    known->what = name;
    known->why = reason;
    known->detail->number = number;
  }
  return check_add_variant(c, &known->detail->variants, number, err);
}

/* where: the line of the config that gives the variant no launch; NULL or line 0: none.
   Skips of one line are joined even if their texts differ, because each text quotes the values of
   its variant. */
static int keep_skip(struct check *c, const char *what, size_t number, const char *why,
                     bool refused, const struct source_place *where, cugen_error *err) {
  const cugen_check *r = &c->result->check;
  for (size_t i = 0; i < r->skip_count; i++)
    if (where && where->line ? same_place(&r->skips[i].detail->here, where)
                             : strcmp(r->skips[i].why, why) == 0)
      return join_skip(c, &r->skips[i], what, number, why, err);
  cugen_check_skip *s = skip_new(&c->result->check, what, number, why);
  if (!s) return error_memory(err);
  s->refused = refused;
  if (where) s->detail->here = *where;
  return check_add_variant(c, &s->detail->variants, number, err);
}

static int keep_ran(struct check *c, const char *variant, const char *problem, cugen_error *err) {
  cugen_check *r = &c->result->check;
  if (!ARRAY_ROOM(r->ran, r->runs)) return error_memory(err);
  cugen_check_ran *ran = &r->ran[r->runs++];
  *ran = (cugen_check_ran){strdup(variant), strdup(problem)};
  return ran->variant && ran->problem ? CUGEN_OK : error_memory(err);
}

/* ---- Results of a run ----------------------------------------------------------------------- */

enum { SITES = 3 }; /* of a finding: its place, the other place, and that of a missing fence */

struct outcome {
  struct check *check;
  struct check_problem *problem;
  const struct check_run *run;
  const struct instrument_result *result;
  const struct reached_image *image;
  struct source_place places[SITES * WATCH_MOST_FINDINGS];
};

static int skip_run(const struct outcome *o, const char *why, bool refused, cugen_error *err) {
  return keep_skip(o->check, o->result->variant, o->run->variant, why, refused, NULL, err);
}

static void check_find_places(struct outcome *o) {
  const struct watch_report *report = o->result->report;
  struct line_site sites[SITES * WATCH_MOST_FINDINGS];
  cugen_error ignored;
  for (uint32_t i = 0; i < report->finding_count; i++) {
    sites[SITES * i] =
        (struct line_site){report->findings[i].here.site, report->findings[i].last_site};
    sites[SITES * i + 1] = (struct line_site){report->findings[i].other.site, 0};
    sites[SITES * i + 2] = (struct line_site){report->findings[i].fence, 0};
  }
  memset(o->places, 0, sizeof o->places);
  const struct compiled *compiled = o->result->compiled;
  if (!report->finding_count || !compiled) return;
  lines_find(compiled->image, compiled->image_length, sites, SITES * (size_t)report->finding_count,
             o->places, &ignored);
}

/* The compiler copies a barrier where it repeats code, and may lose its line. So two copies of one
   barrier of the source are a divergence only if both places are known and differ: those of the
   calls, if the barrier stands in a function. */
static bool is_false_alarm(const struct watch_finding *f, const struct source_place *here,
                           const struct source_place *other) {
  if (f->kind != CUGEN_FINDING_DIVERGENCE) return false;
  if (f->apart == WATCH_APART_AT_CALLS) /* the compiler may have repeated the call as well */
    return !here->line || !other->line ||
           (same_place(here, other) && here->discriminator == other->discriminator);
  if (f->apart == WATCH_APART_AT_BARRIERS) return false;
  return !here->line || !other->line || same_place(here, other);
}

/* Takes over the message. If it is about a read of an unwritten output, adds with what content the
   output begins. */
static char *say_beginning(const struct outcome *o, const struct watch_finding *raw,
                           char *message) {
  const struct kernel_spec *spec = o->result->spec;
  struct text text = {0};
  bool output = false;
  for (size_t i = 0; i < spec->argument_count && !raw->shared; i++)
    output |= spec->arguments[i].kind == CUGEN_ARGUMENT_OUTPUT &&
              strcmp(spec->arguments[i].name, raw->array) == 0;
  if (!message || !output || raw->kind != CUGEN_FINDING_UNINITIALISED) return message;
  text_addf(&text, "%s.", message);
  verify_add_beginning(raw->array, &text);
  free(message);
  return text_take(&text);
}

/* Takes over the message. Returns the message, behind which kernel_add_order may ask whether two
   arguments are exchanged. */
static char *say_order(const struct outcome *o, cugen_outcome outcome, char *message) {
  struct text text = {0};
  if (!message || !o->result->spec->order) return message;
  text_add(&text, message);
  kernel_add_order(o->result->spec, outcome, &text);
  free(message);
  return text_take(&text);
}

/* Describes a finding of the run; keep_finding checks whether there was memory. places: SITES
   places, or NULL. */
static cugen_check_finding new_finding(const struct outcome *o, cugen_finding_kind kind,
                                       const struct watch_finding *raw,
                                       const struct source_place *places) {
  struct check_detail *d = calloc(1, sizeof *d);
  cugen_check_finding f = {.kind = kind,
                           .count = 1,
                           .variant = strdup(o->result->variant),
                           .problem = strdup(o->problem->text),
                           .detail = d};
  if (!d) return f;
  d->number = (size_t)(o->run - o->check->list.runs);
  if (raw) d->raw = *raw, f.count = raw->count;
  if (places) d->here = places[0], d->other = places[1], d->fence = places[2];
  f.file = d->here.file, f.line = d->here.line;
  f.user_file = d->here.user, f.user_line = d->here.user_line;
  f.other_file = d->other.file, f.other_line = d->other.line;
  f.array = d->raw.array, f.shared = d->raw.shared;
  memcpy(f.block, d->raw.here.block, sizeof f.block);
  memcpy(f.thread, d->raw.here.thread, sizeof f.thread);
  memcpy(f.other_block, d->raw.other.block, sizeof f.other_block);
  memcpy(f.other_thread, d->raw.other.thread, sizeof f.other_thread);
  return f;
}

static int check_add_finding(const struct outcome *o, uint32_t i, cugen_error *err) {
  const struct watch_finding *raw = &o->result->report->findings[i];
  const struct source_place *here = &o->places[SITES * i], *other = here + 1;
  if (is_false_alarm(raw, here, other)) return CUGEN_OK;
  const bool race = raw->kind == CUGEN_FINDING_RACE || raw->kind == CUGEN_FINDING_BLOCK_RACE;
  cugen_check_finding f =
      new_finding(o, race && raw->same_value ? CUGEN_FINDING_SAME_VALUE : raw->kind, raw, here);
  if (!f.detail) return finding_free(&f), error_memory(err);
  f.detail->waiver = waiver_of(o->check->target->config, f.kind, o->result->source, here);
  f.message =
      say_order(o, f.kind == CUGEN_FINDING_INPUT_WRITE ? CUGEN_OUTCOME_WRONG : CUGEN_OUTCOME_OK,
                say_beginning(o, raw, check_message(f.kind, f.detail)));
  return keep_finding(o->check, &f, o->run->variant, err);
}

/* Returns true if a finding of the watch explains how the run ended. */
static bool is_explained(const struct instrument_result *result) {
  const bool wrong = result->outcome == CUGEN_OUTCOME_WRONG;
  for (uint32_t i = 0; i < result->report->finding_count; i++) {
    const cugen_finding_kind kind = result->report->findings[i].kind;
    if (wrong && kind == CUGEN_FINDING_INPUT_WRITE && result->cause == CUGEN_CAUSE_INPUT)
      return true;
    if (wrong) continue;
    const bool last = kind == CUGEN_FINDING_DEADLOCK || kind == CUGEN_FINDING_HANG ||
                      kind == CUGEN_FINDING_TRAP || kind == CUGEN_FINDING_MISALIGNED;
    const bool refused = kind == CUGEN_FINDING_ABSENT_LANES && result->cause == CUGEN_CAUSE_MASK;
    if (last || refused || kind == CUGEN_FINDING_OUT_OF_BOUNDS) return true;
  }
  return false;
}

static int add_outcome(const struct outcome *o, cugen_error *err) {
  const struct instrument_result *result = o->result;
  cugen_check_finding f = new_finding(
      o, result->outcome == CUGEN_OUTCOME_WRONG ? CUGEN_FINDING_WRONG : CUGEN_FINDING_TRAP, NULL,
      NULL);
  f.message = say_order(o, result->outcome, strdup(result->reason));
  return keep_finding(o->check, &f, o->run->variant, err);
}

static int keep_traffic(const struct outcome *o, size_t launch, const struct watch_counter *counter,
                        cugen_error *err) {
  cugen_check *r = &o->check->result->check;
  const struct kernel_spec *spec = o->result->spec;
  const size_t calls = kernel_spec_calls(spec);
  if (!ARRAY_ROOM(r->traffic, r->traffic_count)) return error_memory(err);
  cugen_check_traffic *t = &r->traffic[r->traffic_count++];
  *t = (cugen_check_traffic){
      .variant = strdup(o->result->variant),
      .problem = strdup(o->problem->text),
      .entry = strdup(launch < calls ? spec->launches[kernel_spec_call(spec, launch)].entry : ""),
      .launch = (int)launch,
      .launches = (int)calls,
      .elsewhere = !check_list_sized(&o->check->list, o->problem),
      .array = strdup(counter->array),
      .memory = counter->memory,
      .write = counter->write,
      .requests = counter->requests,
      .bytes = counter->bytes,
      .needed = counter->needed,
      .ideal = counter->ideal,
      .lines = counter->lines,
      .touched = counter->touched};
  return t->variant && t->problem && t->entry && t->array ? CUGEN_OK : error_memory(err);
}

static void traffic_free(cugen_check_traffic *t) {
  free(t->variant);
  free(t->problem);
  free(t->entry);
  free(t->array);
}

/* Replaces the counters of an earlier run of the variant. */
static int add_counters(const struct outcome *o, cugen_error *err) {
  cugen_check *r = &o->check->result->check;
  const struct watch_report *report = o->result->report;
  size_t kept = 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < r->traffic_count; i++) {
    if (strcmp(r->traffic[i].variant, o->result->variant) != 0)
      r->traffic[kept++] = r->traffic[i];
    else
      traffic_free(&r->traffic[i]);
  }
  r->traffic_count = kept;
  for (uint32_t l = 0; l < report->launch_count && l < WATCH_MOST_LAUNCHES; l++)
    for (size_t i = 0; i < report->launches[l].count && i < WATCH_MOST_COUNTERS && !status; i++)
      status = keep_traffic(o, l, &report->launches[l].counters[i], err);
  return status;
}

/* Keeps the status of the first refused run in the list. */
static int note_refused(const struct outcome *o, int why, cugen_error *err) {
  struct check *c = o->check;
  const size_t run = (size_t)(o->run - c->list.runs);
  if (!c->result->refusal || run < c->refused_run) c->result->refusal = why, c->refused_run = run;
  return check_add_variant(c, &c->result->refused, o->run->variant, err);
}

static int keep_refused(const struct outcome *o, cugen_error *err) {
  char *why = check_not_emulated(o->result->source, o->result->cause, o->result->reason);
  int status = why ? skip_run(o, why, true, err) : error_memory(err);
  free(why);
  return status ? status : note_refused(o, CUGEN_ERROR_COMPILE, err);
}

static int keep_without_data(const struct outcome *o, const char *reason, int fault,
                             cugen_error *err) {
  struct check *c = o->check;
  struct text why = {0}, variant = {0};
  text_addf(&why, "with %s: %s", o->problem->text, reason);
  int status = check_variant_print(o->problem->space, o->run->index, &variant, err);
  if (!status)
    status = keep_skip(c, text_get(&variant), o->run->variant, text_get(&why), true, NULL, err);
  if (!o->problem->no_data)
    o->problem->no_data = strdup(reason), o->problem->no_data_status = fault;
  text_free(&why);
  text_free(&variant);
  return status ? status : note_refused(o, fault, err);
}

static int keep_faulty(const struct outcome *o, cugen_error *err) {
  struct check *c = o->check;
  const struct instrument_result *result = o->result;
  if (!c->result->fault.status) error_set(&c->result->fault, result->fault, "%s", result->reason);
  c->variants[o->run->variant].lost |= result->fault == CUGEN_ERROR_DEVICE;
  int status = skip_run(o, result->reason, false, err);
  return status ? status : check_add_variant(c, &c->result->faulty, o->run->variant, err);
}

/* A missing launch on the check problem is the config's mistake. A variant need not be valid on
   other sizes, which the check makes up. */
static int keep_invalid(const struct outcome *o, cugen_error *err) {
  struct check *c = o->check;
  const struct check_family *family = &c->list.families[o->problem->family];
  const bool own = o->run->problem == family->first;
  if (own && (!c->result->fault.status || o->run->variant < c->fault_variant)) {
    error_set(&c->result->fault, CUGEN_ERROR_CONFIG, "%s: %s", o->result->variant,
              o->result->reason);
    c->fault_variant = o->run->variant;
  }
  int status = keep_skip(c, o->result->variant, o->run->variant, o->result->reason, false,
                         &o->result->where, err);
  return status || !own ? status : check_add_variant(c, &c->result->faulty, o->run->variant, err);
}

/* Returns true if a refused launch of the variant is a finding already. */
static bool is_known_refused(const struct check *c, size_t variant) {
  for (size_t i = 0; i < c->result->check.finding_count; i++) {
    const cugen_check_finding *f = &c->result->check.findings[i];
    if (f->kind == CUGEN_FINDING_LAUNCH &&
        f->detail->variants.bits[variant / 64] >> variant % 64 & 1)
      return true;
  }
  return false;
}

/* A launch that a GPU refuses for all sizes, or on the check problem, is a finding. On other sizes
   the variant is skipped, unless it has such a finding. */
static int keep_unlaunchable(const struct outcome *o, cugen_error *err) {
  struct check *c = o->check;
  const struct instrument_result *result = o->result;
  if (!result->always && is_known_refused(c, o->run->variant)) return CUGEN_OK;
  if (!result->always && o->run->problem != c->list.families[o->problem->family].first)
    return skip_run(o, result->reason, false, err);
  const struct source_place places[SITES] = {result->where};
  cugen_check_finding f = new_finding(o, CUGEN_FINDING_LAUNCH, NULL, places);
  f.message = strdup(result->reason);
  return keep_finding(c, &f, o->run->variant, err);
}

static void count_run(const struct outcome *o) {
  const struct check *c = o->check;
  const struct check_run *run = o->run;
  cugen_check *r = &c->result->check;
  struct variant_state *variant = &c->variants[run->variant];
  r->variants += !variant->seen;
  r->variants_elsewhere += run->elsewhere && !variant->seen;
  r->problems += !o->problem->seen;
  variant->seen = o->problem->seen = true;
}

static int keep_printed(const struct outcome *o, cugen_error *err) {
  char **kept = &o->check->result->printed;
  struct text text = {0};
  if (*kept || !*o->result->printed) return CUGEN_OK;
  text_addf(&text, "%s; %s:\n%s", o->result->variant, o->problem->text, o->result->printed);
  *kept = text_take(&text);
  return *kept ? CUGEN_OK : error_memory(err);
}

static enum counted counted_where(const struct check *c, const struct check_problem *problem) {
  if (problem->around) return COUNTED_NOT; /* the variant also runs on the check problem */
  if (!check_list_sized(&c->list, problem)) return COUNTED_ELSEWHERE;
  return problem->whole ? COUNTED_WHOLE_TILES : COUNTED_SIZE;
}

/* Returns the best place to count the variant's traffic among the problems of the variant's
   runs. */
static enum counted best_counted(const struct check *c, size_t variant) {
  enum counted best = COUNTED_NOT;
  for (size_t i = 0; i < c->list.run_count && !c->options->wanted.no_traffic; i++) {
    const struct check_run *run = &c->list.runs[i];
    const enum counted where = counted_where(c, &c->list.problems[run->problem]);
    if (run->variant == variant && where > best) best = where;
  }
  return best;
}

static int keep_unwatched(cugen_check *r, const char *what, cugen_error *err) {
  for (size_t i = 0; i < r->unwatched_count; i++)
    if (strcmp(r->unwatched[i], what) == 0) return CUGEN_OK;
  return array_add_text(&r->unwatched, &r->unwatched_count, what) ? CUGEN_OK : error_memory(err);
}

/* Notes memory that the run touched without being observed, and findings and traffic that were
   dropped for lack of room. */
static int note_unwatched(const struct outcome *o, cugen_error *err) {
  cugen_check *r = &o->check->result->check;
  const struct kernel_spec *spec = o->result->spec;
  const struct watch_report *report = o->result->report;
  int status = CUGEN_OK;
  for (size_t i = 0; i < spec->argument_count && !status; i++) {
    struct text what = {0};
    if (!kernel_argument_textured(&spec->arguments[i])) continue;
    text_addf(&what, "the texture %s", spec->arguments[i].name);
    status = what.failed ? error_memory(err) : keep_unwatched(r, text_get(&what), err);
    text_free(&what);
  }
  if (!status && report->elsewhere)
    status = keep_unwatched(
        r, "memory that is neither an argument nor a variable of the kernel (malloc)", err);
  if (!status && report->lost)
    status = keep_unwatched(r, "further findings: there were more than a run keeps", err);
  for (uint32_t l = 0; l < report->launch_count && l < WATCH_MOST_LAUNCHES && !status; l++)
    if (report->launches[l].incomplete)
      status = keep_unwatched(r,
                              "further traffic: a launch has more places, arrays or rounds of a "
                              "loop than are counted, so its totals are too small",
                              err);
  return status;
}

/* Skips a hang in which a thread waits for a block that runs later, which says nothing about the
   kernel, because the cpu device runs blocks one after the other. */
static int keep_spin(const struct outcome *o, const struct source_place *at, cugen_error *err) {
  struct text why = {0};
  text_add(&why, "a thread waits in a loop for what another block writes, and the cpu device runs "
                 "blocks one after the other");
  if (at->line) text_addf(&why, ": %s:%d", at->file, at->line);
  int status = why.failed ? error_memory(err) : skip_run(o, text_get(&why), false, err);
  text_free(&why);
  return status;
}

static const struct source_place *find_spin(const struct outcome *o) {
  const struct watch_report *report = o->result->report;
  for (uint32_t i = 0; i < report->finding_count; i++)
    if (report->findings[i].kind == CUGEN_FINDING_HANG && report->findings[i].spins)
      return &o->places[SITES * i];
  return NULL;
}

static int keep_run(struct outcome *o, cugen_error *err) {
  struct check *c = o->check;
  const struct check_run *run = o->run;
  const struct instrument_result *result = o->result;
  int status = CUGEN_OK;
  if (result->without_data) return keep_without_data(o, result->reason, result->fault, err);
  if (result->fault) return keep_faulty(o, err);
  if (result->outcome == CUGEN_OUTCOME_COMPILE) return keep_refused(o, err);
  if (result->invalid) return keep_invalid(o, err);
  if (result->refused) return keep_unlaunchable(o, err);
  if (result->outcome == CUGEN_OUTCOME_LAUNCH) return skip_run(o, result->reason, false, err);
  const struct source_place *spin = find_spin(o);
  if (spin) return keep_spin(o, spin, err);
  for (uint32_t i = 0; i < result->report->finding_count && !status; i++)
    status = check_add_finding(o, i, err);
  if (!status && result->outcome != CUGEN_OUTCOME_OK && !is_explained(result))
    status = add_outcome(o, err);
  if (!status) status = reached_add(&c->result->check, o->image, result->report, err);
  if (!status) status = note_unwatched(o, err);
  const enum counted where = counted_where(c, o->problem);
  if (!status && where > c->variants[run->variant].counted) {
    c->variants[run->variant].counted = where;
    status = add_counters(o, err);
  }
  count_run(o);
  if (!status) status = keep_printed(o, err);
  return status ? status : keep_ran(c, result->variant, o->problem->text, err);
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Decides how to carry out a run. Returns false if there is nothing to try: an earlier run has
   shown that the problem's data cannot be made (then keeps the variant as skipped, with *status as
   result), or the variant is lost. */
static bool plan_run(struct check *c, const struct check_run *run, struct instrument_request *out,
                     int *status, cugen_error *err) {
  const struct outcome o = {.check = c, .problem = &c->list.problems[run->problem], .run = run};
  const enum counted best = best_counted(c, run->variant);
  pthread_mutex_lock(&c->mutex);
  const bool lacks = o.problem->no_data != NULL, lost = c->variants[run->variant].lost;
  *status =
      lacks ? keep_without_data(&o, o.problem->no_data, o.problem->no_data_status, err) : CUGEN_OK;
  /* Threads that have no more runs leave their processes to the others. */
  *out = (struct instrument_request){
      .processes = c->options->wanted.threads / (c->running ? c->running : 1),
      .traffic = counted_where(c, o.problem) >= best && c->variants[run->variant].counted < best};
  pthread_mutex_unlock(&c->mutex);
  return !lacks && !lost;
}

static int carry_out(struct check *c, struct instrument *instrument, struct reached_image *image,
                     const struct check_run *run, cugen_error *err) {
  struct instrument_request request;
  int status;
  if (!plan_run(c, run, &request, &status, err)) return status;
  struct check_problem *problem = &c->list.problems[run->problem];
  struct variant variant;
  struct instrument_result result;
  struct outcome *outcome = calloc(1, sizeof *outcome);
  struct value *values = calloc(space_max_tunables(problem->space) + 1, sizeof *values);
  status = outcome && values ? CUGEN_OK : error_memory(err);
  if (!status) {
    space_variant(problem->space, run->index, &variant, values);
    status = instrument_run(instrument, &problem->problem, &variant, &request, &result, err);
  }
  if (!status) {
    *outcome = (struct outcome){
        .check = c, .problem = problem, .run = run, .result = &result, .image = image};
    if (result.compiled && result.compiled->image)
      status = reached_look(image, result.compiled, err);
  }
  if (!status) {
    check_find_places(outcome);
    pthread_mutex_lock(&c->mutex);
    status = keep_run(outcome, err);
    pthread_mutex_unlock(&c->mutex);
  }
  free(values);
  free(outcome);
  return status;
}

/* Takes the next runs and returns their number: all runs of a variant, so that they share a
   compile, or one run if there are fewer variants than threads. */
static size_t check_take(struct check *c, size_t *first) {
  const struct check_list *list = &c->list;
  pthread_mutex_lock(&c->mutex);
  *first = c->next;
  size_t count = c->next < list->run_count && !c->status;
  const bool together = list->variant_count >= (size_t)c->options->wanted.threads;
  while (count && together && *first + count < list->run_count &&
         list->runs[*first + count].variant == list->runs[*first].variant)
    count++;
  c->next += count;
  pthread_mutex_unlock(&c->mutex);
  return count;
}

static void finish_run(struct check *c, int status, const cugen_error *err) {
  pthread_mutex_lock(&c->mutex);
  c->done += !status;
  if (status && !c->status) c->status = status, c->error = *err;
  pthread_cond_signal(&c->changed);
  pthread_mutex_unlock(&c->mutex);
}

static void *check_thread_main(void *context) {
  struct check *c = context;
  const struct instrument_options options = {.seed = c->options->wanted.seed,
                                             .timeout = c->options->wanted.timeout,
                                             .interrupted = check_is_stopped,
                                             .context = c};
  struct instrument *instrument = NULL;
  struct reached_image image = {.sites = NULL};
  cugen_error err = {0};
  int status = instrument_open(c->target, &options, &instrument, &err);
  size_t first;
  for (size_t count; !status && !atomic_load(&c->stop) && (count = check_take(c, &first)) > 0;) {
    for (size_t i = 0; i < count && !status && !atomic_load(&c->stop); i++) {
      status = carry_out(c, instrument, &image, &c->list.runs[first + i], &err);
      finish_run(c, status, &err);
    }
  }
  instrument_close(instrument);
  reached_image_free(&image);
  pthread_mutex_lock(&c->mutex);
  if (status && !c->status) c->status = status, c->error = err;
  c->running--;
  pthread_cond_signal(&c->changed);
  pthread_mutex_unlock(&c->mutex);
  return NULL;
}

static int run_threads(struct check *c, cugen_error *err) {
  const cugen_check_options *options = &c->options->wanted;
  pthread_t threads[64];
  size_t started = 0, wanted = (size_t)options->threads;
  if (wanted > sizeof threads / sizeof *threads) wanted = sizeof threads / sizeof *threads;
  if (wanted > c->list.run_count) wanted = c->list.run_count;
  pthread_mutex_lock(&c->mutex);
  while (started < wanted && pthread_create(&threads[started], NULL, check_thread_main, c) == 0)
    started++;
  c->running = (int)started;
  while (c->running) {
    const struct timespec until = clock_after(0.1);
    pthread_cond_timedwait(&c->changed, &c->mutex, &until);
    const cugen_check_progress progress = {
        .done = c->done, .planned = c->list.run_count, .findings = c->result->check.finding_count};
    if (options->progress && options->progress(&progress, options->context))
      atomic_store(&c->stop, true);
  }
  pthread_mutex_unlock(&c->mutex);
  if (!started && wanted) return error_set(err, CUGEN_ERROR_MEMORY, "cannot start a thread");
  for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  if (c->status) return error_copy(err, &c->error);
  return atomic_load(&c->stop) ? error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request")
                               : CUGEN_OK;
}

/* ---- The whole check ------------------------------------------------------------------------ */

/* Fills in the result's numbers of runs and texts of problems. Checked problems that differ from
   the check problem in sizes alone come first. */
static int tell_list(struct check *c, cugen_error *err) {
  cugen_check *r = &c->result->check;
  r->runs_done = c->done;
  r->runs_planned = c->list.run_count;
  r->kept = c->list.kept;
  r->kept_count = c->list.kept_count;
  c->list.kept = NULL;
  c->list.kept_count = 0;
  r->problem_texts = calloc(r->problems + 1, sizeof *r->problem_texts);
  size_t count = 0;
  if (!r->problem_texts) return error_memory(err);
  for (int sized = 1; sized >= 0 && r->problems; sized--)
    for (size_t i = 0; i < c->list.problem_count; i++) {
      const struct check_problem *p = &c->list.problems[i];
      if (!p->seen || check_list_sized(&c->list, p) != sized) continue;
      if (!(r->problem_texts[count++] = strdup(p->text))) return error_memory(err);
    }
  return CUGEN_OK;
}

static int tell_waivers(const struct config *config, cugen_check *r, cugen_error *err) {
  r->waivers = calloc(config->waiver_count + 1, sizeof *r->waivers);
  if (!r->waivers) return error_memory(err);
  r->waiver_count = config->waiver_count;
  for (size_t i = 0; i < config->waiver_count; i++) {
    const struct config_waiver *w = &config->waivers[i];
    r->waivers[i] =
        (cugen_check_waiver){w->line.path, w->line.number, w->kind, w->at, w->reason, 0};
    for (size_t f = 0; f < r->finding_count; f++)
      r->waivers[i].findings += r->findings[f].detail->waiver == w;
  }
  return CUGEN_OK;
}

/* Sorts and joins the findings, sorts the skips, and fills in their counts and waivers. */
static int tell_found(struct check *c, cugen_error *err) {
  cugen_check *r = &c->result->check;
  size_t on_check = 0;
  findings_sort(r->findings, r->finding_count);
  r->finding_count = findings_join(r->findings, r->finding_count, variant_words(c));
  for (size_t i = 0; i < r->finding_count; i++) {
    cugen_check_finding *f = &r->findings[i];
    const struct check_detail *d = f->detail;
    f->variants = d->variants.count;
    f->note = d->waiver || (f->kind == CUGEN_FINDING_SAME_VALUE && !c->options->wanted.strict);
    f->waived = d->waiver ? d->waiver->reason : "";
    r->note_count += f->note != 0;
    r->waived_count += d->waiver != NULL;
    on_check += !f->note && d->on_check;
  }
  r->elsewhere = r->finding_count > r->note_count && !on_check;
  skips_sort(r->skips, r->skip_count);
  for (size_t i = 0; i < r->skip_count; i++)
    r->skips[i].variants = r->skips[i].detail->variants.count;
  return tell_waivers(c->target->config, r, err);
}

int check_run(const struct tune_target *target, const struct check_options *options,
              struct check_result *out, cugen_error *err) {
  *out = (struct check_result){0};
  struct check *c = calloc(1, sizeof *c);
  if (!c) return error_memory(err);
  c->target = target;
  c->options = options;
  c->result = out;
  pthread_mutex_init(&c->mutex, NULL);
  condition_open(&c->changed);
  int status = check_select(target, options, &c->list, err);
  const bool listed = !status;
  if (!status) c->variants = calloc(c->list.variant_count + 1, sizeof *c->variants);
  if (!status && !c->variants) status = error_memory(err);
  if (!status) out->check.variants_of = check_list_valid(&c->list);
  if (!status) status = run_threads(c, err);
  cugen_error ignored;
  const bool told = listed && (!status || status == CUGEN_ERROR_INTERRUPTED);
  if (told && check_left_tell(target, options, &c->list, &out->check, status ? &ignored : err) &&
      !status)
    status = err->status;
  if (tell_list(c, status ? &ignored : err) && !status) status = err->status;
  if (tell_found(c, status ? &ignored : err) && !status) status = err->status;
  reached_sort(&out->check);
  check_list_free(&c->list);
  free(c->variants);
  pthread_mutex_destroy(&c->mutex);
  pthread_cond_destroy(&c->changed);
  free(c);
  return status;
}

void check_result_free(struct check_result *result) {
  cugen_check *r = &result->check;
  for (size_t i = 0; i < r->lines; i++) free(r->unreached[i].file);
  free(r->unreached);
  array_free_texts(r->unwatched, r->unwatched_count);
  for (size_t i = 0; i < r->finding_count; i++) finding_free(&r->findings[i]);
  free(r->findings);
  for (size_t i = 0; i < r->traffic_count; i++) traffic_free(&r->traffic[i]);
  free(r->traffic);
  array_free_texts(r->problem_texts, r->problems);
  for (size_t i = 0; i < r->kept_count; i++) {
    free(r->kept[i].setting);
    free(r->kept[i].why);
  }
  free(r->kept);
  for (size_t i = 0; i < r->skip_count; i++) skip_free(&r->skips[i]);
  free(r->skips);
  for (size_t i = 0; i < r->runs; i++) {
    free(r->ran[i].variant);
    free(r->ran[i].problem);
  }
  free(r->ran);
  free(r->waivers);
  free(result->printed);
  free(result->refused.bits);
  free(result->faulty.bits);
  *result = (struct check_result){0};
}
