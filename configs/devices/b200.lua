-- NVIDIA B200. Blackwell, 2024: two dies, one GPU.

gpu "B200"
name "NVIDIA B200"

-- NVIDIA HGX B200 datasheet (8 TB/s); chipsandcheese.com, "Nvidia's B200", 2025: 148 SMs, clock, L2, L1.
sm_count (148)
clock_khz (1965000)
memory_clock_khz (3906000)
memory_bus_bits (8192)
memory_bytes (183359 * 1024 * 1024)
memory_gb_per_second (8000)

-- Level 2 cache: chipsandcheese.com, as above.
l2_bytes (126 * 1024 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (100)

-- L1 and shared memory: chipsandcheese.com: as the H100's.
l1_bytes (256 * 1024)

-- L2 throughput: no figure is published: twice that of the H100, for two dies.
l2_bytes_per_clock (8944)

-- Latencies: no figures are published: those of the H100.
shared_latency (29.0)
l1_latency (40.7)
l2_latency (263.0)
memory_latency (478.8)
