/* Ceilings and what they allow; see roofline.h. */
#include "roofline.h"

#include <stddef.h>
#include <string.h>

/* Results a clock and multiprocessor, add/multiply/fused multiply-add: CUDA C++ Programming Guide, "Arithmetic
   Instructions", table "Throughput of Native Arithmetic Instructions". */
static const struct throughput {
  int compute_capability;
  int f64, f32, f16, integer;
} throughputs[] = {
    {35, 64, 192, 0, 160},   {70, 32, 64, 128, 64},  {75, 2, 64, 128, 64},   {80, 32, 64, 256, 64},
    {86, 2, 128, 256, 64},   {87, 2, 128, 256, 64},  {89, 2, 128, 256, 64},  {90, 64, 128, 256, 64},
    {100, 64, 128, 256, 64}, {103, 2, 128, 256, 64}, {120, 2, 128, 256, 64},
};

static int lanes(const struct throughput *t, const struct dtype *dtype) {
  if (!dtype->floating) return t->integer;
  return dtype->bytes == 8 ? t->f64 : dtype->bytes == 4 ? t->f32 : t->f16;
}

double roofline_flops(const struct device_facts *facts, const struct dtype *dtype) {
  for (size_t i = 0; i < sizeof throughputs / sizeof *throughputs; i++)
    if (throughputs[i].compute_capability == facts->compute_capability)
      return 2.0 * lanes(&throughputs[i], dtype) * (double)facts->sm_count * (double)facts->clock_khz * 1e3;
  return 0;
}

/* Two transfers a memory clock: every HBM and GDDR generation that the driver reports this way. */
double roofline_bandwidth(const struct device_facts *facts) {
  return 2.0 * (double)facts->memory_clock_khz * 1e3 * (double)facts->memory_bus_bits / 8.0;
}

struct ceilings roofline_sheet(const struct device_facts *facts, const struct dtype *dtype) {
  if (!facts->is_gpu) return (struct ceilings){0};
  return (struct ceilings){.flops_sheet = roofline_flops(facts, dtype), .bandwidth_sheet = roofline_bandwidth(facts)};
}

/* Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009: time is at least the longer of moving and computing. */
double roofline_fraction(const struct ceilings *c, double flops, double bytes, double seconds, bool *measured) {
  double peak = c->flops > 0 ? c->flops : c->flops_sheet;
  double bandwidth = c->bandwidth > 0 ? c->bandwidth : c->bandwidth_sheet;
  if (measured) *measured = false;
  if (seconds <= 0 || (flops > 0 && peak <= 0) || (bytes > 0 && bandwidth <= 0)) return 0;
  double compute = flops > 0 ? flops / peak : 0, memory = bytes > 0 ? bytes / bandwidth : 0;
  if (measured) *measured = (compute > memory ? c->flops : c->bandwidth) > 0;
  return (compute > memory ? compute : memory) / seconds;
}
