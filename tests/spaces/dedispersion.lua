-- Dedispersion (radio astronomy): a search space published for auto-tuners (Kernel Tuner benchmark hub; arXiv
-- 2509.26253). Of 22,272 combinations 11,130 are valid. Only counted, never generated.
kernel "dedispersion" {
  output "out" { dtype = "f32", shape = { 1 } }, -- a config has one
  reference "none",
  implementation "published" {
    template "none.cu",
    tunable "block_size_x" { 1, 2, 4, 8, 16, 32 },
    tunable "block_size_y" {
      32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200,
      208, 216, 224, 232, 240, 248, 256
    },
    tunable "block_size_z" { 1 },
    tunable "tile_size_x" { 1, 2, 3, 4 },
    tunable "tile_size_y" { 1, 2, 3, 4, 5, 6, 7, 8 },
    tunable "tile_stride_x" { 0, 1 },
    tunable "tile_stride_y" { 0, 1 },
    tunable "loop_unroll_factor_channel" { 0 },
    where "32 <= block_size_x * block_size_y and block_size_x * block_size_y <= 1024",
    where "tile_size_x > 1 or tile_stride_x == 0",
    where "tile_size_y > 1 or tile_stride_y == 0",
    grid { "1" },
    block { "1" },
  },
}
