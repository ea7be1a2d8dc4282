-- NVIDIA GeForce RTX 3090. Ampere for consumers, 2020.

gpu "RTX3090"
name "NVIDIA GeForce RTX 3090"

-- NVIDIA Ampere GA102 GPU Architecture whitepaper, appendix A.
sm_count (82)
clock_khz (1695000)
memory_clock_khz (9751000)
memory_bus_bits (384)
memory_bytes (24576 * 1024 * 1024)
memory_gb_per_second (936)

-- Level 2 cache: the same source.
l2_bytes (6 * 1024 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (86)

-- L1 and shared memory: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability" (11.0 for older ones).
l1_bytes (128 * 1024)

-- L2 throughput: no figure is published: that of the RTX 4090.
l2_bytes_per_clock (1622)

-- Latencies: no figures are published: those of the A100, of the same generation.
shared_latency (29.0)
l1_latency (37.9)
l2_latency (261.5)
memory_latency (466.3)
