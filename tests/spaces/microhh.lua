-- MicroHH advection (computational fluid dynamics): a search space published for auto-tuners (Kernel Tuner benchmark
-- hub; arXiv 2509.26253). Of 1,166,400 combinations 138,600 are valid. Only counted, never generated.
kernel "microhh" {
  output "out" { dtype = "f32", shape = { 1 } }, -- a config has one
  reference "none",
  implementation "published" {
    template "none.cu",
    tunable "BLOCK_SIZE_X" { 1, 2, 4, 8, 16, 32, 128, 256, 512, 1024 },
    tunable "BLOCK_SIZE_Y" { 1, 2, 4, 8, 16, 32 },
    tunable "BLOCK_SIZE_Z" { 1, 2, 4 },
    tunable "STATIC_STRIDES" { 0 },
    tunable "TILING_FACTOR_X" { 1, 2, 4, 8 },
    tunable "TILING_FACTOR_Y" { 1, 2, 4 },
    tunable "TILING_FACTOR_Z" { 1, 2, 4 },
    tunable "TILING_STRATEGY" { 0 },
    tunable "REWRITE_INTERP" { 0 },
    tunable "BLOCKS_PER_MP" { 0, 1, 2, 3, 4 },
    tunable "LOOP_UNROLL_FACTOR_X" { 1, 2, 4, 8 },
    tunable "LOOP_UNROLL_FACTOR_Y" { 1, 2, 4 },
    tunable "LOOP_UNROLL_FACTOR_Z" { 1, 2, 4 },
    derive "threads" "BLOCK_SIZE_X * BLOCK_SIZE_Y * BLOCK_SIZE_Z",
    where "threads * BLOCKS_PER_MP <= 1024",
    where "32 <= threads and threads <= 1536",
    where "LOOP_UNROLL_FACTOR_X == 0 or TILING_FACTOR_X % LOOP_UNROLL_FACTOR_X == 0",
    where "LOOP_UNROLL_FACTOR_Y == 0 or TILING_FACTOR_Y % LOOP_UNROLL_FACTOR_Y == 0",
    where "LOOP_UNROLL_FACTOR_Z == 0 or TILING_FACTOR_Z % LOOP_UNROLL_FACTOR_Z == 0",
    where "BLOCK_SIZE_X * TILING_FACTOR_X > 0",
    where "BLOCK_SIZE_Y * TILING_FACTOR_Y > 0",
    where "BLOCK_SIZE_Z * TILING_FACTOR_Z > 0",
    grid { "1" },
    block { "1" },
  },
}
