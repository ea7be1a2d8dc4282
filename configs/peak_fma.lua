-- How fast a device multiplies and adds without tensor cores: independent chains of fused multiply-adds in registers. Its
-- best variant is the ceiling for kernels that are bound by arithmetic, and 'cugen roofline' measures it.

kernel "peak_fma" {
  problem "dtype" { "f32", "f64", "f16", "bf16" }, -- the last two by pairs, as hardware has them
  problem "rounds" (1 << 15),                    -- a chain's length: 2 * rounds operations for each element moved
  check { rounds = 37 },

  derive "width" "select(sizeof(dtype) == 2, 2, 1)", -- elements of one instruction

  -- One chain an element, as many as fill every multiprocessor with eight chains a thread.
  derive "n" "device.sm_count * 2048 * 8 * width",

  -- Chains walk by -(1 - 1 / steps), so that the numbers stay alive: none of their bits settles down.
  derive "steps" "select(dtype == 'f16', 256, dtype == 'bf16', 32, 8192)",
  derive "factor_type" "select(width == 2, 'f32', dtype)",

  input  "x" { dtype = "dtype", shape = { "n" } },
  output "y" {
    dtype = "dtype", shape = { "n" },
    -- Each step rounds to eps / 2 and shrinks what came before by 1 - 1 / steps: the errors of that many add up.
    tolerance = "steps * eps(dtype)",
  },
  scalar "factor" { dtype = "factor_type", value = "-(1 - 1.0 / steps)" },
  scalar "addend" { dtype = "factor_type", value = "0.6180339887498949" },
  scalar "rounds" { dtype = "i32" },

  reference "peak_fma_reference.cu",
  flops "2 * n * rounds",

  implementation "chains" {
    template "peak_fma.cu",
    tunable "threads" { 256, 512 },
    tunable "chains" { 8, 4, 16 },               -- a thread's; each hides the latency of the others
    tunable "unroll" { 16, 8, 32 },
    grid  { "n // (threads * chains * width)" },
    block { "threads" },
  },
}
