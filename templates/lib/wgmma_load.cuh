          // Loads the block's parts of X and Y at `step` along k of the tile at (x0, y0) to the next stage that is free.
          const unsigned barrier = full_0 + stage * 8;
          barrier_wait(empty_0 + stage * 8, phase);
          barrier_expect(barrier, stage_bytes);
//@ local z = batch > 1 and "tile.z, " or ""
//@ for _, part in ipairs { { X, "BM", "cluster_y", "in_y", "x0", "mask_x" }, { Y, "BN", "cluster_x", "in_x", "y0", "mask_y" } } do
//@ local operand, extent, sharing, own, first, mask = table.unpack(part)
//@ if operand.along_k then
          load_box<${sharing}>(${operand.tile}.at(stage, ${own} * (${extent} / ${sharing}), 0), ${operand.map}, barrier, step * BK,
                   ${first} + ${own} * (${extent} / ${sharing}), ${z}${mask});
//@ else
#pragma unroll
          for (int i = 0; i < ${extent}; i += 64) {
            load_box<${sharing}>(${operand.tile}.at(stage, ${own} * (BK / ${sharing}), i), ${operand.map}, barrier, ${first} + i,
                     step * BK + ${own} * (BK / ${sharing}), ${z}${mask});
          }
//@ end
//@ end
          if (++stage == stages) {
            stage = 0;
            phase ^= 1;
          }
