-- NVIDIA GeForce RTX 4090. Ada Lovelace for consumers, 2022.

gpu "RTX4090"
name "NVIDIA GeForce RTX 4090"

-- NVIDIA Ada GPU Architecture whitepaper, appendix A.
sm_count (128)
clock_khz (2520000)
memory_clock_khz (10501000)
memory_bus_bits (384)
memory_bytes (24564 * 1024 * 1024)
memory_gb_per_second (1008)

-- Level 2 cache: the same.
l2_bytes (72 * 1024 * 1024)

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
compute_capability (89)
max_threads_per_sm (1536)
max_blocks_per_sm (24)
registers_per_sm (65536)
shared_per_sm (100 * 1024)
shared_per_block_optin (99 * 1024)

-- L1 and shared memory: the same.
l1_bytes (128 * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions".
fp32_lanes (128)
fp64_lanes (2)
fp16_lanes (128)
int32_lanes (64)
special_lanes (16)

-- Tensor cores, dense: 165.2 TFLOP/s with f32 sums, the same.
tensor_flops (512)
tensor_f64_flops (0)

-- L2 throughput: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), L2 throughput.
l2_bytes_per_clock (1622)

-- Latencies: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (30.1)
l1_latency (43.4)
l2_latency (273.0)
memory_latency (541.5)
