kernel "widths" {
  problem "n" (1024), check { n = 1003 },
  output "y" { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n" } }, scalar "n" { dtype = "i32" },
  reference "widths_reference.cu",
  implementation "wide" {
    template "widths.cu", tunable "vec" { 1, 2, 4, 512 }, where "n % vec == 0",
    grid { "ceil_div(n, vec * 32)" }, block { 32 } },
}
