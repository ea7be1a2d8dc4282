-- NVIDIA cuda-samples scalarProd: one product of two vectors for each pair; accumulators, block and grid are tunables
kernel "scalar_product" {
  problem "vectors" (2048), problem "elements" (32768), check { vectors = 37, elements = 3000 },
  output "d_C" { dtype = "f32", shape = { "vectors" }, tolerance = 1e-2 },
  input "d_A" { dtype = "f32", shape = { "vectors", "elements" } }, input "d_B" { dtype = "f32", shape = { "vectors", "elements" } },
  scalar "vectorN" { dtype = "i32", value = "vectors" }, scalar "elementN" { dtype = "i32", value = "elements" },
  reference "scalar_product_reference.cu", bytes "8 * vectors * elements",
  implementation "accumulators" {
    template "scalar_product.cu", entry "scalarProdGPU",
    tunable "ACCUM_N" { 32, 64, 128, 256, 512, 1024, 2048, 4096 }, tunable "threads" { 32, 64, 128, 256, 512, 1024 },
    tunable "blocks" { 64, 128, 132, 256, 528, 1056, 2048 },
    grid { "blocks" }, block { "threads" },
  },
}
