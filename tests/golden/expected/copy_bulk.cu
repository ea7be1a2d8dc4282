// copy: bulk piece=16384 stages=4 blocks_per_sm=1
// width=67108864 height=1 depth=1 dtype=f32 pitched=false pitch_x=0 pitch_y=0
using index_t = int;
#define piece 16384
#define stages 4
#define rows ((index_t)(((long long)height) * ((long long)depth)))
#define threads 128
using x_t = float;
using y_t = float;

#line 1 "templates/copy_bulk.cu"
// y = x through shared memory by bulk copies: one thread of each block keeps a ring of `stages` pieces in flight, and
// the copy engine does the rest. No data passes through registers, and a block needs hardly any instructions.
//
// A piece is at most `piece` bytes of one line. What bulk copies cannot move is moved element by element: the last
// bytes of a line (less than 16), and everything where a base or a pitch is no multiple of 16 bytes.

#line 1 "templates/lib/bulk.cuh"

// Bulk copies between global and shared memory (cp.async.bulk, compute capability 9.0): one thread asks, the copy
// engine moves a whole piece, and nobody's registers are touched. Addresses and sizes are multiples of 16 bytes. PTX
// ISA, "Data Movement and Conversion Instructions: cp.async.bulk" and "Parallel Synchronization: mbarrier".

typedef unsigned long long bulk_barrier;

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
#line 9 "templates/lib/bulk.cuh"

#ifdef __CUGEN_CPU__

__device__ __forceinline__ void bulk_init(bulk_barrier *barrier) {
  cugen_own_hooks->async->mbarrier_init(shared_address(barrier), 1);
}

__device__ __forceinline__ void bulk_fence_init() {
  cugen_own_hooks->async->fence(CPU_FENCE_PROXY);
}

__device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes, bulk_barrier *barrier) {
  cugen_own_hooks->async->mbarrier_arrive(shared_address(barrier), bytes);
  cugen_own_hooks->async->bulk_load(shared_address(to), from, bytes, shared_address(barrier));
}

struct bulk_stores {
  __device__ __forceinline__ void store(void *to, const void *from, unsigned bytes) {
    cugen_own_hooks->async->bulk_store(to, shared_address(from), bytes);
    cugen_own_hooks->async->bulk_commit();
  }
  template <int Newest> __device__ __forceinline__ void wait_read() {
    cugen_own_hooks->async->bulk_wait(Newest);
  }
  __device__ __forceinline__ void finish() {
    cugen_own_hooks->async->bulk_wait(0);
  }
};

#else

// One load completes a phase: its asker is the only one who arrives.
__device__ __forceinline__ void bulk_init(bulk_barrier *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

// Makes initialised barriers known to the copy engine.
__device__ __forceinline__ void bulk_fence_init() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes, bulk_barrier *barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

// The stores of the one thread that asks for them.
struct bulk_stores {
  __device__ __forceinline__ void store(void *to, const void *from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  // Until all but the newest ones have been read from shared memory, whose place is then free.
  template <int Newest> __device__ __forceinline__ void wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Newest) : "memory");
  }
  // Until all are complete: shared memory ends with the block.
  __device__ __forceinline__ void finish() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
};

#endif

// Waits for the load of the phase with this parity: 0, 1, 0 and so on.
__device__ __forceinline__ void bulk_wait(bulk_barrier *barrier, unsigned parity) {
  barrier_wait(shared_address(barrier), parity);
}
#line 8 "templates/copy_bulk.cu"

__global__ void __launch_bounds__(threads) copy_bulk(const x_t *__restrict__ x, y_t *__restrict__ y, index_t width, index_t height, index_t depth) {
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ bulk_barrier full[stages];


  // All of it is one line.
  const index_t length = width * rows;
  const index_t lines = 1;
  const long long x_line = 0;
  const long long y_line = 0;
#line 25 "templates/copy_bulk.cu"
  const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y) | static_cast<size_t>(x_line) |
                        static_cast<size_t>(y_line)) % 16 == 0;
  // Of each line, what bulk copies move.
  const long long body = aligned ? length * static_cast<long long>(sizeof(x_t)) / 16 * 16 : 0;
  const long long pieces_per_line = (body + (piece - 1)) / piece;
  const long long piece_count = pieces_per_line * lines;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) bulk_init(&full[s]);
    bulk_fence_init();

    // This block's i-th piece is piece number blockIdx.x + i * gridDim.x, and goes through stage i % stages.
    const auto load = [&](long long number, int stage) {
      const long long line = 0;
      const long long at = number * piece;
      const unsigned bytes = body - at < piece ? static_cast<unsigned>(body - at) : piece;
      bulk_load(ring + stage * piece, reinterpret_cast<const unsigned char *>(x) + line * x_line + at, bytes,
                &full[stage]);
    };
    bulk_stores stores;
    long long next = blockIdx.x;
    for (int s = 0; s < stages; ++s, next += gridDim.x) {
      if (next < piece_count) load(next, s);
    }

    int stage = 0;
    unsigned parity = 0;
    bool first = true;
    for (long long number = blockIdx.x; number < piece_count; number += gridDim.x) {
      const long long line = 0;
      const long long at = number * piece;
      const unsigned bytes = body - at < piece ? static_cast<unsigned>(body - at) : piece;
      bulk_wait(&full[stage], parity);
      stores.store(reinterpret_cast<unsigned char *>(y) + line * y_line + at, ring + stage * piece, bytes);
      // The stage of the piece before is filled again: its store has had the time of this wait.
      if (!first && next < piece_count) {
        stores.wait_read<1>();
        load(next, stage == 0 ? stages - 1 : stage - 1);
        next += gridDim.x;
      }
      first = false;
      if (++stage == stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    stores.finish();
  }

  const index_t moved = static_cast<index_t>(body / sizeof(x_t));
  const index_t rest = length - moved;
  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x; i < rest * lines; i += step) {
    const index_t line = i / rest;
    const index_t col = moved + i % rest;
    y[line * (y_line / static_cast<long long>(sizeof(y_t))) + col] =
        x[line * (x_line / static_cast<long long>(sizeof(x_t))) + col];
  }
}
