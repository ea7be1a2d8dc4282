-- NVIDIA GeForce GTX 970. Maxwell, 2014. For occupancy and roofline only: NVRTC 13 has no target for it.

gpu "GTX970"
name "NVIDIA GeForce GTX 970"

-- nvidia.com, GeForce GTX 970 specifications, and the correction of January 2015 (13 SMs, 1.75 MB of L2).
sm_count (13)
clock_khz (1178000)
memory_clock_khz (3505000)
memory_bus_bits (256)
memory_bytes (4096 * 1024 * 1024)
memory_gb_per_second (224)

-- Level 2 cache: the same.
l2_bytes (1792 * 1024)

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" and, for what it has left out, 11.0.
compute_capability (52)
max_threads_per_sm (2048)
max_blocks_per_sm (32)
registers_per_sm (65536)
shared_per_sm (96 * 1024)
shared_per_block_optin (48 * 1024)

-- L1 and shared memory: CUDA C++ Programming Guide 11.0, compute capability 5.x: shared memory, and an L1 of its own.
l1_bytes ((96 + 48) * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions" and 11.0.
fp32_lanes (128)
fp64_lanes (4)
fp16_lanes (0)
int32_lanes (128)
special_lanes (32)

-- No tensor cores.
tensor_flops (0)
tensor_f64_flops (0)
