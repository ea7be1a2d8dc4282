-- Tesla T4. Turing, 2018. NVIDIA's smallest card that NVRTC 13 still has a target for.

gpu "T4"
name "Tesla T4"

-- NVIDIA T4 datasheet and product brief PB-09256-001: SMs, boost clock, memory.
sm_count (40)
clock_khz (1590000)
memory_clock_khz (5001000)
memory_bus_bits (256)
memory_bytes (15360 * 1024 * 1024)
memory_gb_per_second (320)

-- Level 2 cache: NVIDIA Turing GPU Architecture whitepaper: TU104 has 4 MB.
l2_bytes (4 * 1024 * 1024)

-- Its limits, lanes and tensor cores are those of the compute capability: base/capability.c, with their sources.
compute_capability (75)

-- L1 and shared memory: Turing whitepaper.
l1_bytes (96 * 1024)

-- L2 throughput: 1,270 GB/s: Jia et al., Dissecting the NVidia Turing T4 GPU via Microbenchmarking, 2019.
l2_bytes_per_clock (800)

-- Latencies: the same source: hit in shared memory, L1, L2, and memory with a TLB hit.
shared_latency (19)
l1_latency (32)
l2_latency (188)
memory_latency (296)
