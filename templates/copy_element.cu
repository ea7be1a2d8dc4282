// y = x, one element a thread: the simplest implementation. A warp's loads fall into as few 128-byte lines as there
// can be, but a thread has only one small access in flight, so that many threads are needed to keep the memory busy.

__global__ void __launch_bounds__(threads) copy_element(${params}) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
//@ if packed then
  if (i < width * rows) y[i] = x[i];
//@ else
  if (i >= width * rows) return;
  const index_t row = i / width;
  const index_t col = i % width;
  y[row * y_pitch + col] = x[row * x_pitch + col];
//@ end
}
