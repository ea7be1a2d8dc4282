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

/* Its description has rates of its own: described ones always have this one. */
static bool is_described(const struct device_description *device) {
  return device->rates.fp32_lanes > 0;
}

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

/* Operations a clock and multiprocessor, dense, two for a multiply-add. Each is a published rate divided by
   multiprocessors and clock: V100 whitepaper (125 TFLOP/s of f16: 80 x 1.53 GHz x 1024); T4 data sheet (65 and 130);
   A100 whitepaper, table 3 (312 of f16, 156 of tf32, 19.5 of f64, 624 of int8: 108 x 1.41 GHz); GA102 whitepaper and A40
   data sheet (149.7, 74.8, 299: 84 x 1.74 GHz); Jetson AGX Orin technical brief (85 of int8: 16 x 1.3 GHz; f16 half of it,
   tf32 a quarter); L40S data sheet (362, 183, 733: 142 x 2.52 GHz); H100 data sheet (989, 495, 67, 1979: 132 x 1.83 GHz,
   of f64 x 1.98 GHz); HGX B200 data sheet (2250, 1125, 4500: 148 x 1.85 GHz; 37 of f64) and HGX B300's, where f64 is not
   the tensor cores' and int8 not published for one GPU; RTX PRO 6000 Blackwell whitepaper (504, 252, 1007: 188 x 2.62
   GHz). */
static const struct products {
  int compute_capability;
  int f64, tf32, f16, bf16, fp8, i8;
} products[] = {
    {70, 0, 0, 1024, 0, 0, 0},
    {75, 0, 0, 1024, 0, 0, 2048},
    {80, 128, 1024, 2048, 2048, 0, 4096},
    {86, 0, 512, 1024, 1024, 0, 2048},
    {87, 0, 1024, 2048, 2048, 0, 4096},
    {89, 0, 512, 1024, 1024, 2048, 2048},
    {90, 256, 2048, 4096, 4096, 8192, 8192},
    {100, 128, 4096, 8192, 8192, 16384, 16384},
    {103, 0, 4096, 8192, 8192, 16384, 0},
    {120, 0, 512, 1024, 1024, 2048, 2048},
};

static const struct {
  const char *type;
  size_t offset; /* in struct products */
} product_types[] = {
    {"f64", offsetof(struct products, f64)},  {"tf32", offsetof(struct products, tf32)},
    {"f16", offsetof(struct products, f16)},  {"bf16", offsetof(struct products, bf16)},
    {"fp8", offsetof(struct products, fp8)},  {"e4m3", offsetof(struct products, fp8)},
    {"e5m2", offsetof(struct products, fp8)}, {"i8", offsetof(struct products, i8)},
    {"u8", offsetof(struct products, i8)},
};

static const struct products *find_products(int64_t compute_capability) {
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    if (products[i].compute_capability == compute_capability) return &products[i];
  return NULL;
}

/* GeForce cards add in f32 at half the chip's rate; integers are not slowed. GA102 whitepaper, table 2: RTX 3090, 71 of
   f16 with f32 sums, 142 with f16 sums, 35.6 of tf32, 284 of int8. */
static bool is_halved(const struct device_description *device, const char *type) {
  return strstr(device->name, "GeForce") && type[0] != 'i' && type[0] != 'u';
}

/* A clock and multiprocessor. */
static double product_rate(const struct device_description *device, const char *type) {
  const struct products *row = find_products(device->facts.compute_capability);
  for (size_t i = 0; row && i < sizeof product_types / sizeof *product_types; i++) {
    if (strcmp(product_types[i].type, type) != 0) continue;
    int rate;
    memcpy(&rate, (const char *)row + product_types[i].offset, sizeof rate);
    return is_halved(device, type) ? rate / 2.0 : rate;
  }
  return 0;
}

/* What a description says of f16 and f64 goes before the table. */
double roofline_tensor_flops(const struct device_description *device, const char *type) {
  const struct device_facts *facts = &device->facts;
  const struct gpu_rates *rates = &device->rates;
  if (!facts->is_gpu) return 0;
  double rate = product_rate(device, type);
  if (is_described(device) && strcmp(type, "f64") == 0) rate = rates->tensor_f64_flops;
  if (is_described(device) && (strcmp(type, "f16") == 0 || (strcmp(type, "bf16") == 0 && rate > 0)))
    rate = rates->tensor_flops;
  return rate * (double)facts->sm_count * (double)facts->clock_khz * 1e3;
}

/* Two transfers a memory clock: every HBM and GDDR generation that the driver reports this way. */
double roofline_bandwidth(const struct device_facts *facts) {
  return 2.0 * (double)facts->memory_clock_khz * 1e3 * (double)facts->memory_bus_bits / 8.0;
}

static double described_lanes(const struct gpu_rates *rates, const struct dtype *dtype) {
  if (!dtype->floating) return rates->int32_lanes;
  return dtype->bytes == 8 ? rates->fp64_lanes : dtype->bytes == 4 ? rates->fp32_lanes : rates->fp16_lanes;
}

struct ceilings roofline_sheet(const struct device_description *device, const struct dtype *dtype) {
  const struct device_facts *facts = &device->facts;
  const struct gpu_rates *rates = &device->rates;
  if (!facts->is_gpu) return (struct ceilings){0};
  if (!is_described(device))
    return (struct ceilings){.flops_sheet = roofline_flops(facts, dtype),
                             .bandwidth_sheet = roofline_bandwidth(facts)};
  return (struct ceilings){.flops_sheet = 2.0 * described_lanes(rates, dtype) * (double)facts->sm_count *
                                          (double)facts->clock_khz * 1e3,
                           .bandwidth_sheet = rates->memory_gb_per_second * 1e9};
}

/* Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009: time is at least the longer of moving and computing. */
double roofline_fraction(const struct ceilings *c, double flops, double bytes, double seconds, bool *measured) {
  double multiply_adds = c->flops > 0 ? c->flops : c->flops_sheet;
  bool tensor = c->tensor_flops_sheet > multiply_adds;
  double peak = tensor ? c->tensor_flops_sheet : multiply_adds;
  double bandwidth = c->bandwidth > 0 ? c->bandwidth : c->bandwidth_sheet;
  if (measured) *measured = false;
  if (seconds <= 0 || (flops > 0 && peak <= 0) || (bytes > 0 && bandwidth <= 0)) return 0;
  double compute = flops > 0 ? flops / peak : 0, memory = bytes > 0 ? bytes / bandwidth : 0;
  if (measured) *measured = compute > memory ? !tensor && c->flops > 0 : c->bandwidth > 0;
  return (compute > memory ? compute : memory) / seconds;
}
