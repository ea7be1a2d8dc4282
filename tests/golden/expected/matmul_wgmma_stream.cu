// matmul: wgmma_stream BM=128 BN=256 cluster_x=2 cluster_y=1 group=16 deferred=false aligned=true store_most=64
// M=512 N=512 K=32768 dtype=bf16 dtype_c=default layout_a=row layout_b=col layout_c=row pitched=false specialize=false fill=uniform batch=1 scaled=false biased=false activation=none
#include <cuda_bf16.h>

using index_t = int;
struct alignas(64) tensor_map { unsigned long long words[16]; };
#define BM 128
#define BN 256
#define cluster_x 2
#define cluster_y 1
#define group 16
using accumulator = float;
#define consumers 2
#define pingpong 0
#define store_buffers 1
#define cluster_size 2
#define threads 384
#define store_bytes 64
#define store_n 32
#define stages 4
#define wave 66
using A_t = __nv_bfloat16;
using C_t = __nv_bfloat16;
using workspace_t = float;
using tickets_t = unsigned int;

#line 1 "templates/matmul_wgmma.cu"
// C = A * B on Hopper's tensor cores (sm_90a). A persistent grid: every cluster of blocks computes tile after tile. In a
// block one thread, the producer, has the tensor memory accelerator bring tiles of the operands to a ring of stages in
// shared memory, and warpgroups, the consumers, multiply them by wgmma. Barriers say which stages are full and which are
// empty, so that loads are under way while products are, and while results are stored.
//
// C is computed by its lines. Those of a C that is stored by columns are its columns, and its transpose is the product
// of the operands' transposes the other way around: X is the operand whose lines are C's, Y the other one.
//
// Consumers share a tile's rows, or (pingpong) take tiles in turn, one storing while the other multiplies. The blocks of
// a cluster stand cluster_x by cluster_y by split_k: those that need the same part of an operand bring it once, a part
// each, for all (multicast); those along k add up their sums through each other's shared memory.
//
// Swapped, X and Y change roles: C's lines are the columns of the tile, of which there may be as few as 16, and each part
// is transposed on its way to C.
//
// Streaming, the tiles that do not fill a wave of clusters are shared: their steps along k are dealt out evenly, one tile's
// after the other's or (aligned) to as many clusters of each. A cluster's part of a tile goes to the workspace, and a
// second launch adds up each tile's parts, always in the same order.

#line 1 "templates/lib/tma.cuh"

// Hopper's tensor memory accelerator (compute capability 9.0): one thread asks, and boxes of a tensor travel between
// global and shared memory. What lies outside of the tensor reads as zero and is not written. Loads complete on an
// mbarrier, by the bytes that have arrived. PTX ISA, "cp.async.bulk.tensor", "Parallel Synchronization: mbarrier" and
// "barrier.cluster".
//
// cluster_size, of the template, is the number of blocks in a cluster.
//
// On the cpu device copies go on by themselves, too, and arrive as late as they may, so that a missing or wrong wait shows.

// Of a batch a tensor map has one more dimension, which counts the matrices: coordinates are then x, y and z.

#line 1 "templates/lib/barrier.cuh"

// Waiting at a barrier in shared memory that copies complete (compute capability 9.0). PTX ISA, "Parallel
// Synchronization: mbarrier".

__device__ __forceinline__ unsigned shared_address(const void *at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Until the phase with this parity is complete: 0, 1, 0 and so on. The phase before the first one counts as complete.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
#ifdef __CUGEN_CPU__
  cugen_own_hooks->async->mbarrier_wait(barrier, parity);
#else
  unsigned done;
  do {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  } while (!done);
#endif
}
#line 16 "templates/lib/tma.cuh"

#ifdef __CUGEN_CPU__

__device__ __forceinline__ int cluster_rank() {
  return static_cast<int>(cugen_own_builtins.cluster_rank);
}

__device__ __forceinline__ void cluster_sync() {
  if (cluster_size == 1) {
    __syncthreads();
  } else {
    cugen_own_hooks->async->cluster_barrier(CPU_CLUSTER_ARRIVE | CPU_CLUSTER_WAIT);
  }
}


__device__ __forceinline__ void cluster_start() {
  cluster_sync();
}


