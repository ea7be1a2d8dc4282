/* Figures by compute capability; see capability.h. */
#include "capability.h"

#include <stdlib.h>
#include <string.h>

bool arch_parse(const char *text, struct arch *out) {
  static const char prefix[] = "sm_";
  const char *number = text + sizeof prefix - 1;
  *out = (struct arch){0};
  if (strncmp(text, prefix, sizeof prefix - 1) != 0) return false;
  const size_t digits = strspn(number, "0123456789");
  const char *suffix = number + digits;
  if (digits < 2 || digits > 3 || *number == '0' ||
      (*suffix && (!strchr("af", *suffix) || suffix[1])))
    return false;
  *out = (struct arch){.capability = atoi(number), .suffix = *suffix};
  return true;
}

/* Sources of the limits: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute
   Capability", and version 11.0 of the guide for the capabilities that 13.0 no longer lists. Lanes
   are results per clock of add, multiply or fused multiply-add, from the section "Throughput of
   Native Arithmetic Instructions" of the same guide. f16 of 8.6, 8.9 and 12.0 is as fast as f32
   (GA102 whitepaper, table 2: 35.6 TFLOP/s for both; Ada whitepaper: 82.6; RTX Blackwell
   whitepaper: 104.8); f16 of 8.7 is twice as fast as f32 (Jetson AGX Orin technical brief: 10.6 and
   5.3). bf16 exists from 8.0 on. NVIDIA Hopper Architecture In-Depth, table 3, without tensor
   cores: bf16 has 39 TFLOP/s on an A100, half of f16, and on an H100 as much as f16. bf16 of 8.6,
   8.9 and 12.0 is as fast as f32, by the whitepapers named for f16. The rate of bf16 is not
   published for 8.7, which has the other 8.x's here, nor for 10.x, which has 9.0's here. Rates of
   tensor cores are dense operations per clock; a multiply-add counts as two. Each is a published
   rate divided by the number of multiprocessors and the clock, and rounded: V100 whitepaper (125
   TFLOP/s of f16: 80 x 1.53 GHz x 1024); T4 data sheet (65 and 130); A100 whitepaper, table 3 (312
   of f16, 156 of tf32, 19.5 of f64, 624 of int8: 108 x 1.41 GHz); GA102 whitepaper and A40 data
   sheet (149.7, 74.8, 299: 84 x 1.74 GHz); Jetson AGX Orin technical brief (85 of int8: 16 x 1.3
   GHz; f16 half of it, tf32 a quarter); L40S data sheet (362, 183, 733: 142 x 2.52 GHz); H100 data
   sheet (989, 495, 67, 1979: 132 x 1.83 GHz, of f64 x 1.98 GHz); HGX B200 data sheet (2250, 1125,
   4500: 148 x 1.85 GHz; 37 of f64) and HGX B300 data sheet, where f64 does not use the tensor cores
   and int8 is not published for one GPU; RTX PRO 6000 Blackwell whitepaper (504, 252, 1007: 188 x
   2.62 GHz). */
static const struct capability {
  int version;
  int threads, blocks, shared, shared_per_block; /* shared and shared_per_block in KiB; the latter
                                                    with opt-in */
  int f64, f32, f16, bf16, integer, special;     /* results per clock of the lanes */
  int t_f64, t_tf32, t_f16, t_bf16, t_fp8, t_i8; /* operations per clock of the tensor cores */
} capabilities[] = {
    {35, 2048, 16, 48, 48, 64, 192, 0, 0, 160, 32, 0, 0, 0, 0, 0, 0},
    {50, 2048, 32, 64, 48, 4, 128, 0, 0, 128, 32, 0, 0, 0, 0, 0, 0},
    {52, 2048, 32, 96, 48, 4, 128, 0, 0, 128, 32, 0, 0, 0, 0, 0, 0},
    {60, 2048, 32, 64, 48, 32, 64, 128, 0, 64, 16, 0, 0, 0, 0, 0, 0},
    {61, 2048, 32, 96, 48, 4, 128, 2, 0, 128, 32, 0, 0, 0, 0, 0, 0},
    {70, 2048, 32, 96, 96, 32, 64, 128, 0, 64, 16, 0, 0, 1024, 0, 0, 0},
    {75, 1024, 16, 64, 64, 2, 64, 128, 0, 64, 16, 0, 0, 1024, 0, 0, 2048},
    {80, 2048, 32, 164, 163, 32, 64, 256, 128, 64, 16, 128, 1024, 2048, 2048, 0, 4096},
    {86, 1536, 16, 100, 99, 2, 128, 128, 128, 64, 16, 0, 512, 1024, 1024, 0, 2048},
    {87, 1536, 16, 164, 163, 2, 128, 256, 128, 64, 16, 0, 1024, 2048, 2048, 0, 4096},
    {89, 1536, 24, 100, 99, 2, 128, 128, 128, 64, 16, 0, 512, 1024, 1024, 2048, 2048},
    {90, 2048, 32, 228, 227, 64, 128, 256, 256, 64, 16, 256, 2048, 4096, 4096, 8192, 8192},
    {100, 2048, 32, 228, 227, 64, 128, 256, 256, 64, 16, 128, 4096, 8192, 8192, 16384, 16384},
    {103, 2048, 32, 228, 227, 2, 128, 256, 256, 64, 16, 0, 4096, 8192, 8192, 16384, 0},
    {110, 1536, 24, 228, 227, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {120, 1536, 24, 100, 99, 2, 128, 128, 128, 64, 16, 0, 512, 1024, 1024, 2048, 2048},
    {121, 1536, 24, 100, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

static const struct capability *capability_find(int64_t compute_capability) {
  for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
    if (capabilities[i].version == compute_capability) return &capabilities[i];
  return NULL;
}

bool capability_limits(int64_t compute_capability, struct device_facts *out) {
  const struct capability *c = capability_find(compute_capability);
  if (!c) return false;
  out->max_threads_per_sm = c->threads;
  out->max_blocks_per_sm = c->blocks;
  out->registers_per_sm = 65536;
  out->shared_per_sm = INT64_C(1024) * c->shared;
  out->shared_per_block_optin = INT64_C(1024) * c->shared_per_block;
  return true;
}

/* On GeForce cards the tensor cores accumulate in f32 at half of the chip's rate; integer rates are
   the full ones. GA102 whitepaper, table 2: an RTX 3090 has 71 TFLOP/s of f16 with f32
   accumulation, 142 with f16 accumulation, 35.6 of tf32, and 284 TOP/s of int8. */
bool capability_rates(int64_t compute_capability, const char *name, struct gpu_rates *out) {
  const struct capability *c = capability_find(compute_capability);
  const double sums = strstr(name, "GeForce") ? 0.5 : 1;
  if (!c) return false;
  out->fp64_lanes = c->f64;
  out->fp32_lanes = c->f32;
  out->fp16_lanes = c->f16;
  out->bf16_lanes = c->bf16;
  out->int32_lanes = c->integer;
  out->special_lanes = c->special;
  out->tensor_f64_flops = c->t_f64;
  out->tensor_tf32_flops = sums * c->t_tf32;
  out->tensor_flops = sums * c->t_f16;
  out->tensor_bf16_flops = sums * c->t_bf16;
  out->tensor_fp8_flops = sums * c->t_fp8;
  out->tensor_i8_flops = c->t_i8;
  return true;
}
