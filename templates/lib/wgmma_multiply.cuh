    // A consumer's part of the tile, and how it multiplies a stage. Included in the kernel.
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    const unsigned staging = shared_address(staged.at(consumer * store_buffers, 0));
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
      const unsigned x = ring + stage * stage_bytes + own_rows * 128, y = ring + stage * stage_bytes + tile_x_bytes;
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const unsigned long long tile_y = tile_of(y + k * step_y, part_bytes);
#pragma unroll
        for (int i = 0; i < parts; ++i) {
          wgmma(sum[i], tile_of(x + i * part_bytes + k * step_x, part_bytes), tile_y, !first || k > 0);
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