__device__ __forceinline__ unsigned address_in(int rank, unsigned address) {
  return cugen_own_hooks->async->map(address, rank);
}

__device__ __forceinline__ void launch_next() {}
__device__ __forceinline__ void wait_for_launch() {
  cugen_own_hooks->async->fence(CPU_FENCE_LAUNCH);
}

__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
  cugen_own_hooks->async->mbarrier_init(barrier, arrivals);
}

__device__ __forceinline__ void barrier_fence_init() {
  cugen_own_hooks->async->fence(CPU_FENCE_MBARRIER_INIT);
}

__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  cugen_own_hooks->async->mbarrier_arrive(barrier, bytes);
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier, int rank) {
  cugen_own_hooks->async->mbarrier_arrive(cluster_size == 1 ? barrier : address_in(rank, barrier), 0);
}

__device__ __forceinline__ void named_sync(int number, int threads_of_it) {
  cugen_own_hooks->async->named_barrier(number, threads_of_it, 1);
}

__device__ __forceinline__ void named_arrive(int number, int threads_of_it) {
  cugen_own_hooks->async->named_barrier(number, threads_of_it, 0);
}

__device__ __forceinline__ void tensor_prefetch(const tensor_map &) {}

__device__ __forceinline__ void tensor_load(unsigned to, const tensor_map &map, unsigned barrier, int x, int y) {
  const int at[] = {x, y};
  cugen_own_hooks->async->tensor_load(to, &map, barrier, at, 0);
}

__device__ __forceinline__ void tensor_multicast(unsigned to, const tensor_map &map, unsigned barrier, int x, int y,
                                                 unsigned short mask) {
  const int at[] = {x, y};
  cugen_own_hooks->async->tensor_load(to, &map, barrier, at, mask);
}

__device__ __forceinline__ void tensor_fence() {
  cugen_own_hooks->async->fence(CPU_FENCE_PROXY);
}

__device__ __forceinline__ void tensor_store(const tensor_map &map, unsigned from, int x, int y) {
  const int at[] = {x, y};
  cugen_own_hooks->async->tensor_store(&map, from, at);
  cugen_own_hooks->async->bulk_commit();
}

template <int Newest> __device__ __forceinline__ void tensor_store_wait() {
  cugen_own_hooks->async->bulk_wait(Newest);
}

// ---- Words in shared memory, by their address ----

template <typename T> __device__ __forceinline__ void store_words(unsigned to, T a, T b) {
  const T words[] = {a, b};
  *static_cast<uint2 *>(cugen_own_hooks->async->pointer(to)) = *reinterpret_cast<const uint2 *>(words);
}

template <typename T> __device__ __forceinline__ void store_words(unsigned to, T a, T b, T c, T d) {
  const T words[] = {a, b, c, d};
  *static_cast<uint4 *>(cugen_own_hooks->async->pointer(to)) = *reinterpret_cast<const uint4 *>(words);
}

template <typename T> __device__ __forceinline__ void load_words(unsigned from, T &a, T &b, T &c, T &d) {
  const uint4 words = *static_cast<const uint4 *>(cugen_own_hooks->async->pointer(from));
  memcpy(&a, &words.x, 4);
  memcpy(&b, &words.y, 4);
  memcpy(&c, &words.z, 4);
  memcpy(&d, &words.w, 4);
}

#else

// ---- Clusters ----

__device__ __forceinline__ int cluster_rank() {
  if (cluster_size == 1) return 0;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}

// Of all threads of all blocks of the cluster. What they wrote before is seen after.
__device__ __forceinline__ void cluster_sync() {
  if (cluster_size == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
  }
}


