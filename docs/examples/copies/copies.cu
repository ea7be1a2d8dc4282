// Copies to the device, within the device and back. Checks every call and the data that come back, and times each copy. Uses CUDA's
// runtime alone:
//   nvcc -o copies copies.cu && ./copies
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t status = (call);                                                           \
    if (status != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

static const size_t BYTES = size_t(256) << 20;
static cudaEvent_t begin, end;

// Prints the rate of the fastest of eight copies, counting each byte once, although it is moved twice.
static void copy(const char *name, void *to, const void *from, cudaMemcpyKind kind) {
  float best = 0;
  for (int i = 0; i < 8; i++) {
    float ms;
    CHECK(cudaEventRecord(begin));
    CHECK(cudaMemcpyAsync(to, from, BYTES, kind));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i == 0 || ms < best) best = ms;
  }
  printf("%-24s %8.1f GB/s\n", name, double(BYTES) / best * 1e-6);
}

__global__ void add_one(unsigned *x, size_t n) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i]++;
}

int main() {
  const size_t n = BYTES / sizeof(unsigned);
  unsigned *host, *first, *second;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaMallocHost(&host, BYTES)); // pinned
  CHECK(cudaMalloc(&first, BYTES));    // bytes, not elements
  CHECK(cudaMalloc(&second, BYTES));
  for (size_t i = 0; i < n; i++) host[i] = unsigned(i);
  copy("host to device", first, host, cudaMemcpyHostToDevice);
  copy("device to device", second, first, cudaMemcpyDeviceToDevice);
  add_one<<<unsigned((n + 255) / 256), 256>>>(second, n);
  CHECK(cudaGetLastError());      // errors of the launch itself
  CHECK(cudaDeviceSynchronize()); // errors in the kernel
  copy("device to host", host, second, cudaMemcpyDeviceToHost);
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) wrong += host[i] != unsigned(i) + 1;
  printf("%s\n", wrong ? "wrong" : "right");
  CHECK(cudaFree(second));
  CHECK(cudaFree(first));
  CHECK(cudaFreeHost(host));
  return wrong != 0;
}
