      // The tile's sums become results: they wait for the next tile's first products, or are stored. Included in the kernel.
//@ if deferred then
#pragma unroll
      for (int s = 0; s < stores; ++s) {
        const int i = s / (BN / store_n), c = s % (BN / store_n);
#pragma unroll
        for (int w = 0; w < words; ++w) {
          waiting[s][w] = ${words_of("sum", "i", "c * words + w", "x0 + i * 64", "y0")};
        }
      }
      waiting_x = x0;
      waiting_y = y0;
      wait = true;
//@ else
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int c = 0; c < BN / store_n; ++c) {
          store(x0 + i * 64, y0 + c * store_n,
                [&](int w) { return ${words_of("sum", "i", "c * words + w", "x0 + i * 64", "y0")}; });
        }
      }
//@ end
