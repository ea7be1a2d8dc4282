// C = A * B on Hopper's tensor cores (sm_90a). A persistent grid: every cluster of blocks computes tile after tile. In a
// block one thread, the producer, has the tensor memory accelerator bring tiles of the operands to a ring of stages in
// shared memory, and warpgroups, the consumers, multiply them by wgmma. Barriers say which stages are full and which are
// empty, so that loads are under way while products are, and while results are stored.
//
// A line of C is a row of C, or a column if C is stored by columns. X is the operand whose lines (rows of A, columns of
// B) are C's lines, Y the other one. So X is A if C is stored by rows; otherwise X is B, and the transpose of C is
// computed, which is the product of B's transpose by A's.
//
// Consumers share a tile's rows, or (pingpong) take tiles in turn, one storing while the other multiplies. The blocks of
// a cluster stand cluster_x by cluster_y by split_k: blocks that need the same tile of an operand bring it once, a part
// each, for all of them (multicast); blocks along k add up their sums through each other's shared memory.
//
// With `swap`, X and Y change roles: C's lines are the columns of the tile, of which there may be as few as 16, and each
// part is transposed on its way to C.
//
//@ if stream then
// The tiles are no whole number of waves of clusters. The tiles that do not fill a wave are shared: their steps along k are dealt out
// evenly to the clusters, tile after tile or (aligned) each tile's to an equal number of clusters. A cluster's part of a tile goes to the
// workspace, and a second launch adds up each tile's parts, always in the same order.
//@ end
//@ if from_registers then
// Tensor cores take 4-byte elements only with lines along k. X's lines run across k: consumers load X's tiles to registers, in the order
// that the instruction needs, and multiply from there.
//@ end
// Where the copy engine does not take an operand or C as it is, lib/pad_lines.cuh has the launches before and after.

//@ -- A_map, B_map and C_map are the tensor maps of A, B and C, or of their padded copies. C_lines and C_columns are the sizes
//@ -- of C along the tile's rows, which are lines of X, and along its columns, which are lines of Y.
//@ A_map, B_map, C_map = pads_a and "padded_a" or "A", pads_b and "padded_b" or "B", pads_c and "padded_c" or "C"
//@ local a = { map = A_map, tile = "tile_a", along_k = A_layout == "row" }
//@ local b = { map = B_map, tile = "tile_b", along_k = B_layout == "col" }
//@ X, Y = by_rows and a or b, by_rows and b or a
//@ -- The element of an operand's tile at a line and a k, as indices.
//@ local function tile_indices(operand, line, k)
//@   return "stage, " .. (operand.along_k and line .. ", " .. k or k .. ", " .. line)
//@ end
//@ C_lines, C_columns = by_rows and "M" or "N", by_rows and "N" or "M"
//@ include "lib/batch.cuh"
//@ include "lib/tma.cuh"
//@ include "lib/wgmma.cuh"

constexpr int sharers = pingpong ? 1 : consumers;
constexpr int parts = BM / 64 / sharers; // of 64 rows, for each consumer
constexpr int stage_bytes = 128 * (BM + BN);
constexpr int producer_registers = consumers == 3 ? 32 : 40;
constexpr int consumer_registers = consumers == 3 ? 160 : 232;
//@ include "lib/wgmma_tiles.cuh"
//@ if stream then
//@ include "lib/shares.cuh"

// Returns where four sums of a thread lie in the workspace, which has a place for each cluster's share of a tile. From one
// share to the next the cluster or the tile is a higher one, so that cluster + tile is different for all shares. `part` counts
// 64 rows of a tile, q 8 columns.
__device__ __forceinline__ float4 *partial(accumulator *workspace, int cluster, int tile, int rank, int part, int q) {
  const size_t block = static_cast<size_t>(cluster + tile) * cluster_size + rank;
  return reinterpret_cast<float4 *>(workspace) + ((block * (BM / 64) + part) * (BN / 8) + q) * 128 + threadIdx.x % 128;
}
//@ end

