// Copies that are not one packed stretch: pitched rows, pitched slices, a part of a symbol, an array for a texture.
// Each destination is filled from packed host memory and used by a kernel; the results are compared.
// Uses CUDA's runtime alone:
//   nvcc -o layouts layouts.cu && ./layouts
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t status = (call);                                                           \
    if (status != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

// Checks that a launch began, then that its kernel ended without an error.
#define CHECK_KERNEL()              \
  do {                              \
    CHECK(cudaGetLastError());      \
    CHECK(cudaDeviceSynchronize()); \
  } while (0)

static const int COLS = 15, ROWS = 20, PLANES = 3;
static const size_t ROW_BYTES = COLS * sizeof(float); // of a packed row

// Every element has a value of its own, so that a misplaced element is noticed.
static std::vector<float> numbered(size_t count) {
  std::vector<float> x(count);
  for (size_t i = 0; i < count; i++) x[i] = float(i);
  return x;
}

static bool doubled(const char *what, const std::vector<float> &x) {
  size_t wrong = 0;
  for (size_t i = 0; i < x.size(); i++) wrong += x[i] != 2 * float(i);
  printf("%-8s %zu of %zu wrong\n", what, wrong, x.size());
  return wrong == 0;
}

// ---- Rows ----

__global__ void double_rows(float *p, size_t pitch, int cols, int rows) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= cols || row >= rows) return;
  float *line = (float *)((char *)p + row * pitch); // the pitch is in bytes
  line[col] *= 2;
}

static bool try_rows() {
  const std::vector<float> sent = numbered(size_t(ROWS) * COLS);
  std::vector<float> back(sent.size());
  float *p;
  size_t pitch;
  CHECK(cudaMallocPitch(&p, &pitch, ROW_BYTES, ROWS)); // bytes of a row, then the number of rows
  printf("%d x %d floats: %zu bytes a row packed, %zu pitched\n", ROWS, COLS, ROW_BYTES, pitch);
  // to, its pitch, from, its pitch, bytes to copy of each row, rows; pitches in bytes
  CHECK(cudaMemcpy2D(p, pitch, sent.data(), ROW_BYTES, ROW_BYTES, ROWS, cudaMemcpyHostToDevice));
  double_rows<<<dim3((COLS + 31) / 32, (ROWS + 7) / 8), dim3(32, 8)>>>(p, pitch, COLS, ROWS);
  CHECK_KERNEL();
  CHECK(cudaMemcpy2D(back.data(), ROW_BYTES, p, pitch, ROW_BYTES, ROWS, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(p));
  return doubled("rows", back);
}

// ---- Slices of rows ----

__global__ void double_volume(cudaPitchedPtr p, cudaExtent size) { // size.width in bytes, as it was allocated
  const size_t col = threadIdx.x, row = blockIdx.x, plane = blockIdx.y;
  if (col >= size.width / sizeof(float)) return;
  float *line = (float *)((char *)p.ptr + (plane * size.height + row) * p.pitch);
  line[col] *= 2;
}

static bool try_volume() {
  const std::vector<float> sent = numbered(size_t(PLANES) * ROWS * COLS);
  std::vector<float> back(sent.size());
  const cudaExtent size = make_cudaExtent(ROW_BYTES, ROWS, PLANES); // bytes, rows, slices
  cudaPitchedPtr p;                                                 // address, pitch, and rows of a slice
  CHECK(cudaMalloc3D(&p, size));
  // The pitch of packed memory is a row's bytes. The last argument of make_cudaPitchedPtr is the rows of a slice.
  // From pitch and rows follows where a slice begins.
  cudaMemcpy3DParms to = {}, from = {}; // members that are not set are 0: copies begin at the first element
  to.srcPtr = make_cudaPitchedPtr((void *)sent.data(), ROW_BYTES, COLS, ROWS);
  to.dstPtr = p;
  to.extent = size; // width in bytes; in elements if one side is a CUDA array
  to.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&to));
  double_volume<<<dim3(ROWS, PLANES), 32>>>(p, size);
  CHECK_KERNEL();
  from.srcPtr = p;
  from.dstPtr = make_cudaPitchedPtr(back.data(), ROW_BYTES, COLS, ROWS);
  from.extent = size;
  from.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&from));
  CHECK(cudaFree(p.ptr));
  return doubled("slices", back);
}

// ---- Part of a symbol ----

__constant__ float factors[8];
__device__ float results[8];

__global__ void multiply_by_factors() {
  results[threadIdx.x] = float(threadIdx.x) * factors[threadIdx.x];
}

static bool try_symbols() {
  const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, twos[4] = {2, 2, 2, 2};
  float back[3];
  CHECK(cudaMemcpyToSymbol(factors, ones, sizeof ones)); // the symbol itself, not its address or its name as text
  // to, from, bytes, offset in bytes into the symbol: sets the last four
  CHECK(cudaMemcpyToSymbol(factors, twos, sizeof twos, 4 * sizeof *factors, cudaMemcpyHostToDevice));
  multiply_by_factors<<<1, 8>>>();
  CHECK_KERNEL();
  CHECK(cudaMemcpyFromSymbol(back, results, sizeof back, 3 * sizeof *results, cudaMemcpyDeviceToHost));
  const bool right = back[0] == 3 && back[1] == 4 * 2 && back[2] == 5 * 2;
  printf("%-8s %g %g %g\n", "symbols", back[0], back[1], back[2]);
  return right;
}

// ---- A CUDA array, read through a texture ----

// Adds an element and its left neighbour; for a row's first element, the texture clamps to the element itself.
__global__ void add_left(cudaTextureObject_t image, float *sums, int cols, int rows) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= cols || row >= rows) return;
  const float x = float(col) + 0.5f, y = float(row) + 0.5f; // the middle of a texel
  sums[row * cols + col] = tex2D<float>(image, x, y) + tex2D<float>(image, x - 1, y);
}

static cudaTextureObject_t texture_of(cudaArray_t array) {
  cudaResourceDesc what = {};
  cudaTextureDesc how = {};
  cudaTextureObject_t image;
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  CHECK(cudaCreateTextureObject(&image, &what, &how, nullptr));
  return image;
}

static bool try_array() {
  const std::vector<float> sent = numbered(size_t(ROWS) * COLS);
  std::vector<float> back(sent.size());
  const cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  float *sums;
  CHECK(cudaMallocArray(&array, &texel, COLS, ROWS)); // in elements; the driver decides their layout
  CHECK(cudaMalloc(&sums, back.size() * sizeof *sums));
  // to, first byte in a row, first row, from, its pitch, bytes to copy of each row, rows
  CHECK(cudaMemcpy2DToArray(array, 0, 0, sent.data(), ROW_BYTES, ROW_BYTES, ROWS, cudaMemcpyHostToDevice));
  cudaTextureObject_t image = texture_of(array);
  add_left<<<dim3((COLS + 31) / 32, (ROWS + 7) / 8), dim3(32, 8)>>>(image, sums, COLS, ROWS);
  CHECK_KERNEL();
  CHECK(cudaMemcpy(back.data(), sums, back.size() * sizeof *sums, cudaMemcpyDeviceToHost));
  CHECK(cudaDestroyTextureObject(image));
  CHECK(cudaFree(sums));
  CHECK(cudaFreeArray(array));
  // The left neighbour is less by one, but a row's first element was added to itself.
  for (size_t i = 0; i < back.size(); i++) back[i] += i % COLS ? 1 : 0;
  return doubled("texture", back);
}

int main() {
  bool right = try_rows();
  right = try_volume() && right;
  right = try_symbols() && right;
  right = try_array() && right;
  puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
