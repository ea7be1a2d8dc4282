-- The tiles of pipelined and packed in shared memory: lines along m and n, one for each k.
shared "ring_a" { dtype = "dtype", shape = { "BK", "BM" }, layout = "row+${pad_a}", stages = "stages" }
shared "ring_b" { dtype = "dtype", shape = { "BK", "BN" }, layout = "row+${pad_b}", stages = "stages" }
