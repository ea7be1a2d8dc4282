/* api_kernel_check on kernels with one fault each, and on right kernels that resemble them. */
#include "api/check.h"
#include "kernels.h"
#include "tests/testing.h"

static const char config[] =
    "kernel 'planted' {\n"
    "  problem 'n' (64),\n"
    "  check { n = 64 },\n"
    "  input  'x' { dtype = 'f32', shape = { 'n' }, fill = 'ones' },\n"
    "  output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = '1e-6' },\n"
    "  scalar 'n' { dtype = 'i32' },\n"
    "  reference 'reference.cu',\n"
    "  implementation 'only' {\n"
    "    template 'planted.cu',\n"
    "    tunable 'threads' { 64 },\n"
    "    grid { 'ceil_div(n, 64)' }, block { 64 }, shared '256',\n"
    "  },\n"
    "}\n";

static const char reference[] = "__global__ void reference(${params}) {\n"
                                "  const long long i = blockIdx.x * 256ll + threadIdx.x;\n"
                                "  if (i < sample_count) y[i] = x[samples ? samples[i] : i];\n"
                                "}\n";

/* The body of a kernel that should copy x to y in blocks of 64 threads; line 3 of the template
   is its first. */
struct planted {
  const char *kind; /* NULL: the kernel is right */
  int line;
  const char *array, *body;
};

#define BARRIER "__syncthreads();\n"

