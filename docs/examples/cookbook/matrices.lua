local function matrix(name, buffer, rows, cols)
  return scalar(name) { struct = "Matrix", fields = {
    { "width", dtype = "i32", value = cols }, { "height", dtype = "i32", value = rows },
    { "stride", dtype = "i32", pitch = buffer }, { "elements", buffer = buffer },
  } }
end

kernel "matrices" {
  problem "M" (1024), problem "N" (1024), problem "K" (1024), check { M = 64, N = 96, K = 160 },
  output "C" { dtype = "f32", shape = { "M", "N" }, tolerance = "2 * K * eps('f32')" },
  input "A" { dtype = "f32", shape = { "M", "K" }, pitch = "round_up(K, 64)" },
  input "B" { dtype = "f32", shape = { "K", "N" }, layout = "row+8" },
  matrix("a", "A", "M", "K"), matrix("b", "B", "K", "N"), matrix("c", "C", "M", "N"),
  reference "matrices_reference.cu", flops "2 * M * N * K", bytes "4 * (M * K + K * N + M * N)",
  implementation "guide" {
    template "matrices.cu",
    tunable "BLOCK_SIZE" { 16, 32, 8 },               -- the source's #define of it gives way
    where "M % BLOCK_SIZE == 0 and N % BLOCK_SIZE == 0 and K % BLOCK_SIZE == 0",
    grid { "N // BLOCK_SIZE", "M // BLOCK_SIZE" }, block { "BLOCK_SIZE", "BLOCK_SIZE" },
  },
}
