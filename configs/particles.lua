-- One step of a particle system in a box with springy walls, gravity and drag. Each particle is a record of `fields` numbers,
-- seven of which the step reads (x y z, vx vy vz, one over the mass); it computes six. How the records lie in memory is a
-- tunable, so that the tuner shows which layout wins, and by how much:
--
--   group = 1   array of structures: record after record
--   group = w   array of structures of arrays: w particles' x, then their y, ...
--   group = 0   structure of arrays: all x, then all y, ...
--
-- The template names number f of particle p, state(p, f), whichever it is.

local function layout(fields)
  return "select(group == 1, 'row', group == 0, 'col', 'row/${group}x${" .. fields .. "}:col')"
end

kernel "particles" {
  problem "n" (16777216),
  problem "dtype"  { "f32", "f64" },
  problem "fields" (16),                                 -- of a record: the seven, and others that this step does not use
  check { n = 1004 },

  policy "nearest" { distance = 1 },

  tunable "group" { 1, 4, 8, 16, 32, 64, 128, 0 },
  where "fields >= 7",

  input  "state" { dtype = "dtype", shape = { "n", "fields" }, layout = layout("fields") },
  output "moved" {
    dtype = "dtype", shape = { "n", 6 }, layout = layout(6),
    -- A dozen operations on numbers below 2, each rounded once.
    tolerance = "16 * eps(dtype)",
  },
  scalar "n"  {},
  scalar "dt" { dtype = "dtype", value = "0.01" },

  reference "particles_reference.cu",
  flops "34 * n",
  bytes "13 * n * sizeof(dtype)",

  -- One number a load.
  implementation "plain" {
    template "particles.cu",
    tunable "block"      { 128, 64, 256, 512 },
    tunable "per_thread" { 1, 2, 4, 8 },                 -- particles, `block` apart
    derive "vec" "1",
    where "ceil_div(n, block * per_thread) <= 2147483647",
    grid  { "ceil_div(n, block * per_thread)" },
    block { "block" },
  },

  -- `vec` numbers a load: the same of neighbouring particles, or neighbouring ones of a record.
  implementation "wide" {
    template "particles.cu",
    tunable "block"      { 128, 64, 256, 512 },
    tunable "per_thread" { 1, 2, 4 },                    -- particles, or packs of them
    tunable "vec"        { 4, 2 },
    derive "unit" "select(group == 1, 1, vec)",          -- particles of a pack
    where "vec * sizeof(dtype) <= 16",
    where "select(group == 1, fields, group == 0, n, group) % vec == 0",
    where "ceil_div(n, block * per_thread * unit) <= 2147483647",
    grid  { "ceil_div(n, block * per_thread * unit)" },
    block { "block" },
  },
}