__global__ void __launch_bounds__(threads, 1) ${cluster_size > 1 and "__cluster_dims__(cluster_size, 1, 1)" or ""}
    matmul_wgmma(${params}) {
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const unsigned full_0 = shared_address(full), empty_0 = shared_address(empty);

  const int rank = cluster_rank();
  const int in_x = rank % cluster_x, in_y = rank / cluster_x % cluster_y, in_k = rank / (cluster_x * cluster_y);
  const int all_steps = static_cast<int>((K + (BK - 1)) / BK);
//@ if not stream then
  const int most_steps = (all_steps + split_k - 1) / split_k;
  const int first_step = in_k * most_steps;
  const int steps = all_steps - first_step < most_steps ? all_steps - first_step : most_steps;
//@ elseif deferred then
  const int steps = all_steps;
//@ end
  const int tiles_x = static_cast<int>((${C_lines} + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((${C_columns} + (BN * cluster_y - 1)) / (BN * cluster_y));
  const int tiles = tiles_x * tiles_y${batch > 1 and " * batch" or ""};
  const int first_tile = blockIdx.x / cluster_size;
//@ if stream then
  const sharing shares(tiles, all_steps);
//@ end
//@ if deferred or not stream then
  const int clusters = gridDim.x / cluster_size;
//@ end

  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(full_0 + i * 8, 1);
      barrier_init(empty_0 + i * 8, ${from_registers and "4 * " or ""}sharers * cluster_x * cluster_y);
    }
    barrier_fence_init();
    tensor_prefetch(${A_map});
    tensor_prefetch(${B_map});
    tensor_prefetch(${C_map});
  }
  launch_next();
  ${(swap or stream) and "cluster_start" or "cluster_sync"}();
  wait_for_launch();

  // All lanes have the same value; __shfl_sync tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
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
//@ local all_work = "work next = first_work(shares, first_tile); next.tile < tiles; next = next_work(next, shares, first_tile)"
//@ if stream then
      for (${all_work}) {
        const place tile = tile_at(next.tile, tiles_x, tiles_y, group, 0);
        const int from = next.first, to = next.first + next.steps${aligned and " * next.apart" or ""};
//@ else
      for (int index = first_tile; index < tiles; index += clusters) {
        const place tile = tile_at(index, tiles_x, tiles_y, group, way);
        const int from = first_step, to = first_step + steps;
//@ end
        const int x0 = (tile.x * cluster_x + in_x) * BM, y0 = (tile.y * cluster_y + in_y) * BN;
        for (int step = from; step < to; ${stream and aligned and "step += next.apart" or "++step"}) {
          const unsigned barrier = full_0 + stage * 8;
          barrier_wait(empty_0 + stage * 8, phase);
          barrier_expect(barrier, stage_bytes);
//@ local z = batch > 1 and "tile.z, " or ""
//@ for _, part in ipairs { { X, "BM", "cluster_y", "in_y", "x0", "mask_x" }, { Y, "BN", "cluster_x", "in_x", "y0", "mask_y" } } do
//@ local operand, extent, sharing, own, first, mask = table.unpack(part)
//@ if operand.along_k then
//@ -- A part begins at its first line's bytes: an index would be swizzled, and parts need not have multiples of 8 lines.
          tensor_load<${sharing}>(${operand.tile}.at(stage, 0, 0) + ${own} * (${extent} / ${sharing}) * BK, ${operand.map}, barrier, step * BK,
                      ${first} + ${own} * (${extent} / ${sharing}), ${z}${mask});
//@ else
#pragma unroll
          for (int i = 0; i < ${extent}; i += BK) {
            tensor_load<${sharing}>(${operand.tile}.at(stage, ${own} * (BK / ${sharing}), i), ${operand.map}, barrier, ${first} + i,
                        step * BK + ${own} * (BK / ${sharing}), ${z}${mask});
          }
//@ end
//@ end
          if (++stage == stages) {
            stage = 0;
            phase ^= 1;
          }
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
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    const int own_rows = pingpong ? 0 : consumer * (parts * 64);
//@ if from_registers then
    // Each warp has read the stage for itself; lane i releases the stage in the i-th of the blocks that loaded parts of the stage.
    const auto release = [&](int at) {
      __syncwarp();
      if (lane < cluster_x * cluster_y) barrier_arrive(empty_0 + at * 8, lane + cluster_x * cluster_y * in_k);
    };
//@ else
    // Thread i releases a stage in the i-th of the blocks that loaded parts of the stage.
    const auto release = [&](int at) {
      if (thread < cluster_x * cluster_y) barrier_arrive(empty_0 + at * 8, thread + cluster_x * cluster_y * in_k);
    };
//@ end
    int stage = 0, buffer = 0${from_registers and "" or ", last = 0"};
    unsigned phase = 0;
    ${wgmma_sum} sum[parts][BN / 2];
//@ -- Waits for the last products, and releases their stage.
//@ local finish = from_registers and "" or "wgmma_wait<0>(), release(last);"
//@ if from_registers then
    // The thread's words of X's first tile, by k and line. Odd threads load the words of a product in another order than even ones, because
    // their banks would conflict otherwise. The distance to the word that is 8 k or 64 lines further on is the same from every word.
    const bool odd = lane % 2;
    const A_t *own_x[2][2];
#pragma unroll
    for (int w = 0; w < 2; ++w) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        own_x[w][h] = ${X.tile}.at(0, lane % 4 + (odd == (w == 0) ? 4 : 0), own_rows + warp * 16 + lane / 4 + 8 * h);
      }
    }
    // Multiplies a step along k.
    const auto multiply = [&](bool first) {
      barrier_wait(full_0 + stage * 8, phase);
      unsigned x[4][parts][4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int i = 0; i < parts; ++i) {
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const int at = stage * (BM * BK) + i * (64 * BK) + k * (8 * BK);
            const unsigned one = __float_as_uint(own_x[0][h][at]), other = __float_as_uint(own_x[1][h][at]);
            x[k][i][h] = odd ? other : one;
            x[k][i][2 + h] = odd ? one : other;
          }
        }
      }
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const unsigned long long y = ${Y.tile}.descriptor(${tile_indices(Y, "0", "k * 8")});
#pragma unroll
        for (int i = 0; i < parts; ++i) wgmma(sum[i], x[k][i], y, !first || k > 0);
      }
      wgmma_commit();
      wgmma_wait<0>();
      release(stage);
      if (++stage == stages) {
        stage = 0;
        phase ^= 1;
      }
    };
