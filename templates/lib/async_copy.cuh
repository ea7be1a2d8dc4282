// Copies from global to shared memory that go on while the thread computes (cp.async, sm_80 and later). A thread's
// copies between two commits are a group; wait<N> returns when all its groups but the N latest have arrived. Other
// threads see them after a barrier that follows the wait.
//
// Capacity  copies that a thread has on the way at most. Only the CPU needs to know: there a copy is made when it is
//           waited for, as late as a GPU may make it, so that a wait that is missing or too weak shows.
template <int Capacity> class async_copies {
#ifdef __CUGEN_CPU__
  struct copy {
    void *to;
    const void *from; // null: zeros
    size_t bytes;
    int of_group;
  };
  copy on_the_way[Capacity];
  int first = 0, count = 0, commits = 0;

  void add(void *to, const void *from, size_t bytes) {
    assert(count < Capacity);
    assert(reinterpret_cast<size_t>(to) % bytes == 0 && reinterpret_cast<size_t>(from) % bytes == 0);
    on_the_way[(first + count++) % Capacity] = {to, from, bytes, commits};
    if (from) cugen_note(from, bytes, CPU_ASYNC);
    cugen_note(to, bytes, CPU_WRITE | CPU_ASYNC);
  }

public:
  template <int Bytes> void start_if(bool wanted, void *to, const void *from) {
    if (wanted) add(to, from, Bytes);
  }
  template <int Bytes> void start_or_zero(bool inside, void *to, const void *from) {
    add(to, inside ? from : nullptr, Bytes);
  }
  void commit() { ++commits; }
  template <int Latest> void wait() {
    for (; count > 0 && on_the_way[first].of_group < commits - Latest; --count, first = (first + 1) % Capacity) {
      const copy &done = on_the_way[first];
      cugen_note_arrived(done.to, done.bytes);
      cugen_copy(done.to, done.from, done.bytes);
    }
  }
#else
  static __device__ __forceinline__ unsigned shared_address(void *to) {
    return static_cast<unsigned>(__cvta_generic_to_shared(to));
  }

public:
  // Bytes  4, 8 or 16; both addresses are multiples of it. 16 bytes go past the L1 cache.
  template <int Bytes> __device__ __forceinline__ void start_if(bool wanted, void *to, const void *from) {
    if (Bytes == 16) {
      asm volatile("{.reg .pred wanted; setp.ne.b32 wanted, %0, 0; @wanted cp.async.cg.shared.global [%1], [%2], 16;}" ::"r"(
                       static_cast<int>(wanted)),
                   "r"(shared_address(to)), "l"(from));
    } else {
      asm volatile("{.reg .pred wanted; setp.ne.b32 wanted, %0, 0; @wanted cp.async.ca.shared.global [%1], [%2], %3;}" ::"r"(
                       static_cast<int>(wanted)),
                   "r"(shared_address(to)), "l"(from), "n"(Bytes));
    }
  }
  // Copies if inside; otherwise stores zeros and does not read `from`.
  template <int Bytes> __device__ __forceinline__ void start_or_zero(bool inside, void *to, const void *from) {
    const int count = inside ? Bytes : 0;
    if (Bytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(count));
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(Bytes),
                   "r"(count));
    }
  }
  __device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
  template <int Latest> __device__ __forceinline__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Latest) : "memory");
  }
#endif
};
