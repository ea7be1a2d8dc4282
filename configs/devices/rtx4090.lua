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

-- Level 2 cache: the same source.
l2_bytes (72 * 1024 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (89)

-- L1 and shared memory: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" (11.0 for older ones).
l1_bytes (128 * 1024)

-- L2 throughput: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), L2 throughput.
l2_bytes_per_clock (1622)

-- Latencies: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (30.1)
l1_latency (43.4)
l2_latency (273.0)
memory_latency (541.5)
