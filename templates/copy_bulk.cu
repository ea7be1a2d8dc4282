// y = x through shared memory by bulk copies: one thread of each block keeps a ring of `stages` pieces in flight, and
// the copy engine does the rest. These data pass through no registers, and a block needs hardly any instructions.
//
// A piece is at most `piece` bytes of one line. What bulk copies cannot move is moved element by element: the last
// bytes of a line (less than 16), and everything where a base or a pitch is no multiple of 16 bytes.

//@ include "lib/barrier.cuh"

// Starts a copy to shared memory, and arrives at the barrier, whose phase then lasts until the bytes have come.
__device__ __forceinline__ void bulk_load(void *to, const void *from, unsigned bytes, unsigned barrier) {
  barrier_expect(barrier, bytes);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
               : "memory");
}

__device__ __forceinline__ void bulk_store(void *to, const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
  bulk_commit();
}

// Waits until all of the thread's stores are complete, because shared memory ends with the block.
__device__ __forceinline__ void bulk_finish() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void __launch_bounds__(threads) copy_bulk(${params}) {
  __shared__ unsigned long long full[stages];
  const unsigned full_0 = shared_address(full);

//@ if packed then
  // The whole array is one line.
  const index_t length = width * rows;
  const index_t lines = 1;
  const long long x_line = 0;
  const long long y_line = 0;
//@ else
  const index_t length = width;
  const index_t lines = rows;
  const long long x_line = x_pitch * static_cast<long long>(sizeof(x_t));
  const long long y_line = y_pitch * static_cast<long long>(sizeof(y_t));
//@ end
  const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y) | static_cast<size_t>(x_line) |
                        static_cast<size_t>(y_line)) % 16 == 0;
  // The bytes of each line that bulk copies move.
  const long long body = aligned ? length * static_cast<long long>(sizeof(x_t)) / 16 * 16 : 0;
  const long long pieces_per_line = (body + (piece - 1)) / piece;
  const long long piece_count = pieces_per_line * lines;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) barrier_init(full_0 + s * 8, 1);
    barrier_fence_init();

    // This block's i-th piece is piece number blockIdx.x + i * gridDim.x, and goes through stage i % stages.
    const auto load = [&](long long number, int stage) {
      const long long line = ${packed and "0" or "number / pieces_per_line"};
      const long long at = ${packed and "number" or "number % pieces_per_line"} * piece;
      const unsigned bytes = body - at < piece ? static_cast<unsigned>(body - at) : piece;
      bulk_load(ring.at(stage, 0), reinterpret_cast<const unsigned char *>(x) + line * x_line + at, bytes,
                full_0 + stage * 8);
    };
    long long next = blockIdx.x;
    for (int s = 0; s < stages; ++s, next += gridDim.x) {
      if (next < piece_count) load(next, s);
    }

    int stage = 0;
    unsigned parity = 0;
    bool first = true;
    for (long long number = blockIdx.x; number < piece_count; number += gridDim.x) {
      const long long line = ${packed and "0" or "number / pieces_per_line"};
      const long long at = ${packed and "number" or "number % pieces_per_line"} * piece;
      const unsigned bytes = body - at < piece ? static_cast<unsigned>(body - at) : piece;
      barrier_wait(full_0 + stage * 8, parity);
      bulk_store(reinterpret_cast<unsigned char *>(y) + line * y_line + at, ring.at(stage, 0), bytes);
      // Refills the stage of the piece before, whose store had the time of this barrier's wait to read the stage.
      if (!first && next < piece_count) {
        bulk_wait_read<1>();
        load(next, stage == 0 ? stages - 1 : stage - 1);
        next += gridDim.x;
      }
      first = false;
      if (++stage == stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    bulk_finish();
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
