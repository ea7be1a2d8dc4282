-- Variants that leave something behind in the process that runs them: each must be judged by what it does alone. The kernel
-- is y[i] = 2 * x[i] + 1; "looks" is wrong where it finds anything that another variant left.

kernel "state" {
  problem "n" (1000),
  check { n = 100 },

  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "2 * eps('f32')" },
  scalar "n" { dtype = "i32" },
  reference "planted_reference.cu",

  implementation "state" {
    template "state.cu",
    tunable "does" { "nothing", "looks", "before", "after", "far", "input", "wrong", "trap", "exits", "is_killed",
                     "before_later", "input_later", "descriptors", "few_files", "small_memory", "small_files",
                     "rounding", "flush", "signals", "folder", "thread", "alarm", "locale" },
    grid { "ceil_div(n, 64)" }, block { 64 },
  },
}
