/* Results as JSON; docs/json.md describes each field. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

json_t *json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_known(double value) {
  return value != 0 ? json_number(value) : json_null();
}

json_t *json_known_integer(int64_t value) {
  return value ? json_integer(value) : json_null();
}

/* A compiler's words may be cut within a letter: what is no UTF-8 loses all but ASCII. */
json_t *json_text(const char *string) {
  json_t *whole = json_string(string);
  char *plain = whole ? NULL : strdup(string);
  if (!plain) return whole;
  for (char *c = plain; *c; c++)
    if ((unsigned char)*c >= 128) *c = '?';
  json_t *result = json_string(plain);
  free(plain);
  return result;
}

json_t *json_optional_string(const char *string) {
  return string && *string ? json_text(string) : json_null();
}

static json_t *outputs_json(const cugen_outputs *outputs) {
  char text[48];
  outputs_text(outputs, text, sizeof text);
  return json_optional_string(text);
}

static json_t *json_roofline_of(const cugen_record *r) {
  return r->roofline > 0 ? json_string(r->roofline_measured ? "measured" : "peak") : json_null();
}

/* Times mean something only of what ran and was right. */
static void set_times(json_t *object, const cugen_record *r) {
  bool timed = r->outcome == CUGEN_OUTCOME_OK;
  double flops_rate = timed && r->seconds > 0 ? r->flops / r->seconds : 0;
  double bytes_rate = timed && r->seconds > 0 ? r->bytes / r->seconds : 0;
  json_object_set_new(object, "samples", json_integer(r->samples));
  json_object_set_new(object, "seconds", timed ? json_number(r->seconds) : json_null());
  json_object_set_new(object, "seconds_min", timed ? json_number(r->seconds_min) : json_null());
  json_object_set_new(object, "seconds_p20", timed ? json_number(r->seconds_p20) : json_null());
  json_object_set_new(object, "seconds_p80", timed ? json_number(r->seconds_p80) : json_null());
  json_object_set_new(object, "flops", json_known(r->flops));
  json_object_set_new(object, "bytes", json_known(r->bytes));
  json_object_set_new(object, "flops_per_second", json_known(flops_rate));
  json_object_set_new(object, "bytes_per_second", json_known(bytes_rate));
  json_object_set_new(object, "intensity", r->bytes > 0 ? json_known(r->flops / r->bytes) : json_null());
  json_object_set_new(object, "roofline", timed ? json_known(r->roofline) : json_null());
  json_object_set_new(object, "roofline_of", timed ? json_roofline_of(r) : json_null());
}

json_t *json_record_plain(const cugen_record *r) {
  bool resources = r->registers > 0; /* none are known of what did not compile, or on the cpu device */
  json_t *object = json_object();
  json_object_set_new(object, "variant", json_string(r->variant));
  json_object_set_new(object, "outcome", json_string(outcome_name((int)r->outcome)));
  json_object_set_new(object, "reason", json_optional_string(r->reason));
  json_object_set_new(object, "from_cache", json_boolean(r->from_cache));
  json_object_set_new(object, "predicted", json_boolean(r->predicted));
  json_object_set_new(object, "verified", json_boolean(r->verified));
  json_object_set_new(object, "unverified", json_optional_string(r->verified ? NULL : r->unverified));
  json_object_set_new(object, "verified_on", json_optional_string(r->verified ? r->unverified : NULL));
  set_times(object, r);
  json_object_set_new(object, "error", r->verified ? json_number(r->error) : json_null());
  json_object_set_new(object, "threads", json_known_integer(r->threads));
  json_object_set_new(object, "registers", json_known_integer(r->registers));
  json_object_set_new(object, "shared_bytes", resources ? json_integer(r->shared_bytes) : json_null());
  json_object_set_new(object, "static_shared_bytes",
                      resources ? json_integer(r->shared_bytes - r->dynamic_shared_bytes) : json_null());
  json_object_set_new(object, "dynamic_shared_bytes",
                      resources ? json_integer(r->dynamic_shared_bytes) : json_null());
  json_object_set_new(object, "constant_bytes", resources ? json_integer(r->constant_bytes) : json_null());
  json_object_set_new(object, "local_bytes", resources ? json_integer(r->local_bytes) : json_null());
  json_object_set_new(object, "requested_bytes", json_known(r->requested));
  json_object_set_new(object, "spill_bytes", resources ? json_integer(r->spill_bytes) : json_null());
  json_object_set_new(object, "occupancy", json_known(r->occupancy));
  json_object_set_new(object, "limiter", json_optional_string(r->limiter));
  json_object_set_new(object, "cluster_blocks", json_known_integer(r->cluster_blocks));
  json_object_set_new(object, "active_clusters", json_known_integer(r->active_clusters));
  json_object_set_new(object, "energy_joules", json_known(r->energy));
  json_object_set_new(object, "energy_resolution", json_known(r->energy_resolution));
  json_object_set_new(object, "non_dominated", r->energy > 0 ? json_boolean(r->non_dominated) : json_null());
  json_object_set_new(object, "outputs", outputs_json(&r->outputs));
  json_object_set_new(object, "clock_mhz", json_known_integer(r->clock_mhz));
  json_object_set_new(object, "power_watts", json_known_integer(r->power_watts));
  json_object_set_new(object, "throttle", json_string(r->throttle));
  json_object_set_new(object, "compile_seconds", json_number(r->compile_seconds));
  json_object_set_new(object, "measure_seconds", json_number(r->measure_seconds));
  json_object_set_new(object, "measured_at", r->measured_at ? json_integer(r->measured_at) : json_null());
  json_object_set_new(object, "run_began", json_known_integer(r->run_began));
  json_object_set_new(object, "run_seconds", r->run_began ? json_number(r->run_seconds) : json_null());
  return object;
}

