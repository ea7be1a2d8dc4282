-- What pipelined and packed have in common.

requires "device.compute_capability >= 80 and (dtype == 'f32' or dtype == 'f64')"
tunable "BM" { 128, 64, 256, 32, 48, 96 }    -- the block's tile of C
tunable "BN" { 256, 128, 64, 32, 48, 96 }
tunable "BK" { 16, 8 }                       -- how far along k a tile reaches
tunable "TM" { 16, 8, 12, 4 }                -- the thread's part of that tile
tunable "TN" { 8, 16, 12, 4 }
tunable "lanes_m" { 4, 8, 2 }                -- the lanes of a warp stand lanes_m by lanes_n
tunable "order"   { "rows", "cols" }         -- in which a thread multiplies; changes registers and schedule
tunable "bursts"  { 7, 1 }                   -- groups in which a tile's copies start while another tile is multiplied
tunable "stages"  { 4, 3 }                   -- tiles in shared memory: one is multiplied, the others on their way
tunable "group"   { 8, 1 }                   -- rows of tiles that consecutive blocks go down before the next column
tunable "split"   { 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32 } -- blocks that share a tile of C, each with its part of K

derive "lanes_n" "32 // lanes_m"
derive "WM"      "TM * lanes_m"              -- the warp's part of the block's tile
derive "WN"      "TN * lanes_n"
derive "warps_n" "BN // WN"
derive "threads" "BM // WM * warps_n * 32"
derive "tiles"   "ceil_div(M, BM) * ceil_div(N, BN)"
-- Lines that the block copies at once of an operand that is transposed, a sector of 32 bytes of each.
derive "lines_at_once" "threads * sizeof(dtype) // 32"
derive "pad_a" "select(transposed_a, 4, 0)"
derive "pad_b" "select(transposed_b, 4, 0)"
-- Sums and two pairs of fragments, and some 24 for addresses and counters.
derive "registers" "sizeof(dtype) // 4 * (TM * TN + 2 * (TM + TN)) + 24"

where "TM % slice == 0 and TN % slice == 0"
-- The warps tile the block.
where "BM % WM == 0 and BN % WN == 0"
where "threads >= 64 and threads <= 512"
-- A thread has at most 255 registers, and the multiprocessor's serve all of its threads.
where "registers <= 232"
where "registers * threads <= device.registers_per_sm"
-- All threads copy equally often, and move on in the tile by the same distance from one copy to the next.
where "not transposed_a or BM % lines_at_once == 0"
where "not transposed_b or BN % lines_at_once == 0"
where "transposed_a or threads * width_a % BM == 0 or BM % (threads * width_a) == 0"
where "transposed_b or threads * width_b % BN == 0 or BN % (threads * width_b) == 0"
where "BM * BK % (threads * width_a) == 0"
where "BN * BK % (threads * width_b) == 0"
-- Blocks that share a tile have a ticket, and their sums fit the workspace. More blocks than two waves on 132 multiprocessors share
-- none, on every GPU: code for all GPUs of an architecture does not know how many multiprocessors there are.
where "split == 1 or tiles * batch * split <= 264"
where "split == 1 or tiles * batch * split * BM * BN <= partials"

-- Small parts in small tiles are for products of few tiles: 12 lines a thread make tiles of 48 and 96. In f64 tensor cores are faster.
derive "few" "dtype == 'f32' and ceil_div(M, 128) * ceil_div(N, 128) * batch <= 132"
derive "small" "few and BM * BN <= 6144 and max(TM, TN) <= 12 and TM * TN >= 32 and TM * TN <= 96 \
                and (BM % 48 == 0) == (TM == 12) and (BN % 48 == 0) == (TN == 12) and group == 1 and lanes_m <= 4"
where "small or BM % 64 == 0 and BN % 64 == 0 and TM % 8 == 0 and TN % 8 == 0 and lanes_m >= 4"

-- Never the fastest of some 2,100 variants measured on an H200 (f32 at 1024, 2048, 4096, 4095 x 4097 x 4099, 4800 x 3200 x 6400
-- and 512 x 512 x 32768, f64 at 1024 and 4096). How much slower the best of them was than the best of all:
--
--   parts of 8 by 8 in tiles of 128 x 256 2.0 %, longer parts in tiles below 128 x 128 1.5 %
heuristic "sm_90" "small or TM == TN and BM * BN <= 128 * 128 or TM ~= TN and BM * BN >= 128 * 128 and BN > 64"
--   longer parts that are multiplied along their longer side 0.8 %, by warps whose part is not square 0.1 %
heuristic "sm_90" "small or TM == TN or (order == 'rows') == (TM > TN) and WM == WN"
--   where blocks share a tile, only what is best as a rule was measured
heuristic "sm_90" "small or split == 1 or BK == 16 and bursts == 7 and stages == 4 and group == 8"
