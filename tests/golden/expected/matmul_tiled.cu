// matmul: tiled tile=16 pad=1
// M=4096 N=4096 K=4096 dtype=f64 dtype_c=default layout_a=col layout_b=row layout_c=row pitched=false specialize=true fill=uniform batch=1 scaled=false biased=false activation=none
struct alignas(16) tile_a_array { // row+1
  double data[16][17];
  __device__ double *at(int i, int j) { return &data[i][j]; }
  __device__ double &operator()(int i, int j) { return data[i][j]; }
  template <class T> __device__ T &as(int i, int j) {
    static_assert(sizeof(T) <= 8, "the layout row+1 of tile_a keeps 8 bytes together along the last index, and this type has more");
    return *reinterpret_cast<T *>(at(i, j));
  }
};
__shared__ tile_a_array tile_a;
struct alignas(16) tile_b_array { // row+1
  double data[16][17];
  __device__ double *at(int i, int j) { return &data[i][j]; }
  __device__ double &operator()(int i, int j) { return data[i][j]; }
  template <class T> __device__ T &as(int i, int j) {
    static_assert(sizeof(T) <= 8, "the layout row+1 of tile_b keeps 8 bytes together along the last index, and this type has more");
    return *reinterpret_cast<T *>(at(i, j));
  }
};
__shared__ tile_b_array tile_b;
using index_t = int;
#define M 4096
#define N 4096
#define K 4096
#define tile 16
using accumulator = double;
using A_t = double;
#define A_stride0 1
#define A_stride1 4096
using B_t = double;
#define B_stride0 4096
#define B_stride1 1
using C_t = double;
#define C_stride0 4096
#define C_stride1 1
using workspace_t = double;
using tickets_t = unsigned int;

#line 1 "templates/matmul_tiled.cu"
// C = A * B through shared memory: a block computes a tile of C in phases. In each phase its threads bring one tile
// of A and one of B to shared memory together, one element each, and then every element is used `tile` times from
// there: global loads fall from 2 * M * N * K to 2 * M * N * K / tile.







__global__ void __launch_bounds__(tile * tile) matmul_tiled(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const index_t block_row = static_cast<index_t>(blockIdx.y) * tile;
  const index_t block_col = static_cast<index_t>(blockIdx.x) * tile;

  const A_t *const a = A;
  const B_t *const b = B;
  C_t *const c = C;

  accumulator sum = 0;
  for (index_t k0 = 0; k0 < K; k0 += tile) {
    // Outside the matrix a zero adds nothing.
    const bool inside_a = x < M - block_row && y < K - k0;
    tile_a(x, y) = inside_a ? a[(block_row + x) * A_stride0 + (k0 + y) * A_stride1] : A_t(0);
    const bool inside_b = y < K - k0 && x < N - block_col;
    tile_b(y, x) = inside_b ? b[(k0 + y) * B_stride0 + (block_col + x) * B_stride1] : B_t(0);
    __syncthreads(); // read after write: the tiles are complete before anyone uses them

#pragma unroll
    for (int k = 0; k < tile; ++k) {
      sum += static_cast<accumulator>(tile_a(y, k)) * static_cast<accumulator>(tile_b(k, x));
    }
    __syncthreads(); // write after read: everyone is done with the tiles before the next phase overwrites them
  }

  const int row = y, col = x;
  if (row < M - block_row && col < N - block_col) {
    c[(block_row + row) * C_stride0 + (block_col + col) * C_stride1] =
        static_cast<C_t>(([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum), (block_row + row), (block_col + col))));
  }
}
