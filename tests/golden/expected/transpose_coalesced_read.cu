// transpose: coalesced_read columns_along=x block_x=32 block_y=8
// rows=8192 cols=8192 batch=1 dtype=f32 pitched=false pitch_a=0 pitch_b=0
using index_t = int;
#define block_x 32
#define block_y 8
using A_t = float;
#define A_stride0 ((index_t)(cols) * (rows))
#define A_stride1 ((index_t)(cols))
using B_t = float;
#define B_stride0 ((index_t)(rows) * (cols))
#define B_stride1 ((index_t)(rows))

#line 1 "templates/transpose_naive.cu"
// B = transposed A, one element a thread, straight from memory to memory. One of the two accesses goes against the
// rows: neighbouring threads of a warp, whose threadIdx.x differs first, then touch addresses that are a whole row
// apart, and each of them moves 32 bytes for its one element.
//

// x runs along A's columns: loads are coalesced, stores are not.




#line 1 "templates/lib/tile_order.cuh"

// Where a block's tile lies, from the block's number alone: a grid of one dimension has no limit that a matrix would
// meet. Blocks start roughly in order of their number, so that the order of the tiles decides which rows of which
// matrix are open in memory at the same time. Along a row of tiles A is read from its beginning to its end;
// down a column of tiles (DownFirst) B is written from its beginning to its end.
struct tile_place {
  index_t row, col, batch;
};

template <int Rows, int Cols, bool DownFirst>
__device__ __forceinline__ tile_place place_tile(index_t all_rows, index_t all_cols) {
  const index_t tiles_down = (all_rows + (Rows - 1)) / Rows;
  const index_t tiles_across = (all_cols + (Cols - 1)) / Cols;
  const index_t number = blockIdx.x;
  const index_t batch = number / (tiles_down * tiles_across);
  const index_t within = number % (tiles_down * tiles_across);
  if (DownFirst) return {within % tiles_down * Rows, within / tiles_down * Cols, batch};
  return {within / tiles_across * Rows, within % tiles_across * Cols, batch};
}
#line 12 "templates/transpose_naive.cu"

__global__ void __launch_bounds__(block_x * block_y) transpose_naive(const A_t *__restrict__ A, B_t *__restrict__ B, index_t rows, index_t cols, index_t batch) {

  const tile_place place = place_tile<block_y, block_x, false>(rows, cols);
  const index_t row = place.row + threadIdx.y;
  const index_t col = place.col + threadIdx.x;
#line 23 "templates/transpose_naive.cu"
  if (row >= rows || col >= cols) return;
  B[place.batch * B_stride0 + col * B_stride1 + row] = A[place.batch * A_stride0 + row * A_stride1 + col];
}
