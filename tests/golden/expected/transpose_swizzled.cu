// transpose: swizzled bank=xor pad=0 tile=32 rows_per_thread=4 down_first=false
// rows=8192 cols=8192 batch=1 dtype=u16 pitched=false pitch_a=0 pitch_b=0
struct alignas(16) part_array { // row^5,0,5
  unsigned short data[32][32];
  __device__ unsigned short *at(int i, int j) { return &data[i][j ^ (i & 31)]; }
  __device__ unsigned short &operator()(int i, int j) { return data[i][j ^ (i & 31)]; }
  template <class T> __device__ T &as(int i, int j) {
    static_assert(sizeof(T) <= 2, "the layout row^5,0,5 of part keeps 2 bytes together along the last index, and this type has more");
    return *reinterpret_cast<T *>(at(i, j));
  }
};
__shared__ part_array part;
using index_t = int;
using dtype = unsigned short;
#define tile 32
#define down_first 0
#define threads_y 8
using A_t = unsigned short;
#define A_stride0 ((index_t)(cols) * (rows))
#define A_stride1 ((index_t)(cols))
using B_t = unsigned short;
#define B_stride0 ((index_t)(rows) * (cols))
#define B_stride1 ((index_t)(rows))

#line 1 "templates/transpose_tiled.cu"
// B = transposed A through shared memory: a block brings a tile in by rows and takes it out by columns, so that loads
// and stores are both coalesced. A thread moves tile / threads_y elements.
//
// The layout of the tile decides how many different banks of shared memory the lanes of a warp meet when the warp goes
// down a column of the tile.

#line 1 "templates/lib/tile_order.cuh"

// Where a block's tile lies, from the block's number alone: a grid of one dimension has no limit that a matrix would
// meet. Blocks start roughly in order of their number, so that the order of the tiles, along rows or (DownFirst) down columns,
// decides which rows are accessed at the same time.
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
#line 8 "templates/transpose_tiled.cu"

__global__ void __launch_bounds__(tile * threads_y) transpose_tiled(const A_t *__restrict__ A, B_t *__restrict__ B, index_t rows, index_t cols, index_t batch) {
  const tile_place place = place_tile<tile, tile, down_first>(rows, cols);
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const index_t rows_left = rows - place.row;
  const index_t cols_left = cols - place.col;

  const dtype *from = A + place.batch * A_stride0 + place.row * A_stride1 + place.col;
#pragma unroll
  for (int r = 0; r < tile; r += threads_y) {
    if (y + r < rows_left && x < cols_left) part(y + r, x) = from[(y + r) * A_stride1 + x];
  }
  __syncthreads();
  dtype *to = B + place.batch * B_stride0 + place.col * B_stride1 + place.row;
#pragma unroll
  for (int c = 0; c < tile; c += threads_y) {
    if (y + c < cols_left && x < rows_left) to[(y + c) * B_stride1 + x] = part(x, y + c);
  }
}
