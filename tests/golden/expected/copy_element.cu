// copy: element threads=256
// width=67108864 height=1 depth=1 dtype=f32 pitched=false pitch_x=0 pitch_y=0
using index_t = int;
#define threads 256
#define rows ((index_t)(((long long)height) * ((long long)depth)))
using x_t = float;
using y_t = float;

#line 1 "templates/copy_element.cu"
// y = x, one element a thread: the first rung of the ladder. A warp's loads fall into as few 128-byte lines as there
// can be, but a thread has only one small access in flight, so that many threads are needed to keep the memory busy.

__global__ void __launch_bounds__(threads) copy_element(const x_t *__restrict__ x, y_t *__restrict__ y, index_t width, index_t height, index_t depth) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;

  if (i < width * rows) y[i] = x[i];
#line 14 "templates/copy_element.cu"
}
