-- NVIDIA GeForce GTX 970. Maxwell, 2014. NVRTC 12 is the last with a target for it: no predictions.

gpu "GTX970"
name "NVIDIA GeForce GTX 970"

-- nvidia.com, GeForce GTX 970 specifications, and the correction of January 2015 (13 SMs, 1.75 MB of L2).
sm_count (13)
clock_khz (1178000)
memory_clock_khz (3505000)
memory_bus_bits (256)
memory_bytes (4096 * 1024 * 1024)
memory_gb_per_second (224)

-- Level 2 cache: the same source.
l2_bytes (1792 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (52)

-- L1 and shared memory: CUDA C++ Programming Guide 11.0, compute capability 5.x: shared memory, and an L1 of its own.
l1_bytes ((96 + 48) * 1024)
