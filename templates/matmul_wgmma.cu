// C = A * B on Hopper's tensor cores (sm_90a). A persistent grid: every cluster of blocks computes tile after tile. In a
// block one thread, the producer, has the tensor memory accelerator bring tiles of the operands to a ring of stages in
// shared memory, and warpgroups, the consumers, multiply them by wgmma. Barriers say which stages are full and which are
// empty, so that loads are under way while products are, and while results are stored.
//
// C is computed by its lines. Those of a C that is stored by columns are its columns, and its transpose is the product
// of the operands' transposes the other way around: X is the operand whose lines are C's, Y the other one.
//
// Consumers share a tile's rows, or (pingpong) take tiles in turn, one storing while the other multiplies. The blocks of
// a cluster stand cluster_x by cluster_y by split_k: those that need the same part of an operand bring it once, a part
// each, for all (multicast); those along k add up their sums through each other's shared memory.
//
// Swapped, X and Y change roles: C's lines are the columns of the tile, of which there may be as few as 16, and each part
// is transposed on its way to C.
//
// What this template and matmul_wgmma_stream.cu have in common is in lib/wgmma_*.cuh, in the order of the kernel: stages, tiles;
// then, inside the kernel, block, barriers, load, multiply, store, waiting. Where the copy engine does not take an operand or C as it
// is, lib/pad_lines.cuh has the launches before and after.

//@ include "lib/wgmma_stages.cuh"
//@ include "lib/wgmma_tiles.cuh"