// The same where nothing but initialised barriers is to be seen, for which their own fence is enough: without another of the
// whole GPU a short product begins sooner.
__device__ __forceinline__ void cluster_start() {
  if (cluster_size == 1) {
    __syncthreads();
  } else {
    asm volatile("barrier.cluster.arrive.relaxed;\n"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
  }
}


// The address in that block's shared memory.
__device__ __forceinline__ unsigned address_in(int rank, unsigned address) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// ---- The launch before ----

// The next launch of the stream may take multiprocessors as they become free, as far as its own wait.
__device__ __forceinline__ void launch_next() {
  asm volatile("griddepcontrol.launch_dependents;");
}

// Until the launch before has ended, whose results are then seen. At once when there is none that was overtaken.
__device__ __forceinline__ void wait_for_launch() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// ---- Barriers, by their address ----

__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers known to the copy engine and to the cluster.
__device__ __forceinline__ void barrier_fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and has the phase last until so many bytes have come.
__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// At the barrier of that block. With .release.cluster the compiler would put a fence of the whole GPU in front, and
// there is nothing to release: what the arrival speaks of was read by wgmma, and waited for.
__device__ __forceinline__ void barrier_arrive(unsigned barrier, int rank) {
  if (cluster_size == 1) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
  } else {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_in(rank, barrier)) : "memory");
  }
}

// Barriers of some of the block's warps, by number: __syncthreads is number 0.
__device__ __forceinline__ void named_sync(int number, int threads_of_it) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads_of_it) : "memory");
}

__device__ __forceinline__ void named_arrive(int number, int threads_of_it) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads_of_it) : "memory");
}

// ---- Copies ----

__device__ __forceinline__ void tensor_prefetch(const tensor_map &map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The box that begins at (x, y), x along the contiguous dimension. The barrier counts its bytes.
__device__ __forceinline__ void tensor_load(unsigned to, const tensor_map &map, unsigned barrier, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(x), "r"(y)
               : "memory");
}

// To the same place in all blocks of the mask, each of whose barriers counts the bytes.
__device__ __forceinline__ void tensor_multicast(unsigned to, const tensor_map &map, unsigned barrier, int x, int y,
                                                 unsigned short mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(mask)
               : "memory");
}

// Ordinary stores to shared memory before this, and a barrier after it, are seen by the copy engine.
__device__ __forceinline__ void tensor_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void tensor_store(const tensor_map &map, unsigned from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(from), "r"(x), "r"(y)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until all but the thread's newest stores have been read from shared memory, whose place is then free.
template <int Newest> __device__ __forceinline__ void tensor_store_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Newest) : "memory");
}

// ---- Words in shared memory, by their address ----

__device__ __forceinline__ void store_words(unsigned to, unsigned a, unsigned b) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory");
}

__device__ __forceinline__ void store_words(unsigned to, float a, float b) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(a), "f"(b) : "memory");
}



__device__ __forceinline__ void store_words(unsigned to, float a, float b, float c, float d) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(a), "f"(b), "f"(c),
               "f"(d)
               : "memory");
}

// Of any block of the cluster.
__device__ __forceinline__ void load_words(unsigned from, float &a, float &b, float &c, float &d) {
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "r"(from)
               : "memory");
}
#line 259 "templates/lib/tma.cuh"
__device__ __forceinline__ void store_words(unsigned to, int a, int b, int c, int d) {
  asm volatile("st.shared.v4.s32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

// Of any block of the cluster.
__device__ __forceinline__ void load_words(unsigned from, int &a, int &b, int &c, int &d) {
  asm volatile("ld.shared::cluster.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(from)
               : "memory");
}


#endif
#line 1 "templates/lib/wgmma.cuh"

// Products of tiles in shared memory by a warpgroup, four warps: wgmma (sm_90a). PTX ISA, "Asynchronous Warpgroup Level
// Matrix Multiply-Accumulate Instructions".
//
// A tile of X has 64 rows, one of Y BN; k reaches 32 bytes far. The sums are 64 x BN, in registers: thread t has of row
// t / 32 * 16 + t % 32 / 4 + 8 h and of the columns 8 q + t % 4 * 2 and the next one the sums 4 q + 2 h and the next.

// A tile with 128-byte swizzle. Along k: lines of 128 bytes, 8 of them a group. Along the other dimension: parts of 64
// elements, `part` bytes apart, each with a line of 128 bytes for each k.
__device__ __forceinline__ unsigned long long tile_of(unsigned address, unsigned part) {
  return (address & 0x3ffff) >> 4 | static_cast<unsigned long long>(part >> 4) << 16 | 1024ull >> 4 << 32 | 1ull << 62;
}

#line 25 "templates/lib/wgmma.cuh"
#ifdef __CUGEN_CPU__

__device__ __forceinline__ void wgmma_fence() {
  cugen_own_hooks->async->wgmma_fence();
}

__device__ __forceinline__ void wgmma_commit() {
  cugen_own_hooks->async->wgmma_commit();
}

template <int Groups> __device__ __forceinline__ void wgmma_wait() {
  cugen_own_hooks->async->wgmma_wait(Groups);
}



__device__ __forceinline__ void wgmma(float (&sum)[BN / 2], unsigned long long x, unsigned long long y, bool add) {
  cugen_own_hooks->async->wgmma(CPU_BF16, BN, sum, x, y, (add ? CPU_WGMMA_ADD : 0));
}

// The lanes tell each other where their lines lie.
struct stmatrix_slot {
  unsigned line;
  unsigned of[32];

  static void exchange(void **slots, unsigned) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int l = 0; l < 32; ++l) {
        static_cast<stmatrix_slot *>(slots[lane])->of[l] = static_cast<const stmatrix_slot *>(slots[l])->line;
      }
    }
  }
  __device__ __forceinline__ explicit stmatrix_slot(unsigned own) : line(own) {
    assert(line % 16 == 0);
    cugen_own_hooks->warp(0xffffffffu, exchange, this);
  }
  template <typename T> __device__ __forceinline__ void put(int l, int element, T value) const {
    static_cast<T *>(cugen_own_hooks->async->pointer(of[l]))[element] = value;
  }
};

