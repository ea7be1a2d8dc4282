__global__ void hotspot3d_reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long c = samples ? samples[t] : t, row = nx, plane = row * row;
  const long long z = c / plane, y = c / row % row, x = c % row;
  const double here = tIn[c], west = tIn[x ? c - 1 : c], east = tIn[x < nx - 1 ? c + 1 : c],
               north = tIn[y ? c - row : c], south = tIn[y < nx - 1 ? c + row : c], below = tIn[z ? c - plane : c],
               above = tIn[z < nz - 1 ? c + plane : c];
  tOut[t] = 0.35 * here + 0.1 * west + 0.1 * east + 0.15 * south + 0.15 * north + 0.05 * below + 0.05 * above +
            0.25 * p[c] + 0.05 * 80.0;
}
