-- NVIDIA cuda-samples convolutionSeparable, the kernel of columns; the file's defines of the block are tunables
kernel "convolution_columns" {
  problem "width" (8192), problem "height" (8192), check { width = 128, height = 1024 },
  output "d_Dst" { dtype = "f32", shape = { "height", "width" }, tolerance = 1e-4 },
  input "d_Src" { dtype = "f32", shape = { "height", "width" } },
  scalar "imageW" { dtype = "i32", value = "width" }, scalar "imageH" { dtype = "i32", value = "height" },
  scalar "pitch" { dtype = "i32", value = "width" },
  constant "c_Kernel" { dtype = "f32", shape = { 17 } },
  reference "convolution_columns_reference.cu", bytes "8 * width * height",
  implementation "columns" {
    template "convolution_columns.cu", entry "convolutionColumnsKernel",
    tunable "COLUMNS_BLOCKDIM_X" { 8, 16, 32, 64, 128 }, tunable "COLUMNS_BLOCKDIM_Y" { 2, 4, 8, 16, 32 },
    tunable "COLUMNS_RESULT_STEPS" { 1, 2, 4, 8, 16 }, tunable "COLUMNS_HALO_STEPS" { 1, 2, 4 },
    where "COLUMNS_BLOCKDIM_X * COLUMNS_BLOCKDIM_Y >= 32 and COLUMNS_BLOCKDIM_X * COLUMNS_BLOCKDIM_Y <= 1024",
    where "COLUMNS_BLOCKDIM_Y * COLUMNS_HALO_STEPS >= 8", -- the radius: the sample asserts it
    where "COLUMNS_BLOCKDIM_X * ((COLUMNS_RESULT_STEPS + 2 * COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + 1) * 4 <= 49152",
    where "width % COLUMNS_BLOCKDIM_X == 0 and height % (COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y) == 0",
    grid { "width // COLUMNS_BLOCKDIM_X", "height // (COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y)" },
    block { "COLUMNS_BLOCKDIM_X", "COLUMNS_BLOCKDIM_Y" },
  },
}
