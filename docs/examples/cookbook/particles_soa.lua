kernel "aos_to_soa" {
  problem "n" (1000000), check { n = 1003 },
  problem "lies" { "col", "row/32x4:col" },        -- all x, all y, ...; or 32 x, 32 y, ..., 32 x, ...
  output "fields" { dtype = "f32", shape = { "n", 4 }, layout = "lies" },
  input "particles" { dtype = "f32", shape = { "n", 4 } },   -- x, y, z and mass of each
  scalar "n" { dtype = "i32" },
  reference { fields = "particles[i0, i1]" }, bytes "8 * n * sizeof('f32')",
  implementation "vector" {
    template "particles_soa.cu",
    tunable "block_size" { 256, 128, 512 }, tunable "each" { 1, 2, 4 },
    grid { "ceil_div(n, block_size * each)" }, block { "block_size" },
  },
}