//@ else
    // Issues the products of a step along k, waits for the products of the step before, and releases the stage of that step.
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
//@ end
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
//@ end
//@ if stream then
    const auto keep_part = [&](int tile) {
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int q = 0; q < BN / 8; ++q) {
          *partial(workspace, first_tile, tile, rank, consumer * parts + i, q) =
              make_float4(sum[i][4 * q], sum[i][4 * q + 1], sum[i][4 * q + 2], sum[i][4 * q + 3]);
        }
      }
    };
//@ end
//@ if stream and deferred then
    // Computes the cluster's parts of shared tiles.
    for (work next = first_work(shares, first_tile); next.tile < shares.tiles;
         next = next_work(next, shares, first_tile)) {
#pragma unroll 1
      for (int step = 0; step < next.steps; ++step) multiply(step == 0);
      ${finish}
      keep_part(next.tile);
    }
//@ end
//@ if deferred then
    // A tile's results wait in registers: they are stored while the next tile's first products are under way.
    constexpr int stores = parts * (BN / store_n);
    unsigned waiting[stores][words] = {};
    int waiting_x = 0, waiting_y = 0;
    const auto store_waiting = [&](int s) {
      const int i = s / (BN / store_n), c = s % (BN / store_n);
      store(waiting_x + i * 64, waiting_y + c * store_n, [&](int w) { return waiting[s][w]; });
    };
    bool wait = false;
//@ end
//@ if stream and not deferred then
    // Computes parts of shared tiles, then whole tiles, in one loop: between two loops, ptxas would move the sums while products
    // are under way, and so serialise the products.
    for (${all_work}) {
      const int index = next.tile, steps = next.steps;
//@ else
//@ local first, apart = stream and "shares.tiles + first_tile" or "first_tile", "clusters"
//@ if pingpong then first, apart = "first_tile + consumer * clusters", "2 * clusters" end
    for (int index = ${first}; index < tiles; index += ${apart}) {
//@ end
      const place tile = tile_at(index, tiles_x, tiles_y, group, ${stream and 0 or "way"});
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
        ${finish}
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
      ${finish}
//@ end
//@ if stream and not deferred then
      if (index < shares.tiles) {
        keep_part(index);
        continue;
      }
//@ end
//@ if batch > 1 then
      z = tile.z;
//@ end

//@ if split_k > 1 then
      // The blocks' sums meet in shared memory, and each block adds up and stores some pieces of 64 lines and store_n columns.
      // The ring is free: its last tile has been multiplied.
      named_sync(5, consumers * 128);
      const unsigned own = shared_address(tile_a.at(0, 0, 0)) + (threadIdx.x - 128) * 16;
      constexpr int apart = consumers * 128 * 16;
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int q = 0; q < BN / 8; ++q) store_words(own + (i * (BN / 8) + q) * apart, sum[i] + 4 * q);
      }
      cluster_sync();
