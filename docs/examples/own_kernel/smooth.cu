/*
 * smooth.cu - one step of 1D smoothing:
 *   out[i] = centre * in[i] + (1 - centre) / 2 * (in[i-1] + in[i+1])
 * The ends are repeated. nvcc -DBLOCK=... -DPER_THREAD=... -DUSE_SHARED=0|1
 */
#ifndef BLOCK
#define BLOCK 128
#endif

#ifndef PER_THREAD
#define PER_THREAD 2
#endif

#ifndef USE_SHARED
#define USE_SHARED 1
#endif

#define TILE (BLOCK * PER_THREAD)
#define CLAMP(i, n) ((i) < 0 ? 0 : (i) >= (n) ? (n) - 1 : (i))

__global__ void smooth(float *out, const float *in, float centre, int n)
{
    const float side = (1.0f - centre) / 2.0f;
    const int base = blockIdx.x * TILE;

#if USE_SHARED
    __shared__ float s[TILE + 2];
    for (int i = threadIdx.x; i < TILE + 2; i += BLOCK)
        s[i] = in[CLAMP(base + i - 1, n)];
    __syncthreads();
#define AT(i) s[(i) - base + 1]
#else
#define AT(i) in[CLAMP(i, n)]
#endif

#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = base + threadIdx.x + j * BLOCK;
        if (i < n)
            out[i] = centre * AT(i) + side * (AT(i - 1) + AT(i + 1));
    }
}
