// One distance of one stage; each thread compares two keys. Blocks of 2^(stage + 1) keys rise and fall in turn.
__device__ void exchange_pair(int *keys, int n, int stage, int distance) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, apart = 1 << distance;
  const int low = 2 * apart * (t / apart) + t % apart, high = low + apart;
  if (high >= n) return;
  const bool rises = (low >> (stage + 1)) % 2 == 0;
  const int a = keys[low], b = keys[high];
  if (rises == (a > b)) keys[low] = b, keys[high] = a;
}

__global__ void exchange(int *keys, int n, int stage, int distance) { exchange_pair(keys, n, stage, distance); }

// The same, so that the entry has something to choose.
__global__ void exchange_too(int *keys, int n, int stage, int distance) { exchange_pair(keys, n, stage, distance); }

__global__ void copy(const int *given, int *keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) keys[i] = given[i];
}