#pragma unroll 1
      for (int s = in_k; s < parts * (BN / store_n); s += split_k) {
        ${wgmma_sum} total[1][store_n / 2] = {};
#pragma unroll ${swap and split_k or 1}
        for (int k = 0; k < split_k; ++k) {
          const unsigned other = address_in(in_x + cluster_x * in_y + cluster_x * cluster_y * k, own);
#pragma unroll
          for (int q = 0; q < store_n / 8; ++q) add_words(other + (s * (store_n / 8) + q) * apart, total[0] + 4 * q);
        }
        const int line = x0 + s / (BN / store_n) * 64, column = y0 + s % (BN / store_n) * store_n;
        store(line, column, [&](int w) { return ${words_of("total", "0", "w", "line", "column")}; });
      }
//@ else
#pragma unroll
      for (int s = 0; s < parts * (BN / store_n); ++s) {
        const int i = s / (BN / store_n), c = s % (BN / store_n);
        const auto word = [&](int w) { return ${words_of("sum", "i", "c * words + w", "x0 + i * 64", "y0")}; };
//@ if deferred then
#pragma unroll
        for (int w = 0; w < words; ++w) waiting[s][w] = word(w);
      }
      waiting_x = x0;
      waiting_y = y0;
      wait = true;
//@ else
        store(x0 + i * 64, y0 + c * store_n, word);
      }
//@ end
//@ end
    }
//@ if deferred then
    if (wait) {
#pragma unroll
      for (int s = 0; s < stores; ++s) store_waiting(s);
    }
//@ end
    if (thread == 0) bulk_wait_read<0>();
  }
//@ if cluster_size > 1 then
  cluster_sync(); // no block leaves while others arrive at its barriers or read its shared memory
//@ end
}
//@ if stream then

// Adds up the parts of the shared tiles: a block has 64 lines of store_n columns, and each 128 of its threads have 16 columns.
__global__ void __launch_bounds__(store_n * 8, 1) matmul_wgmma_sum(${params}) {
  launch_next();
  wait_for_launch();
  const int tiles_x = static_cast<int>((${C_lines} + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((${C_columns} + (BN * cluster_y - 1)) / (BN * cluster_y));
  const sharing shares(tiles_x * tiles_y, static_cast<int>((K + (BK - 1)) / BK));
  const int chunk = blockIdx.x % (BN / store_n), part = blockIdx.x / (BN / store_n) % (BM / 64);
  const int block = blockIdx.x / (BN / store_n * (BM / 64)), rank = block % cluster_size, index = block / cluster_size;
  if (index >= shares.tiles) return;
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, own = threadIdx.x / 128;
  const int last = shares.last_of(index);
  float sum[8] = {};
#pragma unroll 8
  for (int cluster = shares.first_of(index); cluster <= last; ++cluster) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const float4 four = *partial(workspace, cluster, index, rank, part, chunk * (store_n / 8) + own * 2 + q);
      sum[4 * q] += four.x;
      sum[4 * q + 1] += four.y;
      sum[4 * q + 2] += four.z;
      sum[4 * q + 3] += four.w;
    }
  }
  const place tile = tile_at(index, tiles_x, tiles_y, group, 0);
  const int x0 = (tile.x * cluster_x + rank % cluster_x) * BM + part * 64;
  const int y0 = (tile.y * cluster_y + rank / cluster_x % cluster_y) * BN + chunk * store_n;
  const auto result_of = [&](int e) {
    const int line = x0 + warp * 16 + lane / 4 + e / 2 % 2 * 8;
    const int column = y0 + own * 16 + e / 4 * 8 + lane % 4 * 2 + e % 2;
    return static_cast<float>(${stored_in_line("sum[e]", "line", "column")});
  };
//@ if result == "f32" then
#pragma unroll
  for (int e = 0; e < 8; e += 2) {
    summed.as<float2>(warp * 16 + lane / 4 + e / 2 % 2 * 8, own * 16 + e / 4 * 8 + lane % 4 * 2) = {result_of(e), result_of(e + 1)};
  }
//@ else
  store_matrices(shared_address(summed.at(warp * 16 + lane % 16, own * 16 + lane / 16 * 8)), pack(result_of(0), result_of(1)),
                 pack(result_of(2), result_of(3)), pack(result_of(4), result_of(5)), pack(result_of(6), result_of(7)));
//@ end
  tensor_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_store(${C_map}, shared_address(summed.at(0, 0)), y0, x0);
    bulk_wait_read<0>();
  }
}
//@ end
//@ include "lib/pad_lines.cuh"