static const struct planted planted[] = {
    {NULL, 0, "", "y[i] = x[i];"},
    {NULL, 0, "", "__shared__ float s[64];\ns[t] = x[i];\n" BARRIER "y[i] = s[63 - t] * 0 + s[t];"},
    {"race", 5, "s", "__shared__ float s[64];\ns[t] = x[i];\ny[i] = s[63 - t] * 0 + s[t];"},
    {"race", 6, "s",
     "__shared__ float s[64];\ns[t] = x[i];\n" BARRIER "s[t ^ 1] = s[t];\n" BARRIER "y[i] = s[t];"},
    {NULL, 0, "",
     "__shared__ float s[64];\ns[t] = x[i];\n__syncwarp();\ny[i] = s[t ^ 1] * 0 + s[t];"},
    {"race", 6, "s",
     "__shared__ float s[64];\ns[t] = x[i];\n__syncwarp();\ny[i] = s[t ^ 32] * 0 + s[t];"},
    /* A barrier of whole warps is not a barrier of the block. */
    {"race", 6, "s",
     "__shared__ float s[32];\nif (t < 32) s[t] = x[i];\n__syncwarp();\nif (t > 31) y[i] = x[i] + "
     "0 * s[t - 32];\n"
     "else y[i] = x[i];"},
    {"same value written", 3, "y", "y[i & ~1] = x[i];\n" BARRIER "y[i] = x[i];"},
    {"race", 3, "y", "y[i & ~1] = t;\n" BARRIER "y[i] = x[i];"},
    {"race", 3, "y", "y[i < 3 ? i : 3] = t < 60 ? 1 : t;\n" BARRIER "y[i] = x[i];"},
    /* Two threads write bytes of one word. */
    {"race", 4, "s",
     "__shared__ unsigned char s[64];\ns[t % 63] = t;\n" BARRIER "y[i] = x[i] + 0 * s[t];"},
    {NULL, 0, "",
     "__shared__ unsigned char s[64];\ns[t] = t;\n" BARRIER "y[i] = x[i] + 0 * s[63 - t];"},
    {"race", 5, "s",
     "__shared__ short s[64];\ns[t] = t;\nif (t == 40) s[0] = 3;\n" BARRIER
     "y[i] = x[i] + 0 * s[t];"},
    {"race", 5, "s",
     "__shared__ char s[64];\ns[t] = 1;\n__syncthreads(); if (t < 4 && s[t]) y[i] = 1; if (t == "
     "40) s[0] = 3;\n" BARRIER "y[i] = x[i];"},
    {NULL, 0, "",
     "__shared__ int s[64];\nif (t < 4) ((char *)s)[t] = 1;\n" BARRIER "s[t] = 5;\n" BARRIER
     "y[i] = x[i] + 0 * s[63 - t];"},
    /* One barrier of the source, in a function that is called twice. */
    {"barrier divergence", 5, "",
     "auto sync = []() __attribute__((noinline)) { __syncthreads(); };\nif (t < 32)\nsync(); "
     "else\nsync();\ny[i] = "
     "x[i];"},
    {NULL, 0, "",
     "auto sync = []() __attribute__((noinline)) { __syncthreads(); };\nfor (int k = 0; k < 5; "
     "k++) sync();\ny[i] = "
     "x[i];\nsync();"},
    /* The thread that writes waits for a thread that reads behind its flag, and reads last
       itself. */
    {"race", 8, "s",
     "__shared__ volatile int flag; __shared__ int s;\nif (!t) flag = 0, s = 1;\n" BARRIER
     "int v = 0;\nif (t == 0) { __threadfence_block(); flag = 1; v = s; }\nif (t == 40) { while "
     "(flag != 1) {} __threadfence_block(); v = s; s = 2; }\ny[i] = x[i] + (v > 999);"},
    {"race", 9, "s",
     "__shared__ volatile int a, b; __shared__ char s[4];\nif (!t) a = b = 0;\nif (t < 4) s[t] = "
     "1;\n" BARRIER
     "int v = 0; if (t == 62) { v = s[0]; a = 1; }\nif (t == 63) { while (a != 1) {} v = s[1]; b = "
     "1; }\nif (t == 40) { while (b != 1) {} v = s[0]; s[0] = 2; }\ny[i] = x[i] + (v > 99);"},
    /* A thread waits for another thread of the block, whichever of them runs first. */
    {NULL, 0, "",
     "__shared__ volatile int s;\nif (!t) s = 0;\n" BARRIER
     "if (t == 3) while (s != 5) {}\nif (t == 60) s = 5;\ny[i] = x[i];"},
    {NULL, 0, "",
     "__shared__ int s;\nif (!t) s = 0;\n" BARRIER
     "if (t == 3) while (atomicAdd(&s, 0) != 5) {}\nif (t == 60) atomicExch(&s, 5);\ny[i] = x[i];"},
    /* Only one thread uses what is read. */
    {"race", 5, "s",
     "__shared__ float s[2];\nfor (int k = 0; k < 4; k++) {\nif (t % 32 == 0) s[t / 32] = x[i] + "
     "k;\n" BARRIER "const float sum = s[0];\nif (t == 0) y[0] = sum;\n}\n" BARRIER "y[i] = x[i];"},
    {NULL, 0, "",
     "__shared__ float s[2];\nfor (int k = 0; k < 4; k++) {\nif (t % 32 == 0) s[t / 32] = x[i] + "
     "k;\n" BARRIER "const float sum = s[0];\nif (t == 0) y[0] = sum;\n" BARRIER "}\ny[i] = x[i];"},
    /* Copies that the compiler makes by builtins. */
    {"race", 5, "s",
     "__shared__ float s[66]; const float v[3] = {1.f * t, 2.f * t, 3.f * "
     "t};\n\n__builtin_memcpy(s + t, v, 12);\n" BARRIER "y[i] = x[i];"},
    {"race", 5, "s",
     "__shared__ float s[64];\nif (!t) __builtin_memcpy(s, x, n * 4);\ny[i] = s[t];"},
    {NULL, 0, "",
     "__shared__ float s[64];\nif (!t) __builtin_memcpy(s, x, n * 4);\n" BARRIER "y[i] = s[t];"},
    {NULL, 0, "",
     "float v[3];\n__builtin_memcpy(v, x + (t < 60 ? t : 0), 12);\ny[i] = x[i] + 0 * v[2];"},
    /* A variable of a type with a constructor: the compiler keeps a flag beside it that says
       whether the constructor ran. */
    {NULL, 0, "",
     "struct own { float f; own() = default; own(float v) : f(v) {} own(const own &o) : f(o.f) {} "
     "~own() = default; };\nstruct list { own v[3]; list() {} };\n__shared__ list "
     "s[64];\ns[t].v[1] = x[i];\n" BARRIER "y[i] = s[63 - t].v[1].f;"},
    /* Accesses at any distance from the array. */
    {"out of bounds", 6, "s",
     "__shared__ float s[64];\nfloat *p = s;\ny[i] = x[i];\np[t + 1000] = y[i];"},
    {"out of bounds", 6, "s",
     "__shared__ float s[64];\nfloat *p = s;\ny[i] = x[i];\np[t - 20000] = y[i];"},
    {"out of bounds", 5, "dynamic shared memory",
     "extern __shared__ float d[];\ny[i] = x[i];\nd[t + 200000] = y[i];"},
    {"too much shared memory", 4, "s",
     "__shared__ float s[12289];\ns[t] = x[i];\n" BARRIER "y[i] = s[t];"},
    {NULL, 0, "", "__shared__ float s[12288];\ns[t] = x[i];\n" BARRIER "y[i] = s[t];"},
    {"too much shared memory", 5, "r",
     "__shared__ float s[8192], r[8192];\ns[t] = x[i];\nr[t] = x[i];\n" BARRIER
     "y[i] = s[t] + 0 * r[t];"},
    {"out of bounds", 4, "", "y[i] = x[i];\nif (i == 3) *(int *)0 = 1;"},
    {"out of bounds", 4, "", "y[i] = x[i];\nif (i == 3) y[i] = ((volatile float *)0)[2];"},
    {NULL, 0, "",
     "__shared__ int s;\nif (!t) s = 0;\n" BARRIER "atomicAdd(&s, 1);\n" BARRIER
     "y[i] = x[i] + (s - 64);"},
    {"race", 6, "s",
     "__shared__ int s;\nif (!t) s = 0;\n" BARRIER "s += 1;\n" BARRIER "y[i] = x[i] + 0 * s;"},
    {"race", 5, "s",
     "__shared__ int s;\nif (!t) s = 0;\natomicAdd(&s, 1);\n" BARRIER "y[i] = x[i] + 0 * s;"},
    {NULL, 0, "",
     "__shared__ int s;\nif (!t) s = 0;\n" BARRIER
     "atomicAdd(&s, 1);\nif (!t) atomicAdd(&s, 1);\n" BARRIER "if (!t) s = 0;\n" BARRIER
     "atomicAdd(&s, 1);\n" BARRIER "y[i] = x[i] + 0 * s;"},
    {"race", 6, "s",
     "__shared__ int s;\nif (!t) s = 0;\n" BARRIER "atomicAdd(&s, 1);\ny[i] = x[i] + (s > 64);"},
    {"uninitialised read", 4, "s",
     "__shared__ float s[64];\ny[i] = x[i] + (s[t] > 2 ? 0 : 0) + 0 * s[t];"},
    {NULL, 0, "",
     "struct mark { char c; float f; };\n__shared__ mark s[64];\ns[t].c = 1;\ns[t].f = "
     "x[i];\n" BARRIER "mark own = s[t ^ 1];\ny[i] = own.f + 0 * own.c;"},
    {"uninitialised read", 7, "s",
     "struct mark { char c; float f; };\n__shared__ mark s[64];\ns[t].c = 1;\n" BARRIER
     "mark own = s[t ^ 1];\ny[i] = own.f > 100 ? 0 : x[i];"},
    /* Bytes that nobody wrote are not padding if a single word is read. */
    {"uninitialised read", 6, "s",
     "__shared__ int s[64];\n((char *)s)[4 * t] = 1;\n" BARRIER "y[i] = x[i] + (s[t] > 999);"},
    {"uninitialised read", 4, "h",
     "__shared__ int h[8];\natomicAdd(&h[t & 7], 1);\n" BARRIER "y[i] = x[i] + (h[t & 7] > 999);"},
    {NULL, 0, "",
     "__shared__ int h[8];\nif (t < 8) h[t] = 0;\n" BARRIER "atomicAdd(&h[t & 7], 1);\n" BARRIER
     "y[i] = x[i] + (h[t & 7] - 8);"},
    {"uninitialised read", 4, "dynamic shared memory",
     "extern __shared__ int d[];\natomicMax(d + t, 1);\ny[i] = x[i];"},
    {"uninitialised read", 4, "s",
     "__shared__ unsigned short s[2];\ns[0] = 0, atomicCAS(s + 1, (unsigned short)0, (unsigned "
     "short)1);\ny[i] = "
     "x[i];"},
    {NULL, 0, "",
     "__shared__ int h[8];\natomicExch(&h[t & 7], 0);\n" BARRIER
     "atomicAdd(&h[t & 7], 1);\n" BARRIER "y[i] = x[i] + (h[t & 7] - 8);"},
    {"uninitialised read", 3, "y", "atomicAdd(y + i, x[i]);"},
    {NULL, 0, "", "atomicExch(y + i, 0.0f);\n" BARRIER "atomicAdd(y + i, x[i]);"},
    {NULL, 0, "",
     "__shared__ int s[64];\nif (!t) memset(s, 0, sizeof s);\n" BARRIER "y[i] = x[i] + s[t];"},
    {NULL, 0, "",
     "__shared__ int s[64];\nmemset(s + t, 0, 4);\n" BARRIER "y[i] = x[i] + s[63 - t];"},
    {"race", 5, "s", "__shared__ int s[64];\nif (!t) memset(s, 0, n * 4);\ny[i] = x[i] + s[t];"},
    {"race", 4, "s", "__shared__ int s[64];\nmemset(s, 0, sizeof s);\ny[i] = x[i];"},
    {"out of bounds", 4, "s",
     "__shared__ int s[64];\nif (!t) memset(s + 1, 0, sizeof s);\ny[i] = x[i];"},
    {NULL, 0, "", "y[i] = x[i];\nmemset(y + n, 0, n - 64);\nmemcpy(y + n, x + n, n - 64);"},
    {NULL, 0, "",
     "__shared__ int s[64];\nif (!t) for (int k = 0; k < 64; k++) s[k] = 0;\n" BARRIER
     "y[i] = x[i] + s[t];"},
    {NULL, 0, "",
     "__shared__ float s[64];\nif (!t) memmove(s, x, 256);\n" BARRIER
     "if (!t) memmove(s, s + 1, 252);\n" BARRIER "y[i] = t ? s[t - 1] : x[i];"},
    {"race", 5, "s", "__shared__ float s[64];\nif (!t) memmove(s, x, 256);\ny[i] = s[t];"},
    {"uninitialised read", 4, "s",
     "__shared__ float s[64];\nif (!t) memmove(y, s, 256);\n" BARRIER "y[i] = x[i];"},
    {NULL, 0, "", "__shared__ float s[64];\nif (!t) memcpy(s, x, 256);\n" BARRIER "y[i] = s[t];"},
    {"race", 5, "s", "__shared__ float s[64];\nif (!t) memcpy(s, x, 256);\ny[i] = s[t];"},
    {"uninitialised read", 3, "y", "y[i] = y[i] > 3 ? x[i] + 1 : x[i];"},
    {"out of bounds", 3, "x", "y[i] = x[i] + (i == 63 ? 0 * x[i + 1] : 0);"},
    {"out of bounds", 4, "x", "y[i] = x[i];\nif (i == 0) y[i] += 0 * x[-1];"},
    {"out of bounds", 4, "y", "y[i] = x[i];\nif (i == 63) y[n + 5] = 1;"},
    {"index out of bounds", 5, "",
     "__shared__ float s[8][9];\ny[i] = x[i];\nif (t == 9) s[1][t] = y[i];"},
    {"out of bounds", 6, "s",
     "__shared__ float s[64];\nfloat *p = s;\ny[i] = x[i];\np[t + 1] = y[i];"},
    {"out of bounds", 5, "dynamic shared memory",
     "extern __shared__ float d[];\ny[i] = x[i];\nd[t + 1] = y[i];"},
    {NULL, 0, "", "__shared__ bool s;\nif (!t) s = x[i] > 0;\n" BARRIER "y[i] = s ? x[i] : 0;"},
    {"barrier divergence", 4, "", "y[i] = x[i];\nif (t < 32) " BARRIER "else\n__syncthreads();"},
    {"barrier divergence", 4, "",
     "y[i] = x[i];\nif (t < 32) __syncthreads(); else __syncthreads();"},
    {NULL, 0, "",
     "y[i] = x[i];\nif (t < 32) y[i] *= 1;\nelse y[i] += 0;\n__syncthreads(); __syncthreads();"},
    {"barrier after exit", 5, "", "y[i] = x[i];\nif (t == 5) return;\n__syncthreads();"},
    {NULL, 0, "", "y[i] = x[i] + 0 * __shfl_xor_sync(~0u, t, 1);"},
    {"absent lanes", 5, "",
     "y[i] = x[i];\nif (t == 5) return;\ny[i] += 0 * __shfl_xor_sync(~0u, t, 1);"},
    {"deadlock", 4, "",
     "y[i] = x[i];\nif (t != 5) y[i] += 0 * __shfl_xor_sync(~0u, t, 1);\n__syncthreads();"},
    {"absent lanes", 4, "",
     "y[i] = x[i];\nif (t % 32 < 16) y[i] += 0 * __shfl_xor_sync(~0u, t, 16);"},
    {NULL, 0, "",
     "y[i] = x[i];\nif (t % 32 < 16) return;\ny[i] += 0 * __shfl_xor_sync(~0u, t, 1);"},
    {NULL, 0, "", "y[i] = x[i];\nif (t % 32 > 16) return;\ny[i] += 0 * __ballot_sync(~0u, 1);"},
    {NULL, 0, "", "y[i] = x[i];\nif (t % 32 < 16) __syncwarp();"},
    {NULL, 0, "", "y[i] = x[i];\nif (t > 40) return;\n__syncwarp();"},
    {"absent lanes", 4, "",
     "y[i] = x[i];\nif (t % 32 < 16) y[i] += 0 * __shfl_down_sync(0xffff, y[i], 8);"},
    {NULL, 0, "",
     "y[i] = x[i];\nif (t % 32 < 16) y[i] += 0 * __shfl_down_sync(0xffff, y[i], 8, 16);"},
    {NULL, 0, "", "y[i] = x[i];\nif (t % 32 < 16) y[i] += 0 * __ballot_sync(~0u, 1);"},
    {"absent lanes", 4, "", "y[i] = x[i];\nif (t % 32 < 16) __syncwarp(0xffff0000);"},
    {"out of bounds", 4, "", "y[i] = x[i];\nif (i == 3) *(float *)(8ll * n / 64) = 1;"},
    {"trap", 4, "", "y[i] = x[i];\nif (i == 3) __trap();"},
    {"write to an input", 4, "x", "y[i] = x[i];\n((float *)x)[i] = 1;"},
    {"misaligned access", 5, "x",
     "y[i] = x[i];\nif (t < 15)\n*(float2 *)(y + 2 * t + 1) = *(const float2 *)(x + 2 * t + 1);"},
    {"misaligned access", 3, "x", "y[i] = x[i] + 0 * *(const double *)(x + (t < 62 ? t : 0));"},
    {"misaligned access", 4, "dynamic shared memory",
     "extern __shared__ char d[];\nif (t < 8) *(double *)(d + 8 * t + 4) = 1;\ny[i] = x[i];"},
    {"misaligned access", 4, "dynamic shared memory",
     "extern __shared__ char d[];\nif (t < 8) atomicExch((int *)(d + 4 * t + 2), 1);\ny[i] = "
     "x[i];"},
    {NULL, 0, "",
     "extern __shared__ float4 d[];\nif (t < 16) d[t] = ((const float4 *)x)[t];\n" BARRIER
     "y[i] = ((float *)d)[t];"},
    {NULL, 0, "", "float2 v;\nmemcpy(&v, x + (t < 63 ? t : 0), 8);\ny[i] = x[i] + 0 * v.x;"},
    {NULL, 0, "",
     "struct three { float a, b, c; };\nthree v = *(const three *)(x + (t < 60 ? t : 0));\ny[i] = "
     "x[i] + 0 * v.c;"},
    {NULL, 0, "",
     "struct two { double a, b; };\nif (t < 15) ((two *)(y + 2))[t] = ((const two *)(x + "
     "2))[t];\n" BARRIER "y[i] = x[i];"},
    {NULL, 0, "",
     "float v[2];\n*(float2 *)v = *(const float2 *)(x + t / 2 * 2);\ny[i] = v[t & 1];"},
    {"hang", 5, "",
     "y[i] = x[i];\n__shared__ int volatile s;\nwhile (t == 3 && s != 5) s = 4;\n__syncthreads();"},
    /* The time ends in a function without line numbers, which takes nearly all of it, and which
       returns or does not. */
    {"hang", 8, "",
     "auto spin = [](int n) __attribute__((noinline)) {\n#line 1 \"/kernel.cpp\"\nfor (int k = 0; "
     "k < n; k++) __asm__ volatile(\"\"); };\n#line 7 \"planted.cu\"\n__shared__ int volatile "
     "s;\nwhile (t == 3 && s != 5) spin(9999999), s = 4;\n" BARRIER "y[i] = x[i];"},
    {"hang", 8, "",
     "auto spin = [](int n) __attribute__((noinline)) {\n#line 1 \"/kernel.cpp\"\nfor (int k = 0; "
     "k < n; k++) while (k) __asm__ volatile(\"\"); };\n#line 7 \"planted.cu\"\n__shared__ int "
     "volatile s;\ns = 4; spin(s);\n" BARRIER "y[i] = x[i];"},
    {"hang", 4, "", "y[i] = x[i];\nfor (int k = t; t == 3; k++) __asm__ volatile(\"\");"},
    /* Two branches that access much of the same data. */
    {"uninitialised read", 5, "s",
     "__shared__ int s;\nif (t & 1) atomicAdd(&s, 1);\nelse atomicAdd(&s, 2);\ny[i] = x[i];"},
    {"uninitialised read", 7, "r",
     "__shared__ int s, r;\nif (t & 1) {\natomicMax(&s, 1);\n} else {\natomicMax(&r, 1);\n}\ny[i] "
     "= x[i];"},
    {"uninitialised read", 5, "s",
     "__shared__ int s;\nif (t > 3) { atomicAdd(&s, 1); y[i] = x[i]; return; }\natomicAdd(&s, 1); "
     "y[i] = x[i];"},
    {"out of bounds", 6, "y",
     "y[i] = x[i];\nif (t & 1) atomicExch(y + i + n, 1.0f);\nelse\natomicExch(y + i + n, 1.0f);"},
    {"out of bounds", 4, "", "y[i] = x[i];\natomicAdd((int *)(8ll * n / 64), 1);"},
    {"wrong result", 0, "", "y[i] = x[i] + 1;"},
};

