/*
 * scale_add.cu - out = alpha * x + y
 */
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 64
#endif

#ifndef ITEMS
#define ITEMS 2 /* elements per thread */
#endif

#define CHUNK (BLOCK_SIZE * ITEMS)

static __device__ float fma_one(float a, float x, float y)
{
    return a * x + y;
}

__global__ void scale_add_kernel(float *out, const float *x, const float *y, float alpha, int n)
{
    int start = blockIdx.x * CHUNK + threadIdx.x;

#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int k = start + i * BLOCK_SIZE;
        if (k < n)
            out[k] = fma_one(alpha, x[k], y[k]);
    }
}
