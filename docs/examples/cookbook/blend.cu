// Plain CUDA: nothing in this file is cugen's.
template <typename T, int Block, int Items, bool Streaming>
__global__ void blend(T *out, const T *a, const T *b, int n) {
#pragma unroll
  for (int k = 0; k < Items; k++) {
    const int i = (blockIdx.x * Items + k) * Block + threadIdx.x;
    if (i >= n) return;
    const T value = T(0.25) * a[i] + T(0.75) * b[i];
    if constexpr (Streaming)
      __stcs(out + i, value);
    else
      out[i] = value;
  }
}
