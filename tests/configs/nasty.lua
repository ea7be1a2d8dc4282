-- 30 variants that do harm, each in its own way, and 30 that are right: in whatever order they run, each right one is right. The
-- kernel is y[i] = 2 * x[i] + 1; what a variant does is decided as it runs, by the number of its threads, so that all are one
-- source, which is compiled once. See tests/cpu/test_nasty.c.

local all = {}
for i = 0, 59 do
  all[#all + 1] = i
end

kernel "nasty" {
  problem "n" (1000),
  check { n = 100 },

  input  "x" { dtype = "f32", shape = { "n" } },
  output "y" { dtype = "f32", shape = { "n" }, tolerance = "2 * eps('f32')" },
  scalar "n" { dtype = "i32" },
  reference "planted_reference.cu",

  implementation "nasty" {
    template "nasty.cu",
    tunable "does" (all),
    grid { 1 }, block { "32 + does" },
  },
}