__device__ __forceinline__ void store_matrices(unsigned line, unsigned a, unsigned b, unsigned c, unsigned d) {
  const unsigned words[4] = {a, b, c, d};
  const stmatrix_slot slot(line);
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) slot.put(m * 8 + lane / 4, lane % 4, words[m]);
}

__device__ __forceinline__ void store_transposed(unsigned line, unsigned a, unsigned b, unsigned c, unsigned d) {
  const unsigned words[4] = {a, b, c, d};
  const stmatrix_slot slot(line);
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) {
    slot.put(m * 8 + lane % 4 * 2, lane / 4, static_cast<unsigned short>(words[m]));
    slot.put(m * 8 + lane % 4 * 2 + 1, lane / 4, static_cast<unsigned short>(words[m] >> 16));
  }
}

// The registers that a warpgroup has are no matter here.
template <int Count> __device__ __forceinline__ void fewer_registers() {}
template <int Count> __device__ __forceinline__ void more_registers() {}

#else

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until at most so many groups are on their way.
template <int Groups> __device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
}

// Adds the product to the sums, or sets them.
__device__ __forceinline__ void wgmma(float (&sum)[BN / 2], unsigned long long x, unsigned long long y, bool add) {
  asm volatile("{\n"
               ".reg .pred p;\n"
               "setp.ne.b32 p, %130, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
               "%128, %129, p, 1, 1, 0, 0;\n"
               "}"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]), "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]), "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]), "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]), "+f"(sum[49]), "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]), "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]), "+f"(sum[62]), "+f"(sum[63]), "+f"(sum[64]), "+f"(sum[65]), "+f"(sum[66]), "+f"(sum[67]), "+f"(sum[68]), "+f"(sum[69]), "+f"(sum[70]), "+f"(sum[71]), "+f"(sum[72]), "+f"(sum[73]), "+f"(sum[74]), "+f"(sum[75]), "+f"(sum[76]), "+f"(sum[77]), "+f"(sum[78]), "+f"(sum[79]), "+f"(sum[80]), "+f"(sum[81]), "+f"(sum[82]), "+f"(sum[83]), "+f"(sum[84]), "+f"(sum[85]), "+f"(sum[86]), "+f"(sum[87]), "+f"(sum[88]), "+f"(sum[89]), "+f"(sum[90]), "+f"(sum[91]), "+f"(sum[92]), "+f"(sum[93]), "+f"(sum[94]), "+f"(sum[95]), "+f"(sum[96]), "+f"(sum[97]), "+f"(sum[98]), "+f"(sum[99]), "+f"(sum[100]), "+f"(sum[101]), "+f"(sum[102]), "+f"(sum[103]), "+f"(sum[104]), "+f"(sum[105]), "+f"(sum[106]), "+f"(sum[107]), "+f"(sum[108]), "+f"(sum[109]), "+f"(sum[110]), "+f"(sum[111]), "+f"(sum[112]), "+f"(sum[113]), "+f"(sum[114]), "+f"(sum[115]), "+f"(sum[116]), "+f"(sum[117]), "+f"(sum[118]), "+f"(sum[119]), "+f"(sum[120]), "+f"(sum[121]), "+f"(sum[122]), "+f"(sum[123]), "+f"(sum[124]), "+f"(sum[125]), "+f"(sum[126]), "+f"(sum[127])
               : "l"(x), "l"(y), "r"(static_cast<int>(add)));
}

