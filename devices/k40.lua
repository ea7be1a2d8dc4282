-- Tesla K40m. Kepler, 2013. For occupancy and roofline only: NVRTC 13 has no target for it.

gpu "K40"
name "Tesla K40m"

-- NVIDIA Tesla K40 board specification BD-06902-001: SMs, highest boost clock, memory.
sm_count (15)
clock_khz (875000)
memory_clock_khz (3004000)
memory_bus_bits (384)
memory_bytes (11441 * 1024 * 1024)
memory_gb_per_second (288)

-- Level 2 cache: the same.
l2_bytes (1536 * 1024)

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" and, for what it has left out, 11.0.
compute_capability (35)
max_threads_per_sm (2048)
max_blocks_per_sm (16)
registers_per_sm (65536)
shared_per_sm (48 * 1024)
shared_per_block_optin (48 * 1024)

-- L1 and shared memory: NVIDIA Kepler GK110 whitepaper.
l1_bytes (64 * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions" and 11.0.
fp32_lanes (192)
fp64_lanes (64)
fp16_lanes (0)
int32_lanes (160)
special_lanes (32)

-- No tensor cores.
tensor_flops (0)
tensor_f64_flops (0)
