-- Hotspot (thermal simulation): a search space published for auto-tuners (Kernel Tuner benchmark hub; arXiv
-- 2509.26253). Of 22,200,000 combinations 349,853 are valid. Only counted, never generated.
kernel "hotspot" {
  output "out" { dtype = "f32", shape = { 1 } }, -- a config has one
  reference "none",
  implementation "published" {
    template "none.cu",
    tunable "grid_width" { 4096 },
    tunable "grid_height" { 4096 },
    tunable "block_size_x" {
      1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576,
      608, 640, 672, 704, 736, 768, 800, 832, 864, 896, 928, 960, 992, 1024
    },
    tunable "block_size_y" { 1, 2, 4, 8, 16, 32 },
    tunable "tile_size_x" { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
    tunable "tile_size_y" { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
    tunable "temporal_tiling_factor" { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
    tunable "max_tfactor" { 10 },
    tunable "loop_unroll_factor_t" { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
    tunable "sh_power" { 0, 1 },
    tunable "blocks_per_sm" { 0, 1, 2, 3, 4 },
    derive "tile_width" "block_size_x * tile_size_x + temporal_tiling_factor * 2",
    derive "tile_height" "block_size_y * tile_size_y + temporal_tiling_factor * 2",
    derive "shared_bytes" "tile_width * tile_height * (2 + sh_power) * 4",
    where "block_size_x * block_size_y >= 32",
    where "temporal_tiling_factor % loop_unroll_factor_t == 0",
    where "block_size_x * block_size_y <= 1024",
    where "shared_bytes <= 49152",
    where "blocks_per_sm == 0 or shared_bytes * blocks_per_sm <= 102400",
    grid { "1" },
    block { "1" },
  },
}
