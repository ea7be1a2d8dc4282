#!/bin/sh
# run_launches.sh BUILD: what a launch may be, on a GPU of compute capability 9.0: a cooperative launch, tuned, in a plan, in a graph and in
# a bundle; clusters of 8 and of 16 blocks; 64 and 128 KiB of static shared memory. Needs BUILD/cugen and a C compiler; every line
# that it prints ends with "right", or it fails.
set -e
[ $# = 1 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
cugen=$(cd "$1" && pwd)/cugen
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >grid.cu <<'END'
#include <cooperative_groups.h>
__global__ void grid(float *y, float *tmp, const float *x, int n) {
  const int step = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n; i += step) tmp[i] = 2 * x[i];
  cooperative_groups::this_grid().sync();
  for (int i = first; i < n; i += step) y[i] = tmp[n - 1 - i];
}
END
cat >grid_ref.cu <<'END'
__global__ void reference(${params}) {
  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t < sample_count) y[t] = 2 * x[n - 1 - (samples ? samples[t] : t)];
}
END
cat >grid.lua <<'END'
kernel "grid" {
  problem "n" (1000003), check { n = 2000 },
  output "y" { dtype = "f32", shape = { "n" } }, scratch "tmp" { dtype = "f32", shape = { "n" } },
  input "x" { dtype = "f32", shape = { "n" } }, scalar "n" { dtype = "i32" }, reference "grid_ref.cu",
  implementation "i" {
    template "grid.cu", tunable "threads" { 128, 256, 512 },
    launch { grid = { "min(ceil_div(n, threads), device.sm_count)" }, block = { "threads" }, cooperative = true },
  },
}
END
cat >cluster.cu <<'END'
__global__ void __cluster_dims__(blocks, 1, 1) cluster(float *y, const float *x, int n) {
  unsigned rank, size;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = size == blocks && rank == blockIdx.x % blocks ? 2 * x[i] : -1;
}
END
cat >twice_ref.cu <<'END'
__global__ void reference(${params}) {
  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t < sample_count) y[t] = 2 * x[samples ? samples[t] : t];
}
END
cat >cluster.lua <<'END'
kernel "cluster" {
  problem "n" (1000003), check { n = 5000 },
  output "y" { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n" } },
  scalar "n" { dtype = "i32" }, reference "twice_ref.cu",
  implementation "i" {
    template "cluster.cu", tunable "blocks" { 8, 16 },
    grid { "ceil_div(n, 128 * blocks) * blocks" }, block { 128 },
  },
}
END
cat >shared.cu <<'END'
__global__ void shared(float *y, const float *x, int n) {
  __shared__ float s[kib * 256];
  const int first = blockIdx.x * kib * 256;
  for (int i = threadIdx.x; i < kib * 256; i += 256) s[i] = first + i < n ? x[first + i] : 0;
  __syncthreads();
  for (int i = threadIdx.x; i < kib * 256; i += 256)
    if (first + i < n) y[first + i] = s[i] + s[(i ^ 1) ^ 1];
}
END
cat >shared.lua <<'END'
kernel "shared" {
  problem "n" (1000003), check { n = 50000 },
  output "y" { dtype = "f32", shape = { "n" } }, input "x" { dtype = "f32", shape = { "n" } },
  scalar "n" { dtype = "i32" }, reference "twice_ref.cu",
  implementation "i" {
    template "shared.cu", tunable "kib" { 64, 128 }, grid { "ceil_div(n, kib * 256)" }, block { 256 },
  },
}
END

# Every variant of a config comes out right.
tune() {
  name=$1; shift
  "$cugen" tune "$name.lua" --device cuda:0 --strategy exhaustive "$@" >"$name.txt" 2>&1 || { cat "$name.txt"; exit 1; }
  if grep -q '^Failed variants' "$name.txt"; then cat "$name.txt"; exit 1; fi
  sed -n 's/^ *[0-9][0-9]*  .*  \(i [a-z]*=[0-9]*\)$/\1/p' "$name.txt" | sort | while read -r variant; do echo "$name, $variant $*: right"; done
}

tune grid --cache grid.db
tune grid --cache none --measure graph
tune cluster --cache none
tune shared --cache none
"$cugen" run grid.lua --device cuda:0 --cache grid.db --set n=77777 >run.txt 2>&1 || { cat run.txt; exit 1; }
echo "grid in a plan, n=77777: right"
"$cugen" run grid.lua --device cuda:0 --cache grid.db --variant "i threads=512" --set n=1 >run.txt 2>&1 || { cat run.txt; exit 1; }

# The bundle, by its own code alone.
"$cugen" export grid.lua --cache grid.db -o bundle >export.txt 2>&1 || { cat export.txt; exit 1; }
cat >main.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "bundle/grid.h"
enum { N = 1000003 };
static float x[N], y[N];
int main(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = dlsym(cuda, "cuInit"), (*retain)(void **, int) = dlsym(cuda, "cuDevicePrimaryCtxRetain");
  int (*current)(void *) = dlsym(cuda, "cuCtxSetCurrent"), (*sync)(void) = dlsym(cuda, "cuCtxSynchronize");
  int (*alloc)(unsigned long long *, size_t) = dlsym(cuda, "cuMemAlloc_v2");
  int (*up)(unsigned long long, const void *, size_t) = dlsym(cuda, "cuMemcpyHtoD_v2");
  int (*down)(void *, unsigned long long, size_t) = dlsym(cuda, "cuMemcpyDtoH_v2");
  unsigned long long dx, dy, dt;
  void *context;
  for (int i = 0; i < N; i++) x[i] = (float)(i % 1000);
  if (init(0) || retain(&context, 0) || current(context) || alloc(&dx, sizeof x) || alloc(&dy, sizeof y) ||
      alloc(&dt, sizeof x) || up(dx, x, sizeof x))
    return puts("the driver refuses"), 1;
  grid_problem problem = GRID_PROBLEM_INIT;
  grid_library *library;
  grid_plan *plan = NULL;
  grid_call *call = NULL;
  grid_error error;
  void *arguments[GRID_ARGUMENTS] = {(void *)dy, (void *)dt, (void *)dx, NULL};
  int status = grid_open(NULL, &library, &error);
  if (!status) status = grid_pick(library, &problem, &plan, &error);
  if (!status) status = grid_bind(plan, arguments, GRID_ARGUMENTS, &call, &error);
  for (int i = 0; i < 3 && !status; i++) status = grid_launch(call, NULL, &error);
  if (status) return puts(error.message), 1;
  if (sync() || down(y, dy, sizeof y)) return puts("the launch failed"), 1;
  for (int i = 0; i < N; i++)
    if (y[i] != 2 * x[N - 1 - i]) return printf("wrong at %d: %g\n", i, y[i]), 1;
  grid_release(call);
  grid_drop(plan);
  grid_close(library);
  return 0;
}
END
cc -std=c11 -D_GNU_SOURCE -O2 -o main main.c bundle/grid.c -ldl
./main
echo "grid in a bundle: right"
