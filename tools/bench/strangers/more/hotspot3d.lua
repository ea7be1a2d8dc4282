-- Rodinia hotspot3D, opt1.cu: one time step, a thread for each column of cells; the block is tunable
kernel "hotspot3d" {
  problem "nx" (1024), problem "nz" (64), check { nx = 512, nz = 5 },
  input "p" { dtype = "f32", shape = { "nz", "nx", "nx" } }, input "tIn" { dtype = "f32", shape = { "nz", "nx", "nx" } },
  output "tOut" { dtype = "f32", shape = { "nz", "nx", "nx" }, tolerance = 1e-3 },
  scalar "sdc" { dtype = "f32", value = "0.25" },
  scalar "nx" { dtype = "i32" }, scalar "ny" { dtype = "i32", value = "nx" }, scalar "nz" { dtype = "i32" },
  scalar "ce" { dtype = "f32", value = "0.1" }, scalar "cw" { dtype = "f32", value = "0.1" }, scalar "cn" { dtype = "f32", value = "0.15" },
  scalar "cs" { dtype = "f32", value = "0.15" }, scalar "ct" { dtype = "f32", value = "0.05" }, scalar "cb" { dtype = "f32", value = "0.05" },
  scalar "cc" { dtype = "f32", value = "0.35" },
  reference "hotspot3d_reference.cu", bytes "12 * nx * nx * nz",
  implementation "opt1" {
    template "hotspot3d.cu", entry "hotspotOpt1",
    tunable "block_x" { 4, 8, 16, 32, 64, 128, 256, 512 }, tunable "block_y" { 1, 2, 4, 8, 16, 32, 64 },
    where "block_x * block_y >= 32 and block_x * block_y <= 1024", where "nx % block_x == 0 and nx % block_y == 0",
    grid { "nx // block_x", "nx // block_y" }, block { "block_x", "block_y" },
  },
}
