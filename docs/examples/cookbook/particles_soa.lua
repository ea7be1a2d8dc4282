kernel "aos_to_soa" {
  problem "n" (1000000), check { n = 1003 },
  output "fields" { dtype = "f32", shape = { 4, "n" } },     -- all x, all y, all z, all masses
  input "particles" { dtype = "f32", shape = { "n", 4 } },   -- x, y, z and mass of each
  scalar "n" { dtype = "i32" },
  reference "particles_soa_reference.cu", bytes "8 * n * sizeof('f32')",
  implementation "vector" {
    template "particles_soa.cu",
    tunable "block_size" { 256, 128, 512 }, tunable "each" { 1, 2, 4 },
    grid { "ceil_div(n, block_size * each)" }, block { "block_size" },
  },
}
