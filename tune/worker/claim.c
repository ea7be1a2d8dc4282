/* Judges what comes out of the jail; see claim.h. */
#include "claim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BIT(value) (1u << (unsigned)(value))

/* The outcomes and causes that the run of a compiled variant can have, on the cpu device (false)
   and on a GPU (true). A timeout is among those of a GPU, whose driver can end a kernel. */
static const struct {
  unsigned outcomes, causes;
} possible[] = {
    [false] = {.outcomes = BIT(CUGEN_OUTCOME_OK) | BIT(CUGEN_OUTCOME_LAUNCH) |
                           BIT(CUGEN_OUTCOME_WRONG) | BIT(CUGEN_OUTCOME_BOUNDS) |
                           BIT(CUGEN_OUTCOME_TRAP),
               .causes = BIT(CUGEN_CAUSE_NONE) | BIT(CUGEN_CAUSE_BOUNDS) | BIT(CUGEN_CAUSE_INPUT) |
                         BIT(CUGEN_CAUSE_TRAP) | BIT(CUGEN_CAUSE_MASK) |
                         BIT(CUGEN_CAUSE_RESOURCES) | BIT(CUGEN_CAUSE_GRID_SYNC) |
                         BIT(CUGEN_CAUSE_UNSUPPORTED)},
    [true] = {.outcomes = BIT(CUGEN_OUTCOME_OK) | BIT(CUGEN_OUTCOME_LAUNCH) |
                          BIT(CUGEN_OUTCOME_WRONG) | BIT(CUGEN_OUTCOME_BOUNDS) |
                          BIT(CUGEN_OUTCOME_TRAP) | BIT(CUGEN_OUTCOME_TIMEOUT),
              .causes = BIT(CUGEN_CAUSE_NONE) | BIT(CUGEN_CAUSE_BOUNDS) | BIT(CUGEN_CAUSE_INPUT) |
                        BIT(CUGEN_CAUSE_TRAP) | BIT(CUGEN_CAUSE_MASK) | BIT(CUGEN_CAUSE_RESOURCES) |
                        BIT(CUGEN_CAUSE_KERNEL_TIME) | BIT(CUGEN_CAUSE_DEVICE_LOST)},
};

static bool is_among(unsigned set, int value) {
  return value >= 0 && value < 32 && (set & BIT(value));
}

cugen_cause claim_cause(cugen_cause cause) {
  return is_among(possible[false].causes, (int)cause) ? cause : CUGEN_CAUSE_NONE;
}

/* ---- Results -------------------------------------------------------------------------------- */

void claim_make(const struct worker_result *result, struct claim *out) {
  const struct measurement *m = &result->measurement;
  *out = (struct claim){.outcome = (int32_t)result->outcome,
                        .cause = (int32_t)result->cause,
                        .samples = m->samples,
                        .dropped = m->dropped,
                        .has_outputs = result->has_outputs,
                        .varies = result->varies,
                        .outputs = result->outputs,
                        .error = result->error,
                        .seconds = m->seconds,
                        .minimum = m->minimum,
                        .p20 = m->p20,
                        .p80 = m->p80};
  memcpy(out->reason, result->reason, sizeof out->reason);
}

void claim_read(const struct claim *claim, struct worker_result *out) {
  *out = (struct worker_result){.outcome = (cugen_outcome)claim->outcome,
                                .cause = (cugen_cause)claim->cause,
                                .error = claim->error,
                                .has_outputs = claim->has_outputs != 0,
                                .varies = claim->varies != 0,
                                .outputs = claim->outputs,
                                .measurement = {.samples = claim->samples,
                                                .seconds = claim->seconds,
                                                .minimum = claim->minimum,
                                                .p20 = claim->p20,
                                                .p80 = claim->p80,
                                                .dropped = claim->dropped != 0}};
  memcpy(out->reason, claim->reason, sizeof out->reason - 1);
  if (out->outcome != CUGEN_OUTCOME_OK)
    out->measurement = (struct measurement){0}; /* the time of a failure is not used */
}

void claim_record(const struct worker_result *result, uint64_t seed, struct cache_record *out) {
  const struct measurement *m = &result->measurement;
  out->outcome = result->outcome;
  out->error = result->error;
  if (result->has_outputs && result->outcome == CUGEN_OUTCOME_OK)
    out->outputs = (cugen_outputs){1, result->varies, seed, result->varies ? 0 : result->outputs};
  out->samples = m->samples;
  out->seconds = m->seconds;
  out->seconds_min = m->minimum;
  out->seconds_p20 = m->p20;
  out->seconds_p80 = m->p80;
  out->active_clusters = result->active_clusters;
  out->energy = m->energy;
  out->energy_resolution = m->energy_resolution;
  out->clock_mhz = m->clock.sm_mhz;
  out->power_watts = m->clock.power_watts;
  snprintf(out->throttle, sizeof out->throttle, "%s", m->clock.throttle);
}

