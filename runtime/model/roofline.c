/* Peak rates, and the rates that they allow; see roofline.h. */
#include "roofline.h"

#include <stddef.h>
#include <string.h>

#include "base/capability.h"

/* Returns the rates of a described device; those of another GPU follow from its compute capability
   and name. All 0: not known. */
static struct gpu_rates rates_of(const struct device_description *device) {
  struct gpu_rates rates = {0};
  if (device->rates.fp32_lanes > 0) return device->rates;
  capability_rates(device->facts.compute_capability, device->name, &rates);
  return rates;
}

static double lanes(const struct gpu_rates *rates, const struct dtype *dtype) {
  if (!dtype->floating) return rates->int32_lanes;
  if (dtype->bytes > 2) return dtype->bytes == 8 ? rates->fp64_lanes : rates->fp32_lanes;
  return strcmp(dtype->name, "bf16") == 0 ? rates->bf16_lanes : rates->fp16_lanes;
}

/* Returns the clock cycles of all multiprocessors together in a second. */
static double clocks(const struct device_facts *facts) {
  return (double)facts->sm_count * (double)facts->clock_khz * 1e3;
}

static const struct {
  const char *type;
  size_t offset; /* of the member in struct gpu_rates */
} product_types[] = {
    {"f64", offsetof(struct gpu_rates, tensor_f64_flops)},
    {"tf32", offsetof(struct gpu_rates, tensor_tf32_flops)},
    {"f16", offsetof(struct gpu_rates, tensor_flops)},
    {"bf16", offsetof(struct gpu_rates, tensor_bf16_flops)},
    {"fp8", offsetof(struct gpu_rates, tensor_fp8_flops)},
    {"e4m3", offsetof(struct gpu_rates, tensor_fp8_flops)},
    {"e5m2", offsetof(struct gpu_rates, tensor_fp8_flops)},
    {"i8", offsetof(struct gpu_rates, tensor_i8_flops)},
    {"u8", offsetof(struct gpu_rates, tensor_i8_flops)},
};

double roofline_tensor_flops(const struct device_description *device, const char *type) {
  const struct gpu_rates rates = rates_of(device);
  double rate = 0;
  if (!device->facts.is_gpu) return 0;
  for (size_t i = 0; i < sizeof product_types / sizeof *product_types; i++)
    if (strcmp(product_types[i].type, type) == 0)
      memcpy(&rate, (const char *)&rates + product_types[i].offset, sizeof rate);
  return rate * clocks(&device->facts);
}

struct ceilings roofline_peak(const struct device_description *device, const struct dtype *dtype) {
  const struct device_facts *facts = &device->facts;
  const struct gpu_rates rates = rates_of(device);
  double published = 1e9 * device->rates.memory_gb_per_second;
  /* HBM and GDDR transfer data twice in a cycle of the memory clock as the driver reports it. */
  double clocked = 2.0 * (double)facts->memory_clock_khz * 1e3 * (double)facts->memory_bus_bits / 8;
  if (!facts->is_gpu) return (struct ceilings){0};
  return (struct ceilings){.flops_peak = 2.0 * lanes(&rates, dtype) * clocks(facts),
                           .bandwidth_peak = published > 0 ? published : clocked};
}

/* Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009: a kernel takes at least the time of
   moving its data, and at least the time of its arithmetic. */
double roofline_fraction(const struct ceilings *c, double flops, double bytes, double seconds,
                         bool *measured) {
  double multiply_adds = c->flops > 0 ? c->flops : c->flops_peak;
  bool tensor = c->tensor_flops_peak > multiply_adds;
  double peak = tensor ? c->tensor_flops_peak : multiply_adds;
  double bandwidth = c->bandwidth > 0 ? c->bandwidth : c->bandwidth_peak;
  if (measured) *measured = false;
  if (seconds <= 0 || (flops > 0 && peak <= 0) || (bytes > 0 && bandwidth <= 0)) return 0;
  double compute = flops > 0 ? flops / peak : 0, memory = bytes > 0 ? bytes / bandwidth : 0;
  if (measured) *measured = compute > memory ? !tensor && c->flops > 0 : c->bandwidth > 0;
  return (compute > memory ? compute : memory) / seconds;
}
