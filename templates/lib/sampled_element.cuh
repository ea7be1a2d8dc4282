//@ -- In a reference: thread t computes `element` of the output, counted row by row, and stores it at [t].
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long element = samples ? samples[t] : t;
