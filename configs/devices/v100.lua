-- Tesla V100-SXM2-16GB. Volta, 2017. NVRTC 12 is the last with a target for it: no predictions.

gpu "V100"
name "Tesla V100-SXM2-16GB"

-- NVIDIA Tesla V100 GPU Architecture whitepaper, table 1.
sm_count (80)
clock_khz (1530000)
memory_clock_khz (877000)
memory_bus_bits (4096)
memory_bytes (16151 * 1024 * 1024)
memory_gb_per_second (900)

-- Level 2 cache: the same source.
l2_bytes (6 * 1024 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (70)

-- L1 and shared memory: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" (11.0 for older ones).
l1_bytes (128 * 1024)