// Four 8 x 8 matrices of 2-byte elements, a line of each from eight lanes; word w of a lane is of matrix w.
__device__ __forceinline__ void store_matrices(unsigned line, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(line), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}
#line 130 "templates/lib/wgmma.cuh"

// Of the warpgroup's threads; what some give up others may take.
template <int Count> __device__ __forceinline__ void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

template <int Count> __device__ __forceinline__ void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

#endif
#line 1 "templates/lib/shares.cuh"

// Who computes what where the tiles are no whole number of waves of clusters: those that would not fill a wave, the first
// `tiles` of all, are shared out along k, `steps` of each; the whole ones come after them. `wave`, of the template, is the
// number of clusters that run at once.


// Each shared tile has as many clusters, which take its steps in turn. So all tiles are at the same k at about the same
// time, what is read lies side by side, and it comes from memory once.
struct sharing {
  int tiles, steps, clusters;

  __device__ __forceinline__ sharing(int all_tiles, int all_steps)
      : tiles(all_tiles % wave), steps(all_steps), clusters(wave / tiles) {}
  // The clusters that have parts of a tile.
  __device__ __forceinline__ int first_of(int tile) const { return tile * clusters; }
  __device__ __forceinline__ int last_of(int tile) const { return tile * clusters + clusters - 1; }
};

// What a block does next: `steps` along k of a tile, from `first` on, `apart` from each other.
struct work {
  int tile, first, steps, apart;
};

__device__ __forceinline__ work first_work(const sharing &shares, int cluster) {
  const int apart = shares.clusters, first = cluster % apart;
  if (cluster >= shares.tiles * apart) return {shares.tiles + cluster, 0, shares.steps, 1};
  return {cluster / apart, first, (shares.steps - first + apart - 1) / apart, apart};
}

__device__ __forceinline__ work next_work(const work &done, const sharing &shares, int cluster) {
  return {done.tile < shares.tiles ? shares.tiles + cluster : done.tile + wave, 0, shares.steps, 1};
}

#line 28 "templates/matmul_wgmma.cu"

constexpr int sharers = pingpong ? 1 : consumers;
constexpr int parts = BM / 64 / sharers;          // of 64 rows, for each consumer
constexpr int BK = 128 / sizeof(A_t);             // k of a stage
constexpr int tile_x_bytes = BM * 128, tile_y_bytes = BN * 128, stage_bytes = tile_x_bytes + tile_y_bytes;
constexpr int part_bytes = 64 * 128;              // of 64 rows along k, or of one BK x 64 elements
constexpr int producer_registers = consumers == 3 ? 32 : 40;
constexpr int consumer_registers = consumers == 3 ? 160 : 232;
// What a tile is advanced by for the next 32 bytes of k: the next elements, or the next lines.
constexpr int step_x = 32;
constexpr int step_y = 32;


// Where four sums of a thread lie in the workspace, which has a place for each cluster's part of a tile: from one part to
// the next, cluster or tile is a higher one, so that no two have the same sum. q counts 8 columns in a part of 64 rows.
__device__ __forceinline__ float4 *partial(accumulator *workspace, int cluster, int tile, int rank, int part, int q) {
  const size_t block = static_cast<size_t>(cluster + tile) * cluster_size + rank;
  return reinterpret_cast<float4 *>(workspace) + ((block * (BM / 64) + part) * (BN / 8) + q) * 128 + threadIdx.x % 128;
}


struct place {
  int x, y;
};

