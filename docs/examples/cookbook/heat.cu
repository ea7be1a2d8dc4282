// A block loads its tile with a border of `depth` cells and makes `now` rounds, at most `depth`; each
// round computes one ring of cells less.
__device__ bool inside(int row, int col, int n) {
  return row >= 0 && row < n && col >= 0 && col < n;
}

__global__ void heat(const float *from, float *to, int n, int now) {
  __shared__ float part[2][side][side];
  const int row0 = blockIdx.y * tile - depth, col0 = blockIdx.x * tile - depth;
  for (int i = threadIdx.x; i < side * side; i += threads) {
    const int row = row0 + i / side, col = col0 + i % side;
    part[0][i / side][i % side] = inside(row, col, n) ? from[row * n + col] : 0;
  }
  for (int round = 0; round < now; round++) {
    __syncthreads();
    const auto &old = part[round % 2];
    for (int i = threadIdx.x; i < side * side; i += threads) {
      const int r = i / side, c = i % side;
      if (r <= round || c <= round || r >= side - 1 - round || c >= side - 1 - round) continue;
      const float around = old[r - 1][c] + old[r + 1][c] + old[r][c - 1] + old[r][c + 1];
      const float fresh = old[r][c] + 0.1f * (around - 4 * old[r][c]);
      part[(round + 1) % 2][r][c] = inside(row0 + r, col0 + c, n) ? fresh : 0;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < tile * tile; i += threads) {
    const int r = depth + i / tile, c = depth + i % tile;
    if (inside(row0 + r, col0 + c, n)) to[(row0 + r) * n + col0 + c] = part[now % 2][r][c];
  }
}
