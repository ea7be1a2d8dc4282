// One thread goes through all of it in the outputs themselves, which are its own.
__global__ void fdtd_reference(${params}) {
  if (blockIdx.x + threadIdx.x > 0 || sample_count < 1) return;
  const int all = nx * ny;
  for (int e = 0; e < all; e++) {
    ex[e] = (double)(e / ny) * (e % ny + 1) / nx;
    ey[e] = (double)(e / ny) * (e % ny + 2) / ny;
    hz[e] = (double)(e / ny) * (e % ny + 3) / nx;
  }
  for (int now = 0; now < tmax; now++) {
    for (int e = 0; e < all; e++) ey[e] = e < ny ? (double)now : ey[e] - 0.5 * (hz[e] - hz[e - ny]);
    for (int e = 0; e < all; e++)
      if (e % ny > 0) ex[e] -= 0.5 * (hz[e] - hz[e - 1]);
    for (int e = 0; e < all - ny; e++)
      if (e % ny < ny - 1) hz[e] -= 0.7 * (ex[e + 1] - ex[e] + ey[e + ny] - ey[e]);
  }
}