// The tile that a cluster takes as its number `index`; x and y count tiles of whole clusters. Numbered down `group` lines
// of tiles before moving on, tiles that are computed together share parts of both operands, which then come from the L2.
__device__ __forceinline__ place tile_at(int index, int tiles_x, int tiles_y) {
#line 62 "templates/matmul_wgmma.cu"
  const int all = group * tiles_y;
  const int first = index / all * group;
  const int lines = tiles_x - first < group ? tiles_x - first : group;
  const int within = index % all;
#line 88 "templates/matmul_wgmma.cu"
  return {first + within % lines, within / lines};

}

// Brings a tile of Rows rows from `first` on, or the block's share of it, for all blocks of the mask.
template <bool AlongK, int Rows, int Shares>
__device__ __forceinline__ void load_tile(unsigned to, const tensor_map &map, unsigned barrier, int k, int first,
                                          int share, unsigned short mask) {
  constexpr int boxes = AlongK ? 1 : Rows / 64;
#pragma unroll
  for (int box = 0; box < boxes; ++box) {
    const unsigned at = to + (AlongK ? share * (Rows / Shares * 128) : box * part_bytes + share * (part_bytes / Shares));
    const int x = AlongK ? k : first + box * 64;
    const int y = AlongK ? first + share * (Rows / Shares) : k + share * (BK / Shares);
    if (Shares == 1) {
      tensor_load(at, map, barrier, x, y);
    } else {
      tensor_multicast(at, map, barrier, x, y, mask);
    }
  }
}


__device__ __forceinline__ unsigned pack(float low, float high) {
  unsigned both;
#ifdef __CUGEN_CPU__
  const C_t parts_of_it[] = {static_cast<C_t>(low), static_cast<C_t>(high)};
  memcpy(&both, parts_of_it, sizeof both);
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#endif
  return both;
}


#line 129 "templates/matmul_wgmma.cu"
// Where a 16-byte piece of a line lies that the copy engine takes with store_bytes of swizzle.
__device__ __forceinline__ unsigned swizzled(int line, int piece) {
  const int exchange = store_bytes == 128 ? line % 8 : store_bytes == 64 ? line / 2 % 4 : line / 4 % 2;
  return static_cast<unsigned>(line * store_bytes + (piece ^ exchange) * 16);
}


