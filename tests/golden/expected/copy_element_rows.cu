// copy: element threads=256
// width=1001 height=7 depth=1 dtype=f32 pitched=true pitch_x=0 pitch_y=0
using index_t = int;
#define threads 256
#define rows ((index_t)(((long long)height) * ((long long)depth)))
using x_t = float;
#define x_pitch ((index_t)((((long long)width) + 128LL - 1) / 128LL * 128LL))
using y_t = float;
#define y_pitch ((index_t)((((long long)width) + 128LL - 1) / 128LL * 128LL))

#line 1 "templates/copy_element.cu"
// y = x, one element a thread: the simplest implementation. A warp's loads fall into as few 128-byte lines as there
// can be, but a thread has only one small access in flight, so that many threads are needed to keep the memory busy.

__global__ void __launch_bounds__(threads) copy_element(const x_t *__restrict__ x, y_t *__restrict__ y, index_t width, index_t height, index_t depth) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;



  if (i >= width * rows) return;
  const index_t row = i / width;
  const index_t col = i % width;
  y[row * y_pitch + col] = x[row * x_pitch + col];

}
