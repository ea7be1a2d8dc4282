// tensor: boxes threads=64
// rows=512 cols=1024
struct alignas(64) tensor_map { unsigned long long words[16]; };
#define threads 64
using sums_t = float;
#define sums_stride0 32

#line 1 "tests/configs/tensor.cu"
// What lies outside of the image comes as zeros.
__global__ void sum_boxes(const __grid_constant__ tensor_map x, sums_t *__restrict__ sums) {
  __shared__ alignas(128) float box[32][32];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned to = __cvta_generic_to_shared(box), barrier = __cvta_generic_to_shared(&arrived);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "n"(4096) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                 "l"(&x), "r"(barrier), "r"(blockIdx.x * 32), "r"(blockIdx.y * 32)
                 : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred done; wait: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra wait; }" ::"r"(barrier) : "memory");
  float sum = 0;
  for (int i = threadIdx.x; i < 32 * 32; i += threads) sum += box[i / 32][i % 32];
  for (int reach = 16; reach > 0; reach /= 2) sum += __shfl_down_sync(0xffffffffu, sum, reach);

  __shared__ float other;
  if (threadIdx.x == 32) other = sum;
  __syncthreads();
  sum += other;

  if (threadIdx.x == 0) sums[blockIdx.y * sums_stride0 + blockIdx.x] = sum;
}
