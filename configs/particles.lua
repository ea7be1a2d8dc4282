-- One step of a particle system in a box with springy walls, gravity and drag. Each particle is a record of `fields` numbers,
-- of which the step reads seven (x y z, vx vy vz, one over the mass) and gives six anew. How the records lie in memory is a
-- tunable, so that the tuner shows which layout wins, and by how much:
--
--   group = 1   array of structures: record after record
--   group = w   array of structures of arrays: w particles' x, then their y, ...
--   group = 0   structure of arrays: all x, then all y, ...
--
-- All of them are one shape, { groups, fields, particles of a group }: the number f of particle p lies at state[p / lanes][f]
-- [p % lanes]. An application takes the shape from the plan's argument. The last group is as long as the others; what fills
-- it up is computed like the rest.

kernel "particles" {
  problem "n" (16777216),
  problem "dtype"  { "f32", "f64" },
  problem "fields" (16),                                 -- of a record: the seven, and others that this step does not use
  check { n = 1004 },

  policy "nearest" { distance = 1 },

  tunable "group" { 1, 4, 8, 16, 32, 64, 128, 0 },
  derive "lanes"  "select(group == 0, n, group)",        -- particles of a group
  derive "groups" "select(group == 0, 1, ceil_div(n, group))",
  derive "count"  "groups * lanes",
  where "fields >= 7",

  input  "state" { dtype = "dtype", shape = { "groups", "fields", "lanes" } },
  output "moved" {
    dtype = "dtype", shape = { "groups", 6, "lanes" },
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
    where "ceil_div(count, block * per_thread) <= 2147483647",
    grid  { "ceil_div(count, block * per_thread)" },
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
    where "(group == 1 and fields or lanes) % vec == 0",
    where "ceil_div(count, block * per_thread * unit) <= 2147483647",
    grid  { "ceil_div(count, block * per_thread * unit)" },
    block { "block" },
  },
}
