-- The one-pass implementation of reduce for the sum of 2^24 floats, as it was on 2026-11-21: 690 of 720 combinations
-- are valid, and reduce_h200.times has what each took on an NVIDIA H200.
kernel "reduce_h200" {
  output "out" { dtype = "f32", shape = { 1 } }, -- a config has one
  reference "none",
  implementation "onepass" {
    template "none.cu",
    tunable "threads" { 256, 512, 1024, 128 },
    tunable "bytes_at_once" { 16, 8, 4 },
    tunable "items" { 2, 4, 8, 1, 16 },
    tunable "per_sm" { 8, 2, 4, 1, 16, 32 },
    tunable "loads" { "streaming", "plain" },
    derive "vec" "bytes_at_once // 4",
    derive "parts" "min(132 * per_sm, ceil_div(16777216, threads * vec * items))",
    where "threads * per_sm <= 8 * 2048",
    where "items * vec <= 128",
    where "16777216 <= 4096 * vec * parts * threads",
    grid { "1" },
    block { "1" },
  },
}
