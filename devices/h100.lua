-- NVIDIA H100 80GB HBM3. Hopper, 2022: the SXM5 module.

gpu "H100"
name "NVIDIA H100 80GB HBM3"

-- NVIDIA H100 Tensor Core GPU Architecture whitepaper, table 3; clocks as the driver reports them.
sm_count (132)
clock_khz (1980000)
memory_clock_khz (2619000)
memory_bus_bits (5120)
memory_bytes (81079 * 1024 * 1024)
memory_gb_per_second (3352)

-- Level 2 cache: the same.
l2_bytes (50 * 1024 * 1024)

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
compute_capability (90)
max_threads_per_sm (2048)
max_blocks_per_sm (32)
registers_per_sm (65536)
shared_per_sm (228 * 1024)
shared_per_block_optin (227 * 1024)

-- L1 and shared memory: the same.
l1_bytes (256 * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions".
fp32_lanes (128)
fp64_lanes (64)
fp16_lanes (256)
int32_lanes (64)
special_lanes (16)

-- Tensor cores, dense: 4,096 and 256 operations a cycle: 989 and 67 TFLOP/s, the same.
tensor_flops (4096)
tensor_f64_flops (256)

-- L2 throughput: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), L2 throughput.
l2_bytes_per_clock (4472)

-- Latencies: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (29.0)
l1_latency (40.7)
l2_latency (263.0)
memory_latency (478.8)