__global__ void __launch_bounds__(threads, 1) __cluster_dims__(cluster_size, 1, 1)
    matmul_wgmma(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, const __grid_constant__ tensor_map C, index_t M, index_t N, index_t K, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const unsigned ring = shared_address(shared);
  const unsigned full_0 = shared_address(full), empty_0 = shared_address(empty);

  const int rank = cluster_rank();
  const int in_x = rank % cluster_x, in_y = rank / cluster_x % cluster_y, in_k = rank / (cluster_x * cluster_y);
  const int all_steps = static_cast<int>((K + (BK - 1)) / BK);
#line 153 "templates/matmul_wgmma.cu"
  const int tiles_x = static_cast<int>((M + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((N + (BN * cluster_y - 1)) / (BN * cluster_y));
  const int tiles = tiles_x * tiles_y;
  const int first_tile = blockIdx.x / cluster_size;




  const sharing shares(tiles, all_steps);


  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(full_0 + i * 8, 1);
      barrier_init(empty_0 + i * 8, sharers * cluster_x * cluster_y);
    }
    barrier_fence_init();
    tensor_prefetch(A);
    tensor_prefetch(B);
    tensor_prefetch(C);
  }
  launch_next();
  cluster_start();
  wait_for_launch();

  // The same in all lanes, and the compiler is to know it.
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
  if (warpgroup == 0) {

    fewer_registers<producer_registers>();

    if (threadIdx.x == 0) {
      unsigned short mask_x = 0, mask_y = 0;
      for (int i = 0; i < cluster_y; ++i) mask_x |= 1u << (in_x + cluster_x * i + cluster_x * cluster_y * in_k);
      for (int i = 0; i < cluster_x; ++i) mask_y |= 1u << (i + cluster_x * in_y + cluster_x * cluster_y * in_k);
      int stage = 0;
      unsigned phase = 1;

      for (work next = first_work(shares, first_tile); next.tile < tiles; next = next_work(next, shares, first_tile)) {
        const place tile = tile_at(next.tile, tiles_x, tiles_y);




        const int x0 = (tile.x * cluster_x + in_x) * BM, y0 = (tile.y * cluster_y + in_y) * BN;



        for (int step = next.first; step < next.first + next.steps * next.apart; step += next.apart) {
          const unsigned to = ring + stage * stage_bytes, barrier = full_0 + stage * 8;
          barrier_wait(empty_0 + stage * 8, phase);
          barrier_expect(barrier, stage_bytes);
          load_tile<1, BM, cluster_y>(to, A, barrier, step * BK, x0, in_y, mask_x);
          load_tile<1, BN, cluster_x>(to + tile_x_bytes, B, barrier, step * BK, y0, in_x, mask_y);
          if (++stage == stages) {
            stage = 0;
            phase ^= 1;
          }
        }
      }
    }



  } else {

    more_registers<consumer_registers>();

    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    const unsigned staging = ring + stages * stage_bytes + consumer * (store_buffers * 64 * store_bytes);
    const int own_rows = pingpong ? 0 : consumer * (parts * 64);
    // Thread i releases a stage in the i-th of the blocks that loaded parts of it.
    const auto release = [&](int at) {
      if (thread < cluster_x * cluster_y) barrier_arrive(empty_0 + at * 8, thread + cluster_x * cluster_y * in_k);
    };
    int stage = 0, buffer = 0, last = 0;
    unsigned phase = 0;
    float sum[parts][BN / 2];
    // Issues the products of a step along k; those of the step before are then done, and its stage may be loaded anew.
    const auto multiply = [&](bool first) {
      barrier_wait(full_0 + stage * 8, phase);
      const unsigned x = ring + stage * stage_bytes + own_rows * 128, y = ring + stage * stage_bytes + tile_x_bytes;
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const unsigned long long tile_y = tile_of(y + k * step_y, part_bytes);
#pragma unroll
        for (int i = 0; i < parts; ++i) {
          wgmma(sum[i], tile_of(x + i * part_bytes + k * step_x, part_bytes), tile_y, !first || k > 0);
        }
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (!first) release(last);
      last = stage;
      if (++stage == stages) {
        stage = 0;
        phase ^= 1;
      }
    };

#line 268 "templates/matmul_wgmma.cu"
    // The element of C that a thread's sum e of 8 columns gives; line and column are those of part and columns.
    const auto result_of = [&](float acc, int line, int column, int e) {
      line += warp * 16 + lane / 4 + e / 2 * 8;
      column += lane % 4 * 2 + e % 2;
      return static_cast<float>(([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((acc), (min(line, static_cast<int>(M) - 1)), (min(column, static_cast<int>(N) - 1)))));
    };
    // Stores store_n columns of 64 lines, from (line, column) on; word(w) is the thread's w-th, two results or one.
    const auto store = [&](int line, int column, auto word) {
      const unsigned to = staging + buffer * (64 * store_bytes);
      if (thread == 0) tensor_store_wait<store_buffers - 1>();
      named_sync(6 + consumer, 128);
#line 292 "templates/matmul_wgmma.cu"
#pragma unroll
      for (int w = 0; w < store_n / 4; w += 4) {
        store_matrices(to + swizzled(warp * 16 + lane % 16, w / 2 + lane / 16), word(w), word(w + 1), word(w + 2),
                       word(w + 3));
      }

      tensor_fence();
      named_sync(6 + consumer, 128);

      if (thread == 0) tensor_store(C, to, column, line);
      if (++buffer == store_buffers) buffer = 0;
    };

    constexpr int words = store_n * sizeof(C_t) / 8; // of a thread, in one store



    const auto keep_part = [&](int tile) {
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int q = 0; q < BN / 8; ++q) {
          *partial(workspace, first_tile, tile, rank, consumer * parts + i, q) =
              make_float4(sum[i][4 * q], sum[i][4 * q + 1], sum[i][4 * q + 2], sum[i][4 * q + 3]);
        }
      }
    };
#line 355 "templates/matmul_wgmma.cu"
    // Parts of shared tiles, then whole ones: all in one place, or ptxas would take the sums from one to the other while
    // products are under way, and make these serial.
    for (work next = first_work(shares, first_tile); next.tile < tiles; next = next_work(next, shares, first_tile)) {
      const int index = next.tile, steps = next.steps;
#line 364 "templates/matmul_wgmma.cu"
      const place tile = tile_at(index, tiles_x, tiles_y);
      const int x0 = (tile.x * cluster_x + in_x) * BM + own_rows, y0 = (tile.y * cluster_y + in_y) * BN;
#line 392 "templates/matmul_wgmma.cu"
#pragma unroll 1
      for (int step = 0; step < steps; ++step) multiply(step == 0);
#line 404 "templates/matmul_wgmma.cu"
      wgmma_wait<0>();
      release(last);






      if (index < shares.tiles) {
        keep_part(index);
        continue;
      }

      // Of the sums of 8 columns from 8 q on in a part: two neighbours as one word, or one.
#line 474 "templates/matmul_wgmma.cu"
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int c = 0; c < BN / store_n; ++c) {
          store(x0 + i * 64, y0 + c * store_n,
                [&](int w) { return pack(result_of(sum[i][2 * (c * words + w)], x0 + i * 64, y0 + (c * words + w) / 2 * 8, (c * words + w) % 2 * 2), result_of(sum[i][2 * (c * words + w) + 1], x0 + i * 64, y0 + (c * words + w) / 2 * 8, (c * words + w) % 2 * 2 + 1)); });
        }
      }

    }
