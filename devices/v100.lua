-- Tesla V100-SXM2-16GB. Volta, 2017. For occupancy and roofline only: NVRTC 13 has no target for it.

gpu "V100"
name "Tesla V100-SXM2-16GB"

-- NVIDIA Tesla V100 GPU Architecture whitepaper, table 1.
sm_count (80)
clock_khz (1530000)
memory_clock_khz (877000)
memory_bus_bits (4096)
memory_bytes (16151 * 1024 * 1024)
memory_gb_per_second (900)

-- Level 2 cache: the same.
l2_bytes (6 * 1024 * 1024)

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" and, for what it has left out, 11.0.
compute_capability (70)
max_threads_per_sm (2048)
max_blocks_per_sm (32)
registers_per_sm (65536)
shared_per_sm (96 * 1024)
shared_per_block_optin (96 * 1024)

-- L1 and shared memory: the same.
l1_bytes (128 * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions" and 11.0.
fp32_lanes (64)
fp64_lanes (32)
fp16_lanes (128)
int32_lanes (64)
special_lanes (16)

-- Tensor cores, dense: 125 TFLOP/s, the same.
tensor_flops (1024)
tensor_f64_flops (0)
