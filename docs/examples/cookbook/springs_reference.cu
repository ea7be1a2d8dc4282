// Computes all rounds of one element.
__global__ void reference(${params}) {
  const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  double place = x[i], speed = v[i];
  for (int step = 0; step < rounds; step++) {
    speed += (double)dt * (sin(step * 0.01) - place);
    place += (double)dt * speed;
  }
  x[i] = place, v[i] = speed;
}