#define EXPERIMENTAL "cuda::device::experimental::"
#define BULK_STORE(between, before)                                                                \
  "__shared__ __align__(16) float s[64];\n"                                                        \
  "const auto fence = [] { " EXPERIMENTAL "fence_proxy_async_shared_cta(); };\n"                   \
  "s[t] = x[i];\n" between "if (!t) { " before " " EXPERIMENTAL                                    \
  "cp_async_bulk_shared_to_global(y, s, 256); " EXPERIMENTAL                                       \
  "cp_async_bulk_commit_group(); " EXPERIMENTAL "cp_async_bulk_wait_group<0>(); }"
#define BULK_LOAD(between)                                                                         \
  "__shared__ __align__(16) float s[64];\n__shared__ cuda::barrier<cuda::thread_scope_block> b;\n" \
  "if (!t) {\ninit(&b, 1);\n" EXPERIMENTAL "cp_async_bulk_global_to_shared(s, x, 256, b);\n"       \
  "b.wait(cuda::device::barrier_arrive_tx(b, 1, 256));\n}\n" between "y[i] = s[t];"

/* Kernels with a declaration outside of the kernel, on line 1. The body begins on line 4. */
static const struct {
  const char *outside;
  struct planted planted;
} outer[] = {
    {"__shared__ float s[64];", {"race", 5, "s", "s[t] = x[i];\ny[i] = s[63 - t] * 0 + s[t];"}},
    {"__shared__ float s[64];",
     {NULL, 0, "", "s[t] = x[i];\n" BARRIER "y[i] = s[63 - t] * 0 + s[t];"}},
    {"namespace a { namespace { static __shared__ float s[64], r[64]; } } using namespace a;",
     {"race", 5, "r", "r[t] = s[t] = x[i];\ny[i] = r[63 - t] * 0 + s[t];"}},
    {"__shared__ float s[64]; static __device__ int z;",
     {NULL, 0, "", "s[t] = x[i];\n" BARRIER "y[i] = s[63 - t] + z;"}},
    {"__shared__ float s[64];",
     {"out of bounds", 5, "s", "float *p = s;\np[t + 300] = x[i];\ny[i] = x[i];"}},
    {"__device__ int z;", {"race", 4, "z", "z = t;\ny[i] = x[i];"}},
    {"static __device__ int z;", {"race", 4, "z", "z += t;\ny[i] = x[i];"}},
    {"__device__ int z;", {NULL, 0, "", "atomicAdd(&z, 1);\ny[i] = x[i];"}},
    {"__device__ int z[64];", {NULL, 0, "", "z[t] = t;\n" BARRIER "y[i] = x[i] + 0 * z[63 - t];"}},
    {"__device__ int z[64];",
     {"out of bounds", 4, "z", "int *p = z; p[t + 64] = 1;\ny[i] = x[i];"}},
    {"__constant__ float z[64];", {NULL, 0, "", "y[i] = x[i] + z[t];"}},
    {"__constant__ float z[64];", {"write to a constant", 4, "z", "z[t] = 1;\ny[i] = x[i];"}},
    {"static __constant__ float z[64];",
     {"write to a constant", 4, "z", "z[t] = 1;\ny[i] = x[i] + 0 * z[63 - t];"}},
    {"#include <cuda/atomic>",
     {NULL, 0, "",
      "__shared__ int s;\ncuda::atomic_ref<int> r(s);\nr.store(t);\nconst int v = r.load();\ny[i] "
      "= x[i] + 0 * v;"}},
    {"#include <cuda/atomic>",
     {"race", 7, "s",
      "__shared__ int s;\ncuda::atomic_ref<int> r(s);\nr.store(t);\nif (t == 40) s = t;\n" BARRIER
      "y[i] = x[i];"}},
    /* Before a bulk copy reads what threads wrote, either the writing thread or the copying
       thread must fence. */
    {"#include <cuda/barrier>", {NULL, 0, "", BULK_STORE("fence();\n" BARRIER, "")}},
    {"#include <cuda/barrier>", {NULL, 0, "", BULK_STORE(BARRIER, "fence();")}},
    {"#include <cuda/barrier>", {"missing fence", 8, "s", BULK_STORE(BARRIER, "")}},
    /* One thread waits for a bulk copy, and a barrier orders the other threads behind it. */
    {"#include <cuda/barrier>", {NULL, 0, "", BULK_LOAD(BARRIER)}},
    {"#include <cuda/barrier>", {"copy in flight", 11, "s", BULK_LOAD("")}},
    {"static __device__ const float z[2] = {0, 0};", {NULL, 0, "", "y[i] = x[i] + z[t & 1];"}},
    /* A using directive in a function leaves the kernel's body, with its PTX, a body. */
    {"namespace m { __device__ int q; } static __device__ int f() { using namespace m; return q; }",
     {NULL, 0, "",
      "int v;\nasm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(v));\n"
      "y[i] = x[i] + 0 * (v + f());"}},
    /* One line of a function writes two arrays. In one of them it writes the value that was
       there, which is a note. */
    {"static __device__ __noinline__ void put(float *p, float v) { p[0] = v; }",
     {"race", 1, "b",
      "__shared__ float a[4], b[4];\nput(a, 1);\nput(b, t);\n" BARRIER
      "y[i] = x[i] + 0 * (a[0] + b[0]);"}},
};

