// B = transposed A with packs of `access` bytes. A thread loads blocks of vec x vec elements, turns them over in its
// registers, and stores packs of B's rows to shared memory, from where they leave in B's order.
//
// Shared memory holds the tile as B has it: line c is column c of A.
//
// If no pack stands across an edge, loads take packs where A is aligned for packs, and stores where B is. Any other
// load or store moves one element.

//@ include "lib/tile_order.cuh"
//@ include "lib/transpose_block.cuh"

__global__ void __launch_bounds__(threads) transpose_vector(${params}) {
  const tile_place place = place_tile<tile_rows, tile_cols, down_first>(rows, cols);
  const index_t rows_left = rows - place.row;
  const index_t cols_left = cols - place.col;
  const bool inside = rows_left >= tile_rows && cols_left >= tile_cols;
  // Packs never stand across an edge when the sizes are multiples of `vec`.
  const bool whole = inside || (rows % vec == 0 && cols % vec == 0);
  const dtype *from = A + place.batch * A_stride0 + place.row * A_stride1 + place.col;
  dtype *to = B + place.batch * B_stride0 + place.col * B_stride1 + place.row;
  const long long size = sizeof(dtype);

  if (whole && accesses_fit<access>(A, (A_stride0 * size) | (A_stride1 * size))) {
    bits held[blocks][vec];
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      const int row = (threadIdx.x + b * threads) / (tile_cols / vec) * vec;
      const int col = (threadIdx.x + b * threads) % (tile_cols / vec) * vec;
      if (inside || (row < rows_left && col < cols_left)) {
#pragma unroll
        for (int i = 0; i < vec; ++i) held[b][i] = load_bits(reinterpret_cast<const bits *>(from + (row + i) * A_stride1 + col));
      }
    }
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      const int row = (threadIdx.x + b * threads) / (tile_cols / vec) * vec;
      const int col = (threadIdx.x + b * threads) % (tile_cols / vec) * vec;
      bits turned[vec];
      turn_block(held[b], turned);
#pragma unroll
      for (int i = 0; i < vec; ++i) part.as<bits>(col + i, row) = turned[i];
    }
  } else {
    for (int e = threadIdx.x; e < tile_rows * tile_cols; e += threads) {
      const int row = e / tile_cols;
      const int col = e % tile_cols;
      if (row < rows_left && col < cols_left) part(col, row) = from[row * A_stride1 + col];
    }
  }
  __syncthreads();
  if (whole && accesses_fit<access>(B, (B_stride0 * size) | (B_stride1 * size))) {
#pragma unroll
    for (int p = 0; p < blocks * vec; ++p) {
      const int col = (threadIdx.x + p * threads) / (tile_rows / vec);
      const int row = (threadIdx.x + p * threads) % (tile_rows / vec) * vec;
      if (inside || (row < rows_left && col < cols_left)) {
        store_bits(reinterpret_cast<bits *>(to + col * B_stride1 + row), part.as<bits>(col, row));
      }
    }
  } else {
    for (int e = threadIdx.x; e < tile_rows * tile_cols; e += threads) {
      const int col = e / tile_rows;
      const int row = e % tile_rows;
      if (row < rows_left && col < cols_left) to[col * B_stride1 + row] = part(col, row);
    }
  }
}
