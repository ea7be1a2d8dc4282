-- NVIDIA cuda-samples FDTD3d: one time step; the header's block is tunable. What is not written keeps its value.
kernel "fdtd3d" {
  problem "dim" (376), problem "depth" (376), check { dim = 48, depth = 20 },
  derive "outer" "dim + 8",
  inout "output" { dtype = "f32", shape = { "depth + 8", "outer", "outer" }, fill = "zero", tolerance = 1e-4 },
  input "input" { dtype = "f32", shape = { "depth + 8", "outer", "outer" } },
  scalar "dimx" { dtype = "i32", value = "dim" }, scalar "dimy" { dtype = "i32", value = "dim" }, scalar "dimz" { dtype = "i32", value = "depth" },
  constant "stencil" { dtype = "f32", shape = { 5 } },
  reference "fdtd3d_reference.cu", bytes "8 * outer * outer * depth",
  implementation "step" {
    template "fdtd3d.cu", entry "FiniteDifferencesKernel",
    tunable "k_blockDimX" { 8, 16, 32, 64, 128, 256, 512 }, tunable "k_blockDimMaxY" { 4, 8, 12, 16, 24, 32, 64 },
    where "k_blockDimX * k_blockDimMaxY >= 64 and k_blockDimX * k_blockDimMaxY <= 1024",
    grid { "ceil_div(dim, k_blockDimX)", "ceil_div(dim, k_blockDimMaxY)" }, block { "k_blockDimX", "k_blockDimMaxY" },
  },
}
