-- NVIDIA H200. Hopper with more and faster memory, 2024. docs/performance.md holds predictions for it against measurements.

gpu "H200"
name "NVIDIA H200"

-- as driver 580.159.04 reports them; NVIDIA H200 datasheet: 4.8 TB/s.
sm_count (132)
clock_khz (1980000)
memory_clock_khz (3201000)
memory_bus_bits (6016)
memory_bytes (143155 * 1024 * 1024)
memory_gb_per_second (4814)

-- Level 2 cache: as the driver reports it.
l2_bytes (60 * 1024 * 1024)

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
compute_capability (90)
max_threads_per_sm (2048)
max_blocks_per_sm (32)
registers_per_sm (65536)
shared_per_sm (228 * 1024)
shared_per_block_optin (227 * 1024)

-- L1 and shared memory: NVIDIA H100 whitepaper.
l1_bytes (256 * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions".
fp32_lanes (128)
fp64_lanes (64)
fp16_lanes (256)
int32_lanes (64)
special_lanes (16)

-- Tensor cores, dense: 989 and 67 TFLOP/s: NVIDIA H200 datasheet.
tensor_flops (4096)
tensor_f64_flops (256)

-- L2 throughput: that of the H100: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), L2 throughput.
l2_bytes_per_clock (4472)

-- Latencies: those of the H100: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (29.0)
l1_latency (40.7)
l2_latency (263.0)
memory_latency (478.8)
