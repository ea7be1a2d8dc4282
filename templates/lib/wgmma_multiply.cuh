    // A consumer's part of the tile, and how it multiplies a stage. Included in the kernel.
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    const int own_rows = pingpong ? 0 : consumer * (parts * 64);
    // Thread i releases a stage in the i-th of the blocks that loaded parts of it.
    const auto release = [&](int at) {
      if (thread < cluster_x * cluster_y) barrier_arrive(empty_0 + at * 8, thread + cluster_x * cluster_y * in_k);
    };
    int stage = 0, buffer = 0, last = 0;
    unsigned phase = 0;
    ${wgmma_sum} sum[parts][BN / 2];
    // Issues the products of a step along k; those of the step before are then done, and its stage may be loaded anew.
    const auto multiply = [&](bool first) {
      barrier_wait(full_0 + stage * 8, phase);
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < BK; k += BK / 4) {
        const unsigned long long y = ${Y.tile}.descriptor(${tile_indices(Y, "0", "k")});
#pragma unroll
        for (int i = 0; i < parts; ++i) {
          wgmma(sum[i], ${X.tile}.descriptor(${tile_indices(X, "own_rows + i * 64", "k")}), y, !first || k > 0);
        }
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (!first) release(last);
      last = stage;
      if (++stage == stages) {
        stage = 0;
        phase ^= 1;
      }
    };