/* Least plausible time of a launch in seconds. */
static const double least_time = 1e-8;

/* Returns what cannot be true of the result, or NULL. claim_is_possible also checks the result as a
   record. */
static const char *fields_wrong(const struct worker_result *result,
                                const struct claim_bounds *bounds) {
  const struct measurement *m = &result->measurement;
  const bool right = result->outcome == CUGEN_OUTCOME_OK;
  if (!is_among(possible[bounds->on_gpu].outcomes, (int)result->outcome))
    return "no run ends with such an outcome";
  if (!is_among(possible[bounds->on_gpu].causes, (int)result->cause))
    return "no run fails by such a cause";
  if (right && result->cause) return "it is right, and has a cause of failure";
  if (!memchr(result->reason, '\0', sizeof result->reason)) return "its reason has no end";
  if (right && *result->reason) return "it is right, and has a reason of failure";
  if ((unsigned)m->reached >= MEASURE_REACHED) return "its state under load is none that exists";
  if (!memchr(m->clock.throttle, '\0', sizeof m->clock.throttle))
    return "the reason for its slow clocks has no end";
  if (!right || !bounds->timed) return NULL;
  if (m->samples <= 0) return "it has no samples";
  if (!(m->seconds >= least_time)) return "its time is below 10 ns";
  if (!(m->minimum <= m->p20 && m->p20 <= m->seconds && m->seconds <= m->p80))
    return "its times are in no order";
  /* Half of the samples took at least the median. */
  if (m->seconds * ((double)m->samples + 1) / 2 > bounds->seconds)
    return "its times are longer than its process ran";
  return NULL;
}

bool claim_is_possible(const struct worker_result *result, const struct claim_bounds *bounds,
                       char *why, size_t size) {
  char variant[] = "v", reason[] = "";
  struct cache_record record = {.variant = variant, .reason = reason};
  const char *wrong = fields_wrong(result, bounds);
  int column;
  if (wrong) {
    snprintf(why, size, "%s", wrong);
    return false;
  }
  /* The result of an untimed run becomes no record. */
  if (result->outcome == CUGEN_OUTCOME_OK && !bounds->timed) return true;
  memset(record.hash.hex, '0', sizeof record.hash.hex - 1);
  claim_record(result, 0, &record);
  wrong = cache_record_wrong(&record, &column);
  if (wrong) snprintf(why, size, "%s %s", cache_columns[column].name, wrong);
  return !wrong;
}

void claim_refuse(const char *why, struct worker_result *out) {
  *out = (struct worker_result){.outcome = CUGEN_OUTCOME_TRAP};
  snprintf(out->reason, sizeof out->reason, "its process returned a result that cannot be true: %s",
           why);
}

/* ---- Errors of the config's own kernels ----------------------------------------------------- */

void claim_make_error(int status, const cugen_error *why, struct claim_error *out) {
  *out = (struct claim_error){.status = status, .cause = (int32_t)why->cause};
  if (status) memcpy(out->message, why->message, strnlen(why->message, sizeof out->message - 1));
}

int claim_read_error(const struct claim_error *claim, cugen_error *err) {
  /* An interruption, an internal error or a lost device would end more than the data that the step
     makes, so that no step may report it. */
  static const int statuses[] = {
      CUGEN_OK,          CUGEN_ERROR_CONFIG, CUGEN_ERROR_DEVICE, CUGEN_ERROR_MISSING,
      CUGEN_ERROR_WRONG, CUGEN_ERROR_MEMORY, CUGEN_ERROR_IO,     CUGEN_ERROR_USAGE};
  char message[sizeof claim->message];
  bool known = false;
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    known = known || statuses[i] == claim->status;
  if (!known || !is_among(possible[false].causes, claim->cause))
    return error_set(err, CUGEN_ERROR_DEVICE, "its process returned a result that cannot be true");
  if (!claim->status) return CUGEN_OK;
  memcpy(message, claim->message, sizeof message - 1);
  message[sizeof message - 1] = '\0';
  return error_set_cause(err, claim->status, (cugen_cause)claim->cause, "%s", message);
}
