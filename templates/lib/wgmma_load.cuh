          // Loads the block's parts of X and Y at `step` along k of the tile at (x0, y0) to the next stage that is free.
          const unsigned to = ring + stage * stage_bytes, barrier = full_0 + stage * 8;
          barrier_wait(empty_0 + stage * 8, phase);
          barrier_expect(barrier, stage_bytes);
          load_tile<${x_along_k}, BM, cluster_y>(to, ${X}, barrier, step * BK, x0, in_y, ${batch > 1 and "tile.z, " or ""}mask_x);
          load_tile<${y_along_k}, BN, cluster_x>(to + tile_x_bytes, ${Y}, barrier, step * BK, y0, in_x, ${batch > 1 and "tile.z, " or ""}mask_y);
          if (++stage == stages) {
            stage = 0;
            phase ^= 1;
          }
