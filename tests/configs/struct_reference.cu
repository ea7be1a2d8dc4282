struct Params {
  signed char k;
  double scale;
  float dt;
  unsigned short step;
  int n;
  unsigned char last;
};
__global__ void reference(${params}) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long i = samples ? samples[t] : t;
  y[t] = static_cast<double>(x[i]) * p.dt;
}
