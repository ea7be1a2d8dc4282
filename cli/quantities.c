/* The quantities of a record; see quantities.h. */
#include "quantities.h"

double quantity_requested(const cugen_record *r) {
  return r->flops > 0 && r->requested > 0 ? r->flops / r->requested : 0;
}

static struct shown show_rate(const cugen_record *r) {
  return r->flops > 0 ? print_flops(r->flops / r->seconds) : print_bandwidth(r->bytes / r->seconds);
}

/* Each quantity: whether record r has it, and how it is shown.

   - POWER is in J/s and not in W, because the energy was measured under continuous load and the
     time perhaps was not.
   - DYNAMIC_ALONE is for the cpu device, where the bytes of static arrays are not known. */
#define ROWS(ROW)                                                                                  \
  ROW(TIME, r->seconds > 0, print_seconds(r->seconds))                                             \
  ROW(MEASURED, r->seconds > 0 && !r->predicted, print_seconds(r->seconds))                        \
  ROW(PREDICTED, r->seconds > 0 && r->predicted, print_seconds(r->seconds))                        \
  ROW(ENERGY, r->energy > 0 && r->seconds > 0, print_joules(r->energy))                            \
  ROW(POWER, r->energy > 0 && r->seconds > 0,                                                      \
      print_format("%.40s J/s", print_number(r->energy / r->seconds).text))                        \
  ROW(VERIFIED, r->seconds > 0 && r->predicted, print_format("%s", r->verified ? "yes" : "no"))    \
  ROW(BOUND, r->seconds > 0 && r->predicted, print_format("%.47s", r->reason))                     \
  ROW(RATE, print_rate_unit(r->flops, r->bytes), show_rate(r))                                     \
  ROW(RATE_ALONE, print_rate_unit(r->flops, r->bytes), print_rate(r->flops, r->bytes, r->seconds)) \
  ROW(ROOFLINE, r->roofline > 0, print_percent(r->roofline))                                       \
  ROW(REQUESTS, quantity_requested(r) > 0,                                                         \
      print_format("%.40s FLOP/B", print_number(quantity_requested(r)).text))                      \
  ROW(OCCUPANCY, r->occupancy > 0, print_format("%.0f%% %.23s", 100 * r->occupancy, r->limiter))   \
  ROW(CLUSTERS, r->cluster_blocks > 1, print_clusters(r->cluster_blocks, r->active_clusters))      \
  ROW(THREADS, r->registers > 0, print_count((uint64_t)r->threads))                                \
  ROW(REGISTERS, r->registers > 0, print_count((uint64_t)r->registers))                            \
  ROW(SHARED, r->registers > 0, print_bytes(r->shared_bytes))                                      \
  ROW(STATIC, r->shared_bytes > r->dynamic_shared_bytes,                                           \
      print_bytes(r->shared_bytes - r->dynamic_shared_bytes))                                      \
  ROW(DYNAMIC, r->dynamic_shared_bytes > 0, print_bytes(r->dynamic_shared_bytes))                  \
  ROW(DYNAMIC_PART, r->registers > 0 && r->dynamic_shared_bytes > 0,                               \
      print_bytes(r->dynamic_shared_bytes))                                                        \
  ROW(DYNAMIC_ALONE, r->registers <= 0 && r->dynamic_shared_bytes > 0,                             \
      print_bytes(r->dynamic_shared_bytes))                                                        \
  ROW(CONSTANT, r->constant_bytes > 0, print_bytes(r->constant_bytes))                             \
  ROW(LOCAL, r->local_bytes > 0, print_bytes(r->local_bytes))                                      \
  ROW(SPILLS, r->registers > 0, print_bytes(r->spill_bytes))

#define HAS(name, has, show)                                                                       \
  static bool has_##name(const cugen_record *r) {                                                  \
    return has;                                                                                    \
  }
#define SHOW(name, has, show)                                                                      \
  static struct shown show_##name(const cugen_record *r) {                                         \
    return show;                                                                                   \
  }
#define TAKE(name, has, show) [QUANTITY_##name] = {has_##name, show_##name},

ROWS(HAS)
ROWS(SHOW)
const struct quantity_row quantities[QUANTITIES] = {ROWS(TAKE)};
