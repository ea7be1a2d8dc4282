-- Addresses of buffers in symbols, in the fields of a struct, and as parameters; launches write halves of the data.
kernel "pointers" {
  problem "n" (1000), check { n = 300 },
  tunable "lie_in" { "symbols", "struct", "parameters" },
  derive "access" "select(lie_in == 'symbols', 'pointer', 'global')",
  input   "table"  { dtype = "f32", shape = { 16 }, access = "access" },
  inout   "data"   { dtype = "f32", shape = { "n" }, access = "access" },
  scratch "halves" { dtype = "f32", shape = { "n" }, access = "access" },
  scalar  "s" { struct = "Buffers", when = "lie_in == 'struct'", fields = {
    { "n", dtype = "i32" }, { "data", buffer = "data" }, { "middle", buffer = "halves" }, { "table", buffer = "table" },
  } },
  reference "pointers_reference.cu",
  implementation "i" { template "pointers.cu", grid { "ceil_div(n, 128)" }, block { 128 } },
}
