-- NVIDIA H200. Hopper with more and faster memory, 2024. docs/performance.md compares predictions for it with measurements.

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

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (90)

-- L1 and shared memory: NVIDIA H100 whitepaper.
l1_bytes (256 * 1024)

-- L2 throughput: that of the H100: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), L2 throughput.
l2_bytes_per_clock (4472)

-- Latencies: those of the H100: Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, 2024 (arXiv:2402.13499), tables of latencies.
shared_latency (29.0)
l1_latency (40.7)
l2_latency (263.0)
memory_latency (478.8)
