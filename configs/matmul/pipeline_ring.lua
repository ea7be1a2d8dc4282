-- The tiles of pipelined and packed in shared memory: BK lines of A's elements along m, and BK of B's along n.
shared "ring" { dtype = "dtype", shape = { "BK * (BM + pad_a + BN + pad_b)" }, stages = "stages" }
