// matmul: naive block_x=16 block_y=16 columns_along=x
// M=4096 N=4096 K=4096 dtype=f32 dtype_c=default layout_a=row layout_b=row layout_c=row pitched=false specialize=false fill=uniform batch=1 scaled=true biased=true activation=relu
using index_t = int;
#define block_x 16
#define block_y 16
using accumulator = float;
using A_t = float;
#define A_stride0 ((index_t)(K))
#define A_stride1 1
using B_t = float;
#define B_stride0 ((index_t)(N))
#define B_stride1 1
using C_t = float;
#define C_stride0 ((index_t)(N))
#define C_stride1 1
using D_t = float;
#define D_stride0 ((index_t)(N))
#define D_stride1 1
using bias_t = float;
using workspace_t = float;
using tickets_t = unsigned int;

#line 1 "templates/matmul_naive.cu"
// C = A * B, one thread for one element of C: the simplest implementation.
//
// Every thread reads a whole row of A and a whole column of B from global memory: 2 * K loads for 2 * K operations,
// an arithmetic intensity of 0.25 FLOP/B in f32. What saves it from being worse is that the threads of a warp share
// a row or a column, and whether their loads and stores coalesce: columns_along says which thread index runs along
// C's columns. Neighbours in a warp differ in threadIdx.x first.



__global__ void __launch_bounds__(block_x * block_y) matmul_naive(const A_t *__restrict__ A, const B_t *__restrict__ B, C_t *__restrict__ C, index_t M, index_t N, index_t K, const D_t *__restrict__ D, const bias_t *__restrict__ bias, float alpha, float beta, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {

  const index_t row = static_cast<index_t>(blockIdx.y) * block_y + threadIdx.y;
  const index_t col = static_cast<index_t>(blockIdx.x) * block_x + threadIdx.x;
  if (row >= M || col >= N) return;

  const A_t *const a = A;
  const B_t *const b = B;
  C_t *const c = C;
  accumulator sum = 0;
  for (index_t k = 0; k < K; ++k) {
    sum += static_cast<accumulator>(a[row * A_stride0 + k * A_stride1]) *
           static_cast<accumulator>(b[k * B_stride0 + col * B_stride1]);
  }
  c[row * C_stride0 + col * C_stride1] = static_cast<C_t>(([&](auto __v_acc, auto __v_m, auto __v_n) -> decltype(__v_acc) { using __t = decltype(__v_acc); return ([](auto __x) { return __x < 0 ? decltype(__x)(0) : __x; }(((__t(alpha) * __v_acc) + (__t(beta) * __t(D[__v_m * D_stride0 + __v_n * D_stride1]))) + __t(bias[__v_n]))); }((sum), (row), (col))));
}
