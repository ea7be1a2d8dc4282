/* The quantities of a record; see quantities.h. */
#include "quantities.h"

/* ---- Times and rates ------------------------------------------------------------------------ */

static bool has_time(const cugen_record *r) {
  return r->seconds > 0;
}

static bool has_measurement(const cugen_record *r) {
  return has_time(r) && !r->predicted;
}

static bool has_prediction(const cugen_record *r) {
  return has_time(r) && r->predicted;
}

static bool has_rate(const cugen_record *r) {
  return print_rate_unit(r->flops, r->bytes) != NULL;
}

static bool has_roofline(const cugen_record *r) {
  return r->roofline > 0;
}

static struct shown show_time(const cugen_record *r) {
  return print_seconds(r->seconds);
}

static bool quantities_has_energy(const cugen_record *r) {
  return r->energy > 0 && has_time(r);
}

static struct shown show_energy(const cugen_record *r) {
  return print_joules(r->energy);
}

/* No rate in watts is shown for other runs: the energy was measured under continuous load, and the
   time perhaps not. */
static struct shown show_power(const cugen_record *r) {
  struct shown shown;
  snprintf(shown.text, sizeof shown.text, "%.40s J/s", print_number(r->energy / r->seconds).text);
  return shown;
}

static struct shown show_bound(const cugen_record *r) {
  struct shown shown;
  snprintf(shown.text, sizeof shown.text, "%.47s", r->reason);
  return shown;
}

static struct shown show_verified(const cugen_record *r) {
  struct shown shown;
  snprintf(shown.text, sizeof shown.text, "%s", r->verified ? "yes" : "no");
  return shown;
}

static struct shown show_rate(const cugen_record *r) {
  return r->flops > 0 ? print_flops(r->flops / r->seconds) : print_bandwidth(r->bytes / r->seconds);
}

static struct shown show_rate_alone(const cugen_record *r) {
  return print_rate(r->flops, r->bytes, r->seconds);
}

static struct shown show_roofline(const cugen_record *r) {
  return print_percent(r->roofline);
}

double quantity_requested(const cugen_record *r) {
  return r->flops > 0 && r->requested > 0 ? r->flops / r->requested : 0;
}

static bool has_requests(const cugen_record *r) {
  return quantity_requested(r) > 0;
}

static struct shown show_requests(const cugen_record *r) {
  struct shown shown;
  snprintf(shown.text, sizeof shown.text, "%.40s FLOP/B", print_number(quantity_requested(r)).text);
  return shown;
}

/* ---- Resources ------------------------------------------------------------------------------ */

static bool has_occupancy(const cugen_record *r) {
  return r->occupancy > 0;
}

static bool has_clusters(const cugen_record *r) {
  return r->cluster_blocks > 1;
}

static bool has_registers(const cugen_record *r) {
  return r->registers > 0;
}

static bool has_static(const cugen_record *r) {
  return r->shared_bytes > r->dynamic_shared_bytes;
}

static bool has_dynamic(const cugen_record *r) {
  return r->dynamic_shared_bytes > 0;
}

/* On the cpu device only the dynamic bytes are known, not those of the kernel's own arrays. */
static bool has_dynamic_part(const cugen_record *r) {
  return has_registers(r) && has_dynamic(r);
}

static bool has_dynamic_alone(const cugen_record *r) {
  return !has_registers(r) && has_dynamic(r);
}

static bool has_constant(const cugen_record *r) {
  return r->constant_bytes > 0;
}

static bool has_local(const cugen_record *r) {
  return r->local_bytes > 0;
}

static struct shown show_occupancy(const cugen_record *r) {
  struct shown shown;
  snprintf(shown.text, sizeof shown.text, "%.0f%% %.23s", 100 * r->occupancy, r->limiter);
  return shown;
}

static struct shown quantities_show_clusters(const cugen_record *r) {
  return print_clusters(r->cluster_blocks, r->active_clusters);
}

static struct shown show_threads(const cugen_record *r) {
  return print_count((uint64_t)r->threads);
}

static struct shown show_registers(const cugen_record *r) {
  return print_count((uint64_t)r->registers);
}

static struct shown show_shared(const cugen_record *r) {
  return print_bytes(r->shared_bytes);
}

static struct shown show_static(const cugen_record *r) {
  return print_bytes(r->shared_bytes - r->dynamic_shared_bytes);
}

static struct shown show_dynamic(const cugen_record *r) {
  return print_bytes(r->dynamic_shared_bytes);
}

static struct shown show_constant(const cugen_record *r) {
  return print_bytes(r->constant_bytes);
}

static struct shown show_local(const cugen_record *r) {
  return print_bytes(r->local_bytes);
}

static struct shown show_spills(const cugen_record *r) {
  return print_bytes(r->spill_bytes);
}

const struct quantity_row quantities[QUANTITIES] = {
    [QUANTITY_TIME] = {has_time, show_time},
    [QUANTITY_MEASURED] = {has_measurement, show_time},
    [QUANTITY_PREDICTED] = {has_prediction, show_time},
    [QUANTITY_ENERGY] = {quantities_has_energy, show_energy},
    [QUANTITY_POWER] = {quantities_has_energy, show_power},
    [QUANTITY_VERIFIED] = {has_prediction, show_verified},
    [QUANTITY_BOUND] = {has_prediction, show_bound},
    [QUANTITY_RATE] = {has_rate, show_rate},
    [QUANTITY_RATE_ALONE] = {has_rate, show_rate_alone},
    [QUANTITY_ROOFLINE] = {has_roofline, show_roofline},
    [QUANTITY_REQUESTS] = {has_requests, show_requests},
    [QUANTITY_OCCUPANCY] = {has_occupancy, show_occupancy},
    [QUANTITY_CLUSTERS] = {has_clusters, quantities_show_clusters},
    [QUANTITY_THREADS] = {has_registers, show_threads},
    [QUANTITY_REGISTERS] = {has_registers, show_registers},
    [QUANTITY_SHARED] = {has_registers, show_shared},
    [QUANTITY_STATIC] = {has_static, show_static},
    [QUANTITY_DYNAMIC] = {has_dynamic, show_dynamic},
    [QUANTITY_DYNAMIC_PART] = {has_dynamic_part, show_dynamic},
    [QUANTITY_DYNAMIC_ALONE] = {has_dynamic_alone, show_dynamic},
    [QUANTITY_CONSTANT] = {has_constant, show_constant},
    [QUANTITY_LOCAL] = {has_local, show_local},
    [QUANTITY_SPILLS] = {has_registers, show_spills},
};
