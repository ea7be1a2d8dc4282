/* Part of cuda_shim.h: barriers and fences, and operations of a warp, most of them only for sources
   for which unit.c defines CUGEN_WARP. */
/* ---- Barriers and fences --------------------------------------------------------------------- */

/* Keeps clang from merging the calls of two barriers, which are told apart by their addresses. */
#ifdef __clang__
#define CUGEN_APART [[clang::nomerge]]
#else
#define CUGEN_APART
#endif
/* number: the barrier's number in the source, from 1; 0: none. */
CUGEN_INLINE int cugen_barrier(int kind, int p, int number = 0) {
  CUGEN_APART return cugen_own_hooks->barrier(kind | number * CPU_BARRIER_KINDS, p);
}
#ifdef CUGEN_WATCH
#define __syncthreads()          ((void)cugen_barrier(CPU_BARRIER_PLAIN, 0, __COUNTER__ + 1))
#define __syncthreads_count(...) cugen_barrier(CPU_BARRIER_COUNT, __VA_ARGS__, __COUNTER__ + 1)
#define __syncthreads_and(...)   cugen_barrier(CPU_BARRIER_AND, __VA_ARGS__, __COUNTER__ + 1)
#define __syncthreads_or(...)    cugen_barrier(CPU_BARRIER_OR, __VA_ARGS__, __COUNTER__ + 1)
#else
CUGEN_INLINE void __syncthreads() { cugen_barrier(CPU_BARRIER_PLAIN, 0); }
CUGEN_INLINE int __syncthreads_count(int p) { return cugen_barrier(CPU_BARRIER_COUNT, p); }
CUGEN_INLINE int __syncthreads_and(int p) { return cugen_barrier(CPU_BARRIER_AND, p); }
CUGEN_INLINE int __syncthreads_or(int p) { return cugen_barrier(CPU_BARRIER_OR, p); }
#endif
CUGEN_INLINE void __threadfence_block() {
  cugen_note_fence(0);
  __asm__ volatile("" ::: "memory");
}
CUGEN_INLINE void __threadfence() {
  cugen_note_fence(1);
  __asm__ volatile("" ::: "memory");
}
CUGEN_INLINE void __threadfence_system() { __threadfence(); }
CUGEN_INLINE void __nanosleep(unsigned) {}
/* __trap and __brkpt are macros, so that their messages name the line of the source. */
#define __trap()  cugen_own_hooks->trap(__FILE__ ":" CUGEN_TEXT(__LINE__) ": __trap() was called")
#define __brkpt() cugen_own_hooks->trap(__FILE__ ":" CUGEN_TEXT(__LINE__) ": __brkpt() was called")

/* ---- Warp operations: the lane that arrives last computes the results of all lanes ----------- */

#define CUGEN_LANES(lane, lanes)                                         \
  for (unsigned cugen_left = (lanes), lane;                              \
       cugen_left && (lane = (unsigned)__builtin_ctz(cugen_left), true); \
       cugen_left &= cugen_left - 1)

CUGEN_INLINE unsigned cugen_lane() { return cugen_own_builtins.linear % 32u; }
CUGEN_INLINE unsigned __activemask() { return cugen_own_hooks->active_mask(); }

static inline void cugen_combine_nothing(void **, unsigned) {}
CUGEN_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
  cugen_own_hooks->warp(mask, cugen_combine_nothing, 0);
}

#ifdef CUGEN_WARP
template <class Value> struct cugen_shuffle {
  Value value, result;
  unsigned source;
  /* CUDA leaves the value of a lane that has ended or is not in the mask undefined; here the
     reading lane gets its own value. */
  static void combine(void **slots, unsigned mask) {
    CUGEN_LANES(lane, mask) {
      cugen_shuffle *to = static_cast<cugen_shuffle *>(slots[lane]);
      const cugen_shuffle *from = static_cast<const cugen_shuffle *>(slots[to->source]);
      to->result = from ? from->value : to->value;
    }
  }
  CUGEN_INLINE Value run(unsigned mask, Value value, unsigned source) {
    cugen_shuffle slot = {value, value, source};
    [[maybe_unused]] const unsigned came = cugen_own_hooks->warp(mask, combine, &slot);
#ifdef CUGEN_WATCH
    if (!(came >> source & 1)) cugen_own_watch->lane(mask, source);
#endif
    return slot.result;
  }
};

/* Segments of `width` lanes (PTX ISA, shfl.sync). __shfl_sync takes its source modulo `width`. For
   up and down a source outside of the segment means the lane itself, for xor a source in a later
   segment. */
