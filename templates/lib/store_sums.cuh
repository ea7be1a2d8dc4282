//@ -- In a kernel: stores a thread's TM x TN sums to C. The block's tile begins at row0 and col0, and in the tile the thread's
//@ -- part at row and col, in slices whose neighbours belong to other lanes of the warp.
  // Each slice is stored as one pack if the tile lies inside the matrix and C is aligned for packs.
//@ local line, along = "m", "n" -- C's lines are its rows, and a line runs along n
//@ if C_layout == "col" then line, along = "n", "m" end
//@ local names = { m = { count = "TM", lanes = "lanes_m", left = "M - row0", own = "row", origin = "row0" },
//@                 n = { count = "TN", lanes = "lanes_n", left = "N - col0", own = "col", origin = "col0" } }
//@ local l, a = names[line], names[along]
//@ local element = stored(line == "m" and "sum[i][s * slice + e]" or "sum[s * slice + e][i]",
//@                        line == "m" and "row0 + m" or "row0 + m + e", line == "m" and "col0 + n + e" or "col0 + n")
  const index_t line_c = ${C_layout == "row" and "C_stride0" or "C_stride1"};
  const bool whole_c = M - row0 >= BM && N - col0 >= BN && packs_fit<slice>(C, line_c);
#pragma unroll
  for (int i = 0; i < ${l.count}; ++i) {
    const int ${line} = ${l.own} + i / slice * (${l.lanes} * slice) + i % slice;
    if (${line} >= ${l.left}) break;
    dtype *to = ${of_batch("C", C_layout, "M", "N")} + (${l.origin} + ${line}) * line_c + ${a.origin};
#pragma unroll
    for (int s = 0; s < ${a.count} / slice; ++s) {
      const int ${along} = ${a.own} + s * (${a.lanes} * slice);
      if (whole_c) {
        pack<dtype, slice> part;
#pragma unroll
        for (int e = 0; e < slice; ++e) part.at[e] = ${element};
        store_pack(to + ${along}, part);
      } else {
#pragma unroll
        for (int e = 0; e < slice; ++e) {
          if (${along} + e < ${a.left}) to[${along} + e] = ${element};
        }
      }
    }
  }
