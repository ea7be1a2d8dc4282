// C = A * B with 64 x 64 tiles in shared memory and 4 x 4 elements in a thread's registers, for blocks of 256.
// M and N are multiples of 64, K of 8.
constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;

static __device__ __forceinline__ float4 load4(const float *from) {
  return *reinterpret_cast<const float4 *>(from);
}

__global__ void __launch_bounds__(256, 2)
    matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
  __shared__ __align__(16) float shared_a[BK][BM];
  __shared__ __align__(16) float shared_b[BK][BN];
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = threadIdx.x / 16 * TM, col = threadIdx.x % 16 * TN;
  float sum[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) shared_a[i % BK][i / BK] = A[(row0 + i / BK) * K + k0 + i % BK];
    for (int i = threadIdx.x; i < BN * BK; i += 256) shared_b[i / BN][i % BN] = B[(k0 + i / BN) * N + col0 + i % BN];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      const float4 a4 = load4(&shared_a[k][row]), b4 = load4(&shared_b[k][col]);
      const float a[TM] = {a4.x, a4.y, a4.z, a4.w}, b[TN] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    *reinterpret_cast<float4 *>(&C[(row0 + row + i) * N + col0 + col]) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  }
}
