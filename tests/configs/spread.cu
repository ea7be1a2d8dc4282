__global__ void slowly(${params}) {
  __shared__ float line[64];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 64 + t;
  const bool last = blockIdx.x == gridDim.x - 1;
  const int another = gridDim.x / 2 * 64 + t; // of the block in the middle
  float sum = 0;
  line[t] = x[i];
  __syncthreads();
  for (int k = 0; k < 300; ++k) {
    sum += line[(t + k) % 64] * 0 + line[(t + 3 * k) % 64] * 0 + line[(t + 5 * k) % 64] * 0 + line[(t + 7 * k) % 64] * 0;
    sum += line[(t + 9 * k) % 64] * 0;
  }
//@ if how == "reads" then
  if (last) sum += z[another] * 0;
//@ elseif how == "writes" then
  if (last) z[another] = x[another];
//@ elseif how == "half" then
  if (last) reinterpret_cast<short *>(z)[2 * another] = 0;
//@ elseif how == "adds" then
  if (last) atomicAdd(total, 1);
//@ elseif how == "each_adds" then
  atomicAdd(total, 1);
//@ elseif how == "resets" then
  if (blockIdx.x == gridDim.x / 2) sum += total[0];
  if (last && t == 0) total[0] = 0;
//@ elseif how == "ends_not" then
  while (last && line[0] != 12345) line[0] = 0;
//@ end
  z[i] = line[t] + sum;
}

__global__ void copy(${params}) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = z[i];
//@ if how == "adds" or how == "each_adds" then
  if (i == 0) total[0] = 0;
//@ end
}