json_t *json_tune_result(const cugen_tune_result *result) {
  json_t *object = json_object();
  json_object_set_new(object, "valid", json_integer((json_int_t)result->valid));
  json_object_set_new(object, "remembered", json_integer((json_int_t)result->remembered));
  json_object_set_new(object, "tried", json_integer((json_int_t)result->tried));
  json_object_set_new(object, "failed", json_integer((json_int_t)result->failed));
  json_object_set_new(object, "unpredicted", json_integer((json_int_t)result->unpredicted));
  json_object_set_new(object, "unsupported", json_integer((json_int_t)result->unsupported));
  json_object_set_new(object, "not_run", json_optional_string(result->not_run));
  json_object_set_new(object, "leaders", json_integer((json_int_t)result->leaders));
  json_object_set_new(object, "began", json_optional_string(result->began));
  json_object_set_new(object, "left", json_integer((json_int_t)result->left));
  json_object_set_new(object, "compiled", json_integer((json_int_t)result->compiled));
  json_object_set_new(object, "seconds", json_number(result->seconds));
  json_object_set_new(object, "measuring", json_number(result->measuring));
  json_object_set_new(object, "verified", json_integer((json_int_t)result->verified));
  json_object_set_new(object, "refuted", json_integer((json_int_t)result->refuted));
  json_object_set_new(object, "unverified", json_optional_string(result->unverified));
  json_object_set_new(object, "unchecked", json_optional_string(result->unchecked));
  json_object_set_new(object, "tied", json_integer((json_int_t)result->tied));
  json_object_set_new(object, "energies", json_integer((json_int_t)result->energies));
  json_object_set_new(object, "tied_within", json_number(result->tied_within));
  json_object_set_new(object, "alike", json_integer((json_int_t)result->alike));
  json_object_set_new(object, "power_capped", json_integer((json_int_t)result->power_capped));
  json_object_set_new(object, "steady", json_integer((json_int_t)result->steady));
  json_object_set_new(object, "unsettled", json_integer((json_int_t)result->unsettled));
  json_object_set_new(object, "devices", json_integer((json_int_t)result->devices));
  json_object_set_new(object, "lost", json_optional_string(result->lost));
  json_object_set_new(object, "equal_to", json_optional_string(result->equal_to));
  json_object_set_new(object, "outputs", outputs_json(&result->outputs));
  json_object_set_new(object, "interrupted", json_boolean(result->interrupted));
  return object;
}

json_t *json_merged(const cugen_cache_merged *merged) {
  json_t *object = json_object();
  json_object_set_new(object, "records", json_integer((json_int_t)merged->records));
  json_object_set_new(object, "added", json_integer((json_int_t)merged->added));
  json_object_set_new(object, "better", json_integer((json_int_t)merged->better));
  json_object_set_new(object, "worse", json_integer((json_int_t)merged->worse));
  json_object_set_new(object, "known", json_integer((json_int_t)merged->known));
  json_object_set_new(object, "portfolios", json_integer((json_int_t)merged->portfolios));
  return object;
}

/* The version comes first, so that who reads meets it before the rest. */
json_t *json_document(json_t *object) {
  json_t *whole = json_object();
  if (json_object_set_new(whole, "version", json_integer(JSON_VERSION)) || json_object_update(whole, object)) {
    json_decref(whole);
    whole = NULL;
  }
  json_decref(object);
  return whole;
}
