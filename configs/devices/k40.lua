-- Tesla K40m. Kepler, 2013. For occupancy and roofline only: NVRTC 12 has no target for it.

gpu "K40"
name "Tesla K40m"

-- NVIDIA Tesla K40 board specification BD-06902-001: SMs, highest boost clock, memory.
sm_count (15)
clock_khz (875000)
memory_clock_khz (3004000)
memory_bus_bits (384)
memory_bytes (11441 * 1024 * 1024)
memory_gb_per_second (288)

-- Level 2 cache: the same source.
l2_bytes (1536 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (35)

-- L1 and shared memory: NVIDIA Kepler GK110 whitepaper.
l1_bytes (64 * 1024)
