-- NVIDIA A100-SXM4-40GB. Ampere, 2020.

gpu "A100"
name "NVIDIA A100-SXM4-40GB"

-- NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4.
sm_count (108)
clock_khz (1410000)
memory_clock_khz (1215000)
memory_bus_bits (5120)
memory_bytes (40326 * 1024 * 1024)
memory_gb_per_second (1555)

-- Level 2 cache: the same.
l2_bytes (40 * 1024 * 1024)

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
compute_capability (80)
max_threads_per_sm (2048)
max_blocks_per_sm (32)
registers_per_sm (65536)
shared_per_sm (164 * 1024)
shared_per_block_optin (163 * 1024)

-- L1 and shared memory: the same.
l1_bytes (192 * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions".
fp32_lanes (64)
fp64_lanes (32)
fp16_lanes (256)
int32_lanes (64)
special_lanes (16)

-- Tensor cores, dense: 312 and 19.5 TFLOP/s, the same.
tensor_flops (2048)
tensor_f64_flops (128)

-- L2 throughput: the same: "L2 cache read bandwidth 5120 bytes/clk".
l2_bytes_per_clock (5120)

-- Latencies: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (29.0)
l1_latency (37.9)
l2_latency (261.5)
memory_latency (466.3)