/* clang++ splits accesses that g++ leaves whole. */
static const struct planted whole[] = {
    /* clang++ does not distinguish calls on one line in two branches. */
    {"barrier divergence", 4, "",
     "auto sync = []() __attribute__((noinline)) { __syncthreads(); };\nif (t < 32) sync(); else "
     "sync();\ny[i] = "
     "x[i];"},
    /* The compiler knows that the access is aligned. */
    {"misaligned access", 6, "s",
     "__shared__ __align__(16) float s[64];\ns[t] = x[i];\n" BARRIER
     "y[i] = x[i] + 0 * (float)*(const double *)(s + 1 + 2 * (t % 16));"},
    {"misaligned access", 6, "s",
     "__shared__ char s[68];\ns[t] = 1;\n" BARRIER
     "y[i] = x[i] + 0.f * *(int *)(s + 1 + 4 * (t % 15));"},
    {NULL, 0, "",
     "__shared__ __align__(16) float s[64];\ns[t] = x[i];\n" BARRIER
     "double v;\nmemcpy(&v, s + 1 + 2 * (t % 16), 8);\ny[i] = x[i] + 0 * (float)v;"},
    {"misaligned access", 6, "x",
     "struct __align__(16) four { float a, b, c, d; };\ny[i] = x[i];\nif (t < 15)\n((four *)(y + "
     "2))[t] = ((const "
     "four *)(x + 2))[t];"},
    {"misaligned access", 5, "x",
     "y[i] = x[i];\nif (t < 15)\ny[i] += 0 * ((const float4 *)(x + 4 * t + 1))->w;"},
    {"misaligned access", 6, "s",
     "__shared__ float s[66];\ns[t] = x[i];\n" BARRIER
     "if (t < 32) *(float2 *)(s + 2 * t + 1) = {1, 1};\n" BARRIER "y[i] = x[i] + 0 * s[t];"},
    {"misaligned access", 5, "x",
     "y[i] = x[i];\nif (t < 15) {\nconst float4 v = ((const float4 *)(x + 2))[t];\ny[i] += 0 * "
     "(v.x + v.y + v.z + "
     "v.w);\n}"},
};

