// Computes all rounds of one element, on the cells on which the element depends.
__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t;
  const int row = e / n, col = e % n;
  constexpr int size = 2 * rounds + 1;
  double old[size][size], fresh[size][size];
  for (int r = 0; r < size; r++)
    for (int c = 0; c < size; c++) {
      const int i = row + r - rounds, j = col + c - rounds;
      old[r][c] = i >= 0 && i < n && j >= 0 && j < n ? first[(long long)i * n + j] : 0;
    }
  for (int round = 1; round <= rounds; round++) {
    for (int r = round; r < size - round; r++)
      for (int c = round; c < size - round; c++) {
        const int i = row + r - rounds, j = col + c - rounds;
        const double around = old[r - 1][c] + old[r + 1][c] + old[r][c - 1] + old[r][c + 1];
        const double next = old[r][c] + (double)0.1f * (around - 4 * old[r][c]);
        fresh[r][c] = i >= 0 && i < n && j >= 0 && j < n ? next : 0;
      }
    for (int r = round; r < size - round; r++)
      for (int c = round; c < size - round; c++) old[r][c] = fresh[r][c];
  }
  result[t] = old[rounds][rounds];
}
