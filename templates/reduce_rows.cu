//@ include "lib/reduce.cuh"

// `lanes` threads of a warp combine each row. The row's elements before the first aligned pack and behind the last whole pack
// are taken one at a time.
__global__ void __launch_bounds__(threads) reduce(${params}) {
  const long long group = (static_cast<long long>(blockIdx.x) * threads + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  // All lanes of a warp take part in its exchanges, so threads without a row work on the last row again.
  const long long row = group < rows ? group : rows - 1;
  const x_t *from = x + row * cols;
  const int past = static_cast<int>(reinterpret_cast<size_t>(from) / sizeof(x_t) % vec);
  const long long head = past == 0 ? 0 : vec - past < cols ? vec - past : cols;
  const long long packs = (cols - head) / vec;
  pack_sums<vec> sums;
  sums.begin(nothing(static_cast<result>(from[0])));
#pragma unroll ${vec > 4 and 2 or 4}
  for (long long p = lane; p < packs; p += lanes) sums.take(load_pack<vec>(from + head + p * vec));
  for (long long i = lane; i < cols - packs * vec; i += lanes)
    sums.at[0] = merge(sums.at[0], static_cast<result>(from[i < head ? i : i + packs * vec]));
  const result sum = merge_lanes<lanes>(sums.all());
  if (lane == 0 && group < rows) y[row] = sum;
}
