-- The sum of each box of an image, which the tensor memory accelerator brings: the shortest kernel with a tensor map among
-- its parameters. Expanded and compiled; without a Hopper it never runs.
kernel "tensor" {
  problem "rows" (512), problem "cols" (1024), check { rows = 40, cols = 80 },
  input  "x"    { dtype = "f32", shape = { "rows", "cols" } },
  output "sums" { dtype = "f32", shape = { "ceil_div(rows, 32)", "ceil_div(cols, 32)" }, tolerance = 1e-4 },
  reference "tensor_reference.cu",
  implementation "boxes" {
    requires "device.compute_capability >= 90",
    tunable "threads" { 32, 64 },
    tensor "x" { box = { 32, 32 } },
    template "tensor.cu",
    grid { "ceil_div(cols, 32)", "ceil_div(rows, 32)" }, block { "threads" },
  },
}
