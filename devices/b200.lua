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

-- CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
compute_capability (100)
max_threads_per_sm (2048)
max_blocks_per_sm (32)
registers_per_sm (65536)
shared_per_sm (228 * 1024)
shared_per_block_optin (227 * 1024)

-- L1 and shared memory: chipsandcheese.com: as the H100's.
l1_bytes (256 * 1024)

-- CUDA C++ Programming Guide 13.0, "Throughput of Native Arithmetic Instructions".
fp32_lanes (128)
fp64_lanes (64)
fp16_lanes (256)
int32_lanes (64)
special_lanes (16)

-- Tensor cores, dense: 2.25 PFLOP/s and 37 TFLOP/s: NVIDIA HGX B200 datasheet.
tensor_flops (8192)
tensor_f64_flops (128)

-- L2 throughput: no figure is published: twice that of the H100, for two dies.
l2_bytes_per_clock (8944)

-- Latencies: no figures are published: those of the H100.
shared_latency (29.0)
l1_latency (40.7)
l2_latency (263.0)
memory_latency (478.8)
