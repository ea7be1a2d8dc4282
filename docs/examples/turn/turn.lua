kernel "turn" {
  problem "rows" (4096), problem "cols" (4096), check { rows = 93, cols = 205 },
  output "B" { dtype = "f32", shape = { "cols", "rows" } },
  input  "A" { dtype = "f32", shape = { "rows", "cols" } },
  scalar "rows" { dtype = "i32" }, scalar "cols" { dtype = "i32" },
  reference { B = "A[i1, i0]" }, bytes "8 * rows * cols",
  implementation "turn" {
    template "turn.cu",
    tunable "TILE" { 16, 32 }, tunable "PAD" { 0, 1 }, tunable "HEIGHT" { 4, 8, 16, 32 },
    where "TILE % HEIGHT == 0",
    grid { "ceil_div(cols, TILE)", "ceil_div(rows, TILE)" }, block { "TILE", "HEIGHT" } },
}
