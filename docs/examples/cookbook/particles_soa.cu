// A thread loads a particle of 16 bytes at once; the stores of neighbouring threads lie side by side.
__global__ void aos_to_soa(${params}) {
  for (int k = 0; k < each; k++) {
    const int i = (blockIdx.x * each + k) * block_size + threadIdx.x;
    if (i >= n) return;
    const float4 one = reinterpret_cast<const float4 *>(particles)[i];
    fields(i, 0) = one.x;
    fields(i, 1) = one.y;
    fields(i, 2) = one.z;
    fields(i, 3) = one.w;
  }
}
