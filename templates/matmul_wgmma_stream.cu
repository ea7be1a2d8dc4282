// As matmul_wgmma.cu, where the tiles are no whole number of waves of clusters. Those that do not fill a wave are shared: their steps
// along k are dealt out evenly, one tile's after the other's or (aligned) to as many clusters of each. A cluster's part of a tile
// goes to the workspace, and a second launch adds up each tile's parts, always in the same order.

//@ include "lib/tma.cuh"
//@ include "lib/wgmma.cuh"
//@ include "lib/shares.cuh"
//@ include "lib/wgmma_stages.cuh"

// Returns where four sums of a thread lie in the workspace, which has a place for each cluster's part of a tile. From one
// part to the next the cluster or the tile is a higher one, so that cluster + tile differs for all parts. q counts 8 columns in
// a part of 64 rows.
__device__ __forceinline__ float4 *partial(accumulator *workspace, int cluster, int tile, int rank, int part, int q) {
  const size_t block = static_cast<size_t>(cluster + tile) * cluster_size + rank;
  return reinterpret_cast<float4 *>(workspace) + ((block * (BM / 64) + part) * (BN / 8) + q) * 128 + threadIdx.x % 128;
}

//@ include "lib/wgmma_tiles.cuh"

__global__ void __launch_bounds__(threads, 1) ${cluster_size > 1 and "__cluster_dims__(cluster_size, 1, 1)" or ""}
    matmul_wgmma(${params}) {
//@ include "lib/wgmma_block.cuh"
//@ if deferred then
  const int steps = all_steps;
//@ end
  const int tiles_x = static_cast<int>((${C_lines} + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((${C_columns} + (BN * cluster_y - 1)) / (BN * cluster_y));
  const int tiles = tiles_x * tiles_y;
  const int first_tile = blockIdx.x / cluster_size;
//@ if deferred then
  const int clusters = gridDim.x / cluster_size;
//@ end
  const sharing shares(tiles, all_steps);

//@ include "lib/wgmma_barriers.cuh"
  if (warpgroup == 0) {
    fewer_registers<producer_registers>();
    if (threadIdx.x == 0) {
      unsigned short mask_x = 0, mask_y = 0;
      for (int i = 0; i < cluster_y; ++i) mask_x |= 1u << (in_x + cluster_x * i + cluster_x * cluster_y * in_k);
      for (int i = 0; i < cluster_x; ++i) mask_y |= 1u << (i + cluster_x * in_y + cluster_x * cluster_y * in_k);
      int stage = 0;
      unsigned phase = 1;
      for (work next = first_work(shares, first_tile); next.tile < tiles; next = next_work(next, shares, first_tile)) {
        const place tile = tile_at(next.tile, tiles_x, tiles_y, group);
        const int x0 = (tile.x * cluster_x + in_x) * BM, y0 = (tile.y * cluster_y + in_y) * BN;
//@ local to = aligned and "next.steps * next.apart" or "next.steps"
        for (int step = next.first; step < next.first + ${to}; ${aligned and "step += next.apart" or "++step"}) {
//@ include "lib/wgmma_load.cuh"
        }
      }
    }
  } else {
    more_registers<consumer_registers>();
//@ include "lib/wgmma_multiply.cuh"
//@ include "lib/wgmma_store.cuh"

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
//@ if deferred then
    // The cluster's parts of tiles that are shared.
    for (work next = first_work(shares, first_tile); next.tile < shares.tiles;
         next = next_work(next, shares, first_tile)) {
#pragma unroll 1
      for (int step = 0; step < next.steps; ++step) multiply(step == 0);
      wgmma_wait<0>();
      release(last);
      keep_part(next.tile);
    }
//@ include "lib/wgmma_waiting.cuh"
    for (int index = shares.tiles + first_tile; index < tiles; index += clusters) {
//@ else
    // Parts of shared tiles, then whole tiles. One loop has both: ptxas would otherwise move the sums from loop to loop while
    // products are under way, and serialise these.
    for (work next = first_work(shares, first_tile); next.tile < tiles; next = next_work(next, shares, first_tile)) {
      const int index = next.tile, steps = next.steps;
//@ end
      const place tile = tile_at(index, tiles_x, tiles_y, group);
      const int x0 = (tile.x * cluster_x + in_x) * BM + own_rows, y0 = (tile.y * cluster_y + in_y) * BN;
//@ if deferred then
#pragma unroll
      for (int s = 0; s < stores; ++s) {
        multiply(s == 0);
        if (wait) store_waiting(s);
      }
#pragma unroll 1
      for (int step = stores; step < steps; ++step) multiply(false);
//@ else
#pragma unroll 1
      for (int step = 0; step < steps; ++step) multiply(step == 0);
//@ end
      wgmma_wait<0>();
      release(last);
//@ if not deferred then
      if (index < shares.tiles) {
        keep_part(index);
        continue;
      }
//@ end
//@ include "lib/wgmma_results.cuh"
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

// Adds up the parts of the shared tiles: a block has 64 lines of store_n columns, each 128 threads 16 of these.
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
  const place tile = tile_at(index, tiles_x, tiles_y, group);
  const int x0 = (tile.x * cluster_x + rank % cluster_x) * BM + part * 64;
  const int y0 = (tile.y * cluster_y + rank / cluster_x % cluster_y) * BN + chunk * store_n;
  const auto result_of = [&](int e) {
    const int line = x0 + warp * 16 + lane / 4 + e / 2 % 2 * 8;
    const int column = y0 + own * 16 + e / 4 * 8 + lane % 4 * 2 + e % 2;
    return static_cast<float>(${stored("sum[e]", "line", "column")});
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
    tensor_store_wait<0>();
  }
}
//@ include "lib/pad_lines.cuh"
