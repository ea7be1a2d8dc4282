-- Expdist (localisation microscopy): a search space published for auto-tuners (Kernel Tuner benchmark hub; arXiv
-- 2509.26253). Of 9,732,096 combinations 294,000 are valid. Only counted, never generated.
kernel "expdist" {
  output "out" { dtype = "f32", shape = { 1 } }, -- a config has one
  reference "none",
  implementation "published" {
    template "none.cu",
    tunable "block_size_x" { 1024, 512, 256, 128, 64, 32 },
    tunable "block_size_y" { 1, 2, 4, 8, 16, 32 },
    tunable "tile_size_x" { 1, 2, 3, 4, 5, 6, 7, 8 },
    tunable "tile_size_y" { 1, 2, 3, 4, 5, 6, 7, 8 },
    tunable "use_shared_mem" { 0, 1, 2 },
    tunable "loop_unroll_factor_x" { 1, 2, 3, 4, 5, 6, 7, 8 },
    tunable "loop_unroll_factor_y" { 1, 2, 3, 4, 5, 6, 7, 8 },
    tunable "use_column" { 0, 1 },
    tunable "use_separate_acc" { 0 },
    tunable "n_y_blocks" { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 },
    where "use_column ~= 0 or n_y_blocks <= 1",
    where "use_column ~= 0 or use_shared_mem ~= 2",
    where "loop_unroll_factor_x <= tile_size_x and (tile_size_x % loop_unroll_factor_x == 0)",
    where "loop_unroll_factor_y <= tile_size_y and (tile_size_y % loop_unroll_factor_y == 0)",
    where "block_size_x * block_size_y <= 1024",
    grid { "1" },
    block { "1" },
  },
}
