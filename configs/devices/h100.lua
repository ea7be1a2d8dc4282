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

-- Level 2 cache: the same source.
l2_bytes (50 * 1024 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (90)

-- L1 and shared memory: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" (11.0 for older ones).
l1_bytes (256 * 1024)

-- L2 throughput: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), L2 throughput.
l2_bytes_per_clock (4472)

-- Latencies: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (29.0)
l1_latency (40.7)
l2_latency (263.0)
memory_latency (478.8)
