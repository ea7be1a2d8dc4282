//@ if lie_in == "symbols" then
__constant__ const float *table;
__device__ float *data, *halves;
//@ end
struct Buffers {
  int n;
  float *data, *middle;
  const float *table;
};
__global__ void pointers(${params}) {
//@ if lie_in ~= "struct" then
  const Buffers s = {n, data, halves, table};
//@ end
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < s.n) s.middle[i] = s.data[i] / 2;
  if (i < s.n) s.data[i] = s.middle[i] + s.table[i % 16];
}
