-- Parboil sgemm (Volkov's register tiles): C = alpha * A * B^T + beta * C by columns; the two defines are tunables
kernel "parboil_sgemm" {
  problem "M" (3072), problem "N" (3072), problem "K" (3072), check { M = 512, N = 96, K = 64 },
  input "A" { dtype = "f32", shape = { "K", "M" } }, scalar "lda" { dtype = "i32", value = "M" },
  input "B" { dtype = "f32", shape = { "K", "N" } }, scalar "ldb" { dtype = "i32", value = "N" },
  inout "C" { dtype = "f32", shape = { "N", "M" }, fill = "zero", tolerance = "2 * K * eps('f32')", norm = 1e-5 },
  scalar "ldc" { dtype = "i32", value = "M" }, scalar "k" { dtype = "i32", value = "K" },
  scalar "alpha" { dtype = "f32", value = "1" }, scalar "beta" { dtype = "f32", value = "0" },
  reference "parboil_sgemm_reference.cu", flops "2 * M * N * K",
  implementation "regtile" {
    template "parboil_sgemm.cu", entry "mysgemmNT",
    tunable "TILE_N" { 4, 8, 16, 24, 32, 48, 64, 96 }, tunable "TILE_TB_HEIGHT" { 1, 2, 4, 8, 16, 32, 64 },
    where "TILE_N * TILE_TB_HEIGHT >= 32 and TILE_N * TILE_TB_HEIGHT <= 1024",
    where "M % (TILE_N * TILE_TB_HEIGHT) == 0 and N % TILE_N == 0 and K % TILE_TB_HEIGHT == 0",
    grid { "M // (TILE_N * TILE_TB_HEIGHT)", "N // TILE_N" }, block { "TILE_N", "TILE_TB_HEIGHT" },
  },
}
