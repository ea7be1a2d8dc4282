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

-- Level 2 cache: the same source.
l2_bytes (40 * 1024 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (80)

-- L1 and shared memory: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" (11.0 for older ones).
l1_bytes (192 * 1024)

-- L2 throughput: the same source: "L2 cache read bandwidth 5120 bytes/clk".
l2_bytes_per_clock (5120)

-- Latencies: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (29.0)
l1_latency (37.9)
l2_latency (261.5)
memory_latency (466.3)