#line 490 "templates/matmul_wgmma.cu"
    if (thread == 0) tensor_store_wait<0>();
  }

  cluster_sync(); // no block leaves while others arrive at its barriers or read its shared memory

}


// Adds up the parts of the shared tiles: a block has 64 lines of store_n columns, 128 of its threads 16 of these columns.
__global__ void __launch_bounds__(store_n * 8, 1) matmul_wgmma_sum(const __grid_constant__ tensor_map A, const __grid_constant__ tensor_map B, const __grid_constant__ tensor_map C, index_t M, index_t N, index_t K, workspace_t *__restrict__ workspace, tickets_t *__restrict__ tickets) {
  __shared__ __align__(1024) unsigned char staging[64 * store_bytes];
  launch_next();
  wait_for_launch();
  const int tiles_x = static_cast<int>((M + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((N + (BN * cluster_y - 1)) / (BN * cluster_y));
  const sharing shares(tiles_x * tiles_y, static_cast<int>((K + (BK - 1)) / BK));
  const int chunk = blockIdx.x % (BN / store_n), part = blockIdx.x / (BN / store_n) % (BM / 64);
  const int block = blockIdx.x / (BN / store_n * (BM / 64)), rank = block % cluster_size, index = block / cluster_size;
  if (index >= shares.tiles) return;
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, own = threadIdx.x / 128;
  const int last = shares.last_of(index);
  float sum[8] = {};
#pragma unroll 8
  for (int cluster = shares.first_of(index); cluster <= last; ++cluster) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const float4 four = *partial(workspace, cluster, index, rank, part, chunk * (store_n / 8) + own * 2 + q);
      sum[4 * q] += four.x;
      sum[4 * q + 1] += four.y;
      sum[4 * q + 2] += four.z;
      sum[4 * q + 3] += four.w;
    }
  }
  const place tile = tile_at(index, tiles_x, tiles_y);
  const int x0 = (tile.x * cluster_x + rank % cluster_x) * BM + part * 64;
  const int y0 = (tile.y * cluster_y + rank / cluster_x % cluster_y) * BN + chunk * store_n;
  const auto result_of = [&](int e) {
    const int line = x0 + warp * 16 + lane / 4 + e / 2 % 2 * 8;
    const int column = y0 + own * 16 + e / 4 * 8 + lane % 4 * 2 + e % 2;
    return static_cast<float>(([&](auto __v_acc, decltype(__v_acc) __v_m, decltype(__v_acc) __v_n) -> decltype(__v_acc) { return __v_acc; }((sum[e]), (min(line, static_cast<int>(M) - 1)), (min(column, static_cast<int>(N) - 1)))));
  };
  const unsigned to = shared_address(staging);
#line 539 "templates/matmul_wgmma.cu"
  store_matrices(to + swizzled(warp * 16 + lane % 16, own * 2 + lane / 16), pack(result_of(0), result_of(1)),
                 pack(result_of(2), result_of(3)), pack(result_of(4), result_of(5)), pack(result_of(6), result_of(7)));

  tensor_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_store(C, to, y0, x0);
    tensor_store_wait<0>();
  }
}