__global__ void __launch_bounds__(threads, 1) ${cluster_size > 1 and "__cluster_dims__(cluster_size, 1, 1)" or ""}
    matmul_wgmma(${params}) {
//@ include "lib/wgmma_block.cuh"
  const int most_steps = (all_steps + split_k - 1) / split_k;
  const int first_step = in_k * most_steps;
  const int steps = all_steps - first_step < most_steps ? all_steps - first_step : most_steps;
  const int tiles_x = static_cast<int>((${C_lines} + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((${C_columns} + (BN * cluster_y - 1)) / (BN * cluster_y));
  const int tiles = tiles_x * tiles_y${batch > 1 and " * batch" or ""};
  const int first_tile = blockIdx.x / cluster_size;
  const int clusters = gridDim.x / cluster_size;

//@ include "lib/wgmma_barriers.cuh"
  if (warpgroup == 0) {
//@ if consumers > 1 then
    fewer_registers<producer_registers>();
//@ end
    if (threadIdx.x == 0) {
      unsigned short mask_x = 0, mask_y = 0;
      for (int i = 0; i < cluster_y; ++i) mask_x |= 1u << (in_x + cluster_x * i + cluster_x * cluster_y * in_k);
      for (int i = 0; i < cluster_x; ++i) mask_y |= 1u << (i + cluster_x * in_y + cluster_x * cluster_y * in_k);
      int stage = 0;
      unsigned phase = 1;
      for (int index = first_tile; index < tiles; index += clusters) {
        const place tile = tile_at(index, tiles_x, tiles_y, group, way);
        const int x0 = (tile.x * cluster_x + in_x) * BM, y0 = (tile.y * cluster_y + in_y) * BN;
        for (int step = first_step; step < first_step + steps; ++step) {
//@ include "lib/wgmma_load.cuh"
        }
      }
    }
//@ if split_k > 1 then
    cluster_sync(); // with the consumers, whose sums are then in shared memory
//@ end
  } else {
//@ if consumers > 1 then
    more_registers<consumer_registers>();
//@ end
//@ include "lib/wgmma_multiply.cuh"
//@ include "lib/wgmma_store.cuh"

//@ if pingpong then
    const auto skip_steps = [&](int count) {
      phase ^= (stage + count) / stages % 2;
      stage = (stage + count) % stages;
    };
    // Barriers 1 and 2 say whose turn it is to multiply; the first consumer begins.
    if (consumer == 1) {
      skip_steps(steps);
      named_arrive(1, 256);
    }
    for (int index = first_tile + consumer * clusters; index < tiles; index += 2 * clusters) {
//@ else
//@ if deferred then
//@ include "lib/wgmma_waiting.cuh"
//@ end
    for (int index = first_tile; index < tiles; index += clusters) {
//@ end
      const place tile = tile_at(index, tiles_x, tiles_y, group, way);
      const int x0 = (tile.x * cluster_x + in_x) * BM + own_rows, y0 = (tile.y * cluster_y + in_y) * BN;
//@ if pingpong then
      named_sync(1 + consumer, 256);
//@ end
//@ if deferred then
#pragma unroll
      for (int s = 0; s < stores; ++s) {
        multiply(s == 0);
        if (wait) store_waiting(s);
      }
#pragma unroll 1
      for (int step = stores; step < steps; ++step) multiply(false);
//@ elseif promote > 0 then
      // The tensor cores add up 8-bit floats with few bits: after every `promote` steps their sums are added to sums of f32.
      float promoted[parts][BN / 2] = {};
#pragma unroll 1
      for (int step = 0; step < steps; step += promote) {
        multiply(true);
#pragma unroll 1
        for (int next = step + 1; next < steps && next < step + promote; ++next) multiply(false);
        wgmma_wait<0>();
        release(last);
#pragma unroll
        for (int i = 0; i < parts * (BN / 2); ++i) promoted[i / (BN / 2)][i % (BN / 2)] += sum[i / (BN / 2)][i % (BN / 2)];
      }
//@ else
#pragma unroll 1
      for (int step = 0; step < steps; ++step) multiply(step == 0);
//@ end
//@ if pingpong then
      named_arrive(2 - consumer, 256);
      skip_steps(steps); // the steps of the other consumer's tile
//@ end
//@ if promote > 0 then
#pragma unroll
      for (int i = 0; i < parts * (BN / 2); ++i) sum[i / (BN / 2)][i % (BN / 2)] = promoted[i / (BN / 2)][i % (BN / 2)];
//@ else
      wgmma_wait<0>();
      release(last);
//@ end
//@ if batch > 1 then
      z = tile.z;
//@ end

//@ if split_k > 1 then
      // The blocks' sums meet in shared memory, and each block adds up and stores a part of the columns. The ring is free:
      // its last tile has been multiplied.
      named_sync(5, consumers * 128);
      const unsigned own = shared_address(tile_a.at(0, 0, 0)) + (threadIdx.x - 128) * 16;
      constexpr int apart = consumers * 128 * 16;
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int q = 0; q < BN / 8; ++q) {
          store_words(own + (i * (BN / 8) + q) * apart, sum[i][4 * q], sum[i][4 * q + 1], sum[i][4 * q + 2],
                      sum[i][4 * q + 3]);
        }
      }
      cluster_sync();
#pragma unroll 1
      for (int s = in_k; s < parts * (BN / store_n); s += split_k) {
        ${wgmma_sum} total[1][store_n / 2] = {};
#pragma unroll ${swap and split_k or 1}
        for (int k = 0; k < split_k; ++k) {
          const unsigned other = address_in(in_x + cluster_x * in_y + cluster_x * cluster_y * k, own);
#pragma unroll
          for (int q = 0; q < store_n / 8; ++q) {
            ${wgmma_sum} a, b, c, d;
            load_words(other + (s * (store_n / 8) + q) * apart, a, b, c, d);
            total[0][4 * q] += a;
            total[0][4 * q + 1] += b;
            total[0][4 * q + 2] += c;
            total[0][4 * q + 3] += d;
          }
        }
        const int line = x0 + s / (BN / store_n) * 64, column = y0 + s % (BN / store_n) * store_n;
        store(line, column, [&](int w) { return ${words_of("total", "0", "w", "line", "column")}; });
      }
//@ else
//@ include "lib/wgmma_results.cuh"
//@ end
    }
//@ if deferred then
    if (wait) {
#pragma unroll
      for (int s = 0; s < stores; ++s) store_waiting(s);
    }
//@ end
    if (thread == 0) tensor_store_wait<0>();
  }
//@ if cluster_size > 1 then
  cluster_sync(); // no block leaves while others arrive at its barriers or read its shared memory
//@ end
}
//@ include "lib/pad_lines.cuh"