static const struct made_up made = {.name = "planted",
                                    .config = config,
                                    .reference = reference,
                                    .setting = "n=64",
                                    .head =
                                        "__global__ void planted(${params}) {\n"
                                        "const int t = threadIdx.x, i = blockIdx.x * 64 + t;\n"};

/* Returns whether the finding is at this line. Of two accesses that race, either may be
   described. */
static bool is_at(const cugen_check_finding *f, int line) {
  return f->line == line ||
         (f->other_line == line && strncmp(finding_name((int)f->kind), "race", 4) == 0);
}

static const cugen_check_finding *find(const cugen_check *check, const char *kind, int line) {
  for (size_t i = 0; i < check->finding_count; i++)
    if (strcmp(finding_name((int)check->findings[i].kind), kind) == 0 &&
        is_at(&check->findings[i], line))
      return &check->findings[i];
  return NULL;
}

static void print_all(const char *body, const cugen_check *check) {
  print_error("%s\n", body);
  for (size_t i = 0; i < check->finding_count; i++)
    print_error("  %s:%d: %s: %s\n", check->findings[i].file, check->findings[i].line,
                finding_name((int)check->findings[i].kind), check->findings[i].message);
  for (size_t i = 0; i < check->skip_count; i++)
    print_error("  not checked: %s\n", check->skips[i].why);
}

