// Heapsort by one thread, in the output itself.
__global__ void bitonic_reference(${params}) {
  if (blockIdx.x + threadIdx.x > 0 || sample_count < 1) return;
  for (long long i = 0; i < n; i++) keys[i] = given[i];
  for (long long size = n, root = n / 2; size > 1;) {
    if (root > 0) {
      root--;
    } else {
      const auto last = keys[--size];
      keys[size] = keys[0], keys[0] = last;
    }
    for (long long at = root, child; (child = 2 * at + 1) < size; at = child) {
      if (child + 1 < size && keys[child + 1] > keys[child]) child++;
      if (keys[at] >= keys[child]) break;
      const auto moved = keys[at];
      keys[at] = keys[child], keys[child] = moved;
    }
  }
}
