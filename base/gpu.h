/* A GPU as data: the facts that configs use, and the rates that a prediction needs. docs/model.md
   describes each figure. */
#ifndef BASE_GPU_H
#define BASE_GPU_H

#include "facts.h"

/* Columns: name, meaning. Figures are of one multiprocessor unless stated otherwise; lanes are
   results per cycle. */
#define GPU_RATES(X)                                                                               \
  X(fp32_lanes, "f32 multiply-adds a cycle")                                                       \
  X(fp64_lanes, "f64 multiply-adds a cycle")                                                       \
  X(fp16_lanes, "f16 multiply-adds a cycle")                                                       \
  X(bf16_lanes, "bf16 multiply-adds a cycle")                                                      \
  X(int32_lanes, "32-bit integer additions a cycle")                                               \
  X(special_lanes, "reciprocals, square roots and the like a cycle")                               \
  X(tensor_flops, "f16 operations a cycle of the tensor cores, dense; 0: it has none")             \
  X(tensor_f64_flops, "tensor_flops for f64 operands")                                             \
  X(tensor_tf32_flops, "tensor_flops for tf32 operands")                                           \
  X(tensor_bf16_flops, "tensor_flops for bf16 operands")                                           \
  X(tensor_fp8_flops, "tensor_flops for 8-bit floats")                                             \
  X(tensor_i8_flops, "tensor_flops for 8-bit integers")                                            \
  X(l1_bytes, "bytes that L1 and shared memory have together")                                     \
  X(l2_bytes_per_clock, "bytes a cycle that L2 gives to all multiprocessors together")             \
  X(memory_gb_per_second, "bandwidth of the device memory, as published")                          \
  X(shared_latency, "cycles from shared memory")                                                   \
  X(l1_latency, "cycles from L1")                                                                  \
  X(l2_latency, "cycles from L2")                                                                  \
  X(memory_latency, "cycles from the device memory")

struct gpu_rates {
#define X(name, what) double name;
  GPU_RATES(X)
#undef X
};

/* The oldest compute capabilities for which NVRTC 13 and NVRTC 12 can compile. */
enum { GPU_OLDEST_TARGET = 75, GPU_OLDEST_TARGET_12 = 50 };

/* A GPU described in configs/devices/. */
struct gpu_model {
  char id[32];    /* "model:A100" */
  char name[128]; /* name as the GPU's driver reports it */
  struct device_facts facts;
  struct gpu_rates rates;
};

#endif