static bool check_one(cugen *lib, const struct made_up *made_up, const struct planted *p) {
  cugen_check_options options = {0};
  cugen_error error = {0};
  cugen_check check;
  CLOSED(cugen_kernel) *kernel = open_made_up(lib, made_up, p->body);
  options.variant = "only";
  options.strict = 1;
  options.timeout = p->kind && strcmp(p->kind, "hang") == 0 ? 1 : 60;
  int status = api_kernel_check(kernel, &options, &check, &error);
  const cugen_check_finding *found = p->kind ? find(&check, p->kind, p->line) : NULL;
  bool right = p->kind ? status == CUGEN_ERROR_WRONG && found && strcmp(found->array, p->array) == 0
                       : status == CUGEN_OK && check.finding_count == 0 && check.runs == 1;
  if (!right) print_error("wanted %s at %d\n", p->kind ? p->kind : "nothing", p->line);
  if (!right) print_all(p->body, &check);
  return right;
}

static bool is_clang(void) {
  const char *compiler = getenv("CUGEN_CXX");
  return compiler && strstr(compiler, "clang");
}

/* With clang++ every third: findings do not depend on the compiler, but on how it calls the hooks,
   which all kernels share. */
TEST(test_planted) {
  bool right = true;
  for (size_t i = 0; i < sizeof planted / sizeof *planted; i += is_clang() ? 3 : 1)
    right &= check_one(*state, &made, &planted[i]);
  assert_true(right);
}

TEST(test_outer) {
  bool right = true;
  for (size_t i = 0; i < sizeof outer / sizeof *outer; i += is_clang() ? 3 : 1) {
    FREED(text) head = {0};
    text_addf(&head, "%s\n%s", outer[i].outside, made.head);
    struct made_up own = made;
    own.head = text_get(&head);
    right &= check_one(*state, &own, &outer[i].planted);
  }
  assert_true(right);
}

TEST(test_whole) {
  bool right = true;
  if (is_clang()) {
    print_message("skipped: clang++ makes parts of what g++ leaves whole\n");
    skip();
  }
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    right &= check_one(*state, &made, &whole[i]);
  assert_true(right);
}

ALL_TESTS_WITH(open_library, close_library);