template <class Value>
CUGEN_INLINE Value __shfl_sync(unsigned mask, Value value, int source, int width = 32) {
  const unsigned lane = cugen_lane(), last = (unsigned)width - 1;
  return cugen_shuffle<Value>::run(mask, value, (lane & ~last) | ((unsigned)source & last));
}
template <class Value>
CUGEN_INLINE Value __shfl_up_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cugen_lane(), within = lane & ((unsigned)width - 1);
  return cugen_shuffle<Value>::run(mask, value, within >= delta ? lane - delta : lane);
}
template <class Value>
CUGEN_INLINE Value __shfl_down_sync(unsigned mask, Value value, unsigned delta, int width = 32) {
  const unsigned lane = cugen_lane(), within = lane & ((unsigned)width - 1);
  return cugen_shuffle<Value>::run(mask, value,
                                   delta < (unsigned)width - within ? lane + delta : lane);
}
template <class Value>
CUGEN_INLINE Value __shfl_xor_sync(unsigned mask, Value value, int bits, int width = 32) {
  const unsigned lane = cugen_lane(), other = (lane ^ (unsigned)bits) & 31u;
  return cugen_shuffle<Value>::run(mask, value,
                                   other <= (lane | ((unsigned)width - 1)) ? other : lane);
}

template <class Value, Value (*join)(Value, Value)> struct cugen_fold {
  Value value, result;
  static void combine(void **slots, unsigned mask) {
    Value all = static_cast<cugen_fold *>(slots[__builtin_ctz(mask)])->value;
    CUGEN_LANES(lane, mask & (mask - 1))
    all = join(all, static_cast<cugen_fold *>(slots[lane])->value);
    CUGEN_LANES(lane, mask) static_cast<cugen_fold *>(slots[lane])->result = all;
  }
  CUGEN_INLINE Value run(unsigned mask, Value value) {
    cugen_fold slot = {value, value};
    cugen_own_hooks->warp(mask, combine, &slot);
    return slot.result;
  }
};
#define CUGEN_JOIN(name, expression) \
  template <class Value> CUGEN_INLINE Value cugen_##name(Value a, Value b) { return expression; }
CUGEN_JOIN(add, a + b)
CUGEN_JOIN(min, b < a ? b : a)
CUGEN_JOIN(max, a < b ? b : a)
CUGEN_JOIN(and, a &b)
CUGEN_JOIN(or, a | b)
CUGEN_JOIN(xor, a ^ b)
#undef CUGEN_JOIN

#define CUGEN_REDUCE(name, type)                                        \
  CUGEN_INLINE type __reduce_##name##_sync(unsigned mask, type value) { \
    return cugen_fold<type, cugen_##name<type>>::run(mask, value);      \
  }
CUGEN_REDUCE(add, unsigned)
CUGEN_REDUCE(add, int)
CUGEN_REDUCE(min, unsigned)
CUGEN_REDUCE(min, int)
CUGEN_REDUCE(max, unsigned)
CUGEN_REDUCE(max, int)
CUGEN_REDUCE(and, unsigned)
CUGEN_REDUCE(or, unsigned)
CUGEN_REDUCE(xor, unsigned)
#undef CUGEN_REDUCE

CUGEN_INLINE unsigned __ballot_sync(unsigned mask, int p) {
  return cugen_fold<unsigned, cugen_or<unsigned>>::run(mask, p ? 1u << cugen_lane() : 0u);
}
CUGEN_INLINE int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
CUGEN_INLINE int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }

template <class Value> struct cugen_match {
  Value value;
  unsigned equal, all;
  static void combine(void **slots, unsigned mask) {
    CUGEN_LANES(lane, mask) {
      cugen_match *self = static_cast<cugen_match *>(slots[lane]);
      self->all = mask;
      CUGEN_LANES(other, mask) if (static_cast<cugen_match *>(slots[other])->value == self->value) {
        self->equal |= 1u << other;
      }
    }
  }
};
template <class Value> CUGEN_INLINE unsigned __match_any_sync(unsigned mask, Value value) {
  cugen_match<Value> slot = {value, 0, 0};
  cugen_own_hooks->warp(mask, cugen_match<Value>::combine, &slot);
  return slot.equal;
}
template <class Value> CUGEN_INLINE unsigned __match_all_sync(unsigned mask, Value value, int *p) {
  cugen_match<Value> slot = {value, 0, 0};
  cugen_own_hooks->warp(mask, cugen_match<Value>::combine, &slot);
  *p = slot.equal == slot.all;
  return *p ? slot.all : 0;
}
#endif
