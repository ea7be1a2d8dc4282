-- NVIDIA GeForce GTX 1080. Pascal, 2016. NVRTC 12 is the last with a target for it: no predictions.

gpu "GTX1080"
name "NVIDIA GeForce GTX 1080"

-- NVIDIA GeForce GTX 1080 whitepaper, table 1: SMs, boost clock, memory (10 Gbps GDDR5X, 320 GB/s).
sm_count (20)
clock_khz (1733000)
memory_clock_khz (5005000)
memory_bus_bits (256)
memory_bytes (8192 * 1024 * 1024)
memory_gb_per_second (320)

-- Level 2 cache: the same source.
l2_bytes (2048 * 1024)

-- Its limits and lanes are those of the compute capability: base/capability.c, with their sources.
compute_capability (61)

-- L1 and shared memory: the same source: 48 KB of L1 and 96 KB of shared memory.
l1_bytes ((96 + 48) * 1024)
