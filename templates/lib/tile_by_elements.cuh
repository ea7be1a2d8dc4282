//@ -- In a kernel, for operands that are not aligned for wide copies, as the condition `unfit` says: a thread computes its
//@ -- elements of C one after the other, and returns. `loop` runs over e; m and n are the row and column of element e in the
//@ -- block's tile. This is slow, but right.
//@ function tile_by_elements(unfit, loop, m, n)
  if (${unfit}) {
#pragma unroll 1
    for (${loop}) {
      const index_t m = row0 + ${m};
      const index_t n = col0 + ${n};
      if (m >= M || n >= N) continue;
      const A_t *const a = ${of_batch("A", A_layout, "M", "K")} + m * A_stride0;
      const B_t *const b = ${of_batch("B", B_layout, "K", "N")} + n * B_stride1;
      C_t *const c = ${of_batch("C", C_layout, "M", "N")};
      accumulator sum = 0;
#pragma unroll 1
      for (index_t k = 0; k < K; ++k) {
        sum += static_cast<accumulator>(a[k * A_stride1]) * static_cast<accumulator>(b[k * B_stride0]);
      }
      c[m * C_stride0 + n * C_stride1] = static_cast<C_t>(${stored("sum", "m", "n")});
    }
    return;
  }
//@ end
