/* Part of cuda_shim.h: what a watched kernel reports. The compiler puts a call before each access to memory
   (-fsanitize=thread, but the functions are these and not libtsan's), and where an index leaves its array
   (-fsanitize=bounds). Nothing else of a kernel changes. */
/* clang-format off */

#ifdef CUGEN_WATCH
extern "C" __attribute__((__visibility__("default"))) const struct cpu_watch *cugen_watch;
const struct cpu_watch *cugen_watch;
extern "C" {
extern __attribute__((__visibility__("hidden"), __alias__("cugen_watch"))) const struct cpu_watch *cugen_own_watch;
/* Every object has these functions. Each is one call, which g++ takes long to optimise: a third of an empty kernel's compile. */
#ifdef __clang__ /* whose calls at a function's begin and end go in all the same, and from there lead here again: up to version 13 there are none */
#if __has_attribute(disable_sanitizer_instrumentation)
#define CUGEN_UNOPTIMISED noinline, __disable_sanitizer_instrumentation__
#define CUGEN_CALLS(...) __VA_ARGS__
#else
#define CUGEN_UNOPTIMISED noinline
#define CUGEN_CALLS(...)
#endif
#else
#define CUGEN_CALLS(...) __VA_ARGS__
#define CUGEN_UNOPTIMISED noinline, __optimize__("O0")
#endif
#define CUGEN_UNWATCHED __attribute__((CUGEN_UNOPTIMISED, __used__, __no_sanitize__("thread"), __visibility__("hidden")))
#define CUGEN_WATCHED(name, bytes, kind)                                                                               \
  CUGEN_UNWATCHED void __tsan_##name(void *at) { cugen_own_watch->access(at, bytes, kind, __builtin_return_address(0)); }
#define CUGEN_WATCHED_SIZE(bytes)                                                                                      \
  CUGEN_WATCHED(read##bytes, bytes, 0)                                                                                 \
  CUGEN_WATCHED(write##bytes, bytes, CPU_WRITE)                                                                        \
  CUGEN_WATCHED(unaligned_read##bytes, bytes, CPU_PACKED)                                                              \
  CUGEN_WATCHED(unaligned_write##bytes, bytes, CPU_WRITE | CPU_PACKED)                                                 \
  CUGEN_WATCHED(volatile_read##bytes, bytes, CPU_VOLATILE)                                                             \
  CUGEN_WATCHED(volatile_write##bytes, bytes, CPU_WRITE | CPU_VOLATILE)                                                \
  CUGEN_WATCHED(unaligned_volatile_read##bytes, bytes, CPU_VOLATILE | CPU_PACKED)                                      \
  CUGEN_WATCHED(unaligned_volatile_write##bytes, bytes, CPU_WRITE | CPU_VOLATILE | CPU_PACKED)
CUGEN_WATCHED_SIZE(1)
CUGEN_WATCHED_SIZE(2)
CUGEN_WATCHED_SIZE(4)
CUGEN_WATCHED_SIZE(8)
CUGEN_WATCHED_SIZE(16)
CUGEN_UNWATCHED void __tsan_read_range(void *at, unsigned long bytes) {
  cugen_own_watch->access(at, bytes, CPU_PACKED, __builtin_return_address(0));
}
CUGEN_UNWATCHED void __tsan_write_range(void *at, unsigned long bytes) {
  cugen_own_watch->access(at, bytes, CPU_WRITE | CPU_PACKED, __builtin_return_address(0));
}
/* The hidden pointer of an object with virtual functions, which its own thread writes. */
CUGEN_UNWATCHED void __tsan_vptr_update(void *, void *) {}
CUGEN_UNWATCHED void __tsan_vptr_read(void *) {}
CUGEN_UNWATCHED void __tsan_init() {}
CUGEN_UNWATCHED void __tsan_func_entry(void *caller) { CUGEN_CALLS(cugen_own_watch->enter(caller)); }
CUGEN_UNWATCHED void __tsan_func_exit() { CUGEN_CALLS(cugen_own_watch->leave()); }
#undef CUGEN_CALLS
/* Copies and fills of any length. clang++ calls these from its version 15 on, and before it memcpy, memmove and memset; so it
   does for loops that it makes one of. g++ would put moves in their place behind where it puts its calls: to it they are inline
   functions, but for copies of a word, which it makes accesses of. */
#define CUGEN_WATCHED_COPY(name)                                                                                       \
  CUGEN_UNWATCHED void *name(void *to, const void *from, size_t bytes) {                                               \
    if (bytes) cugen_own_watch->access(from, bytes, CPU_PACKED, __builtin_return_address(0));                          \
    if (bytes) cugen_own_watch->access(to, bytes, CPU_WRITE | CPU_PACKED, __builtin_return_address(0));                \
    return cugen_own_watch->move(to, from, bytes);                                                                     \
  }
#define CUGEN_WATCHED_FILL(name)                                                                                       \
  CUGEN_UNWATCHED void *name(void *to, int byte, size_t bytes) {                                                       \
    if (bytes) cugen_own_watch->access(to, bytes, CPU_WRITE | CPU_PACKED, __builtin_return_address(0));                \
    return cugen_own_watch->fill(to, byte, bytes);                                                                     \
  }
CUGEN_WATCHED_COPY(__tsan_memcpy)
CUGEN_WATCHED_COPY(__tsan_memmove)
CUGEN_WATCHED_FILL(__tsan_memset)
#ifdef __clang__
CUGEN_UNWATCHED void *cugen_memcpy(void *, const void *, size_t) __asm__("memcpy");
CUGEN_UNWATCHED void *cugen_memmove(void *, const void *, size_t) __asm__("memmove");
CUGEN_UNWATCHED void *cugen_memset(void *, int, size_t) __asm__("memset");
CUGEN_WATCHED_COPY(cugen_memcpy)
CUGEN_WATCHED_COPY(cugen_memmove)
CUGEN_WATCHED_FILL(cugen_memset)
#else
#define CUGEN_COPY(name)                                                                                               \
  extern __inline__ __attribute__((__always_inline__, __gnu_inline__, __artificial__)) void *name(                     \
      void *to, const void *from, size_t bytes) noexcept {                                                             \
    if (__builtin_constant_p(bytes) && bytes <= 16 && !(bytes & (bytes - 1))) return __builtin_##name(to, from, bytes); \
    return __tsan_##name(to, from, bytes);                                                                             \
  }
CUGEN_COPY(memcpy)
CUGEN_COPY(memmove)
#undef CUGEN_COPY
extern __inline__ __attribute__((__always_inline__, __gnu_inline__, __artificial__)) void *memset(
    void *to, int byte, size_t bytes) noexcept {
  return __tsan_memset(to, byte, bytes);
}
#endif
/* The compiler would make of these what it makes of a plain copy, behind where it puts its calls. */
#define __builtin_memcpy(...)  memcpy(__VA_ARGS__)
#define __builtin_memmove(...) memmove(__VA_ARGS__)
#define __builtin_memset(...)  memset(__VA_ARGS__)
#undef CUGEN_WATCHED_FILL
#undef CUGEN_WATCHED_COPY
#undef CUGEN_WATCHED_SIZE
#undef CUGEN_WATCHED

/* What -fsanitize=bounds and -fsanitize=alignment hand over: compiler-rt, lib/ubsan/ubsan_handlers.h and ubsan_value.h. */
struct cugen_type {
  unsigned short kind, info; /* of an integer: 1 when signed, plus twice the logarithm of its bits */
  char name[1];
};
struct cugen_line {
  const char *file;
  unsigned line, column;
};
struct cugen_bounds {
  cugen_line line;
  const cugen_type *array, *index;
};
struct cugen_mismatch {
  cugen_line line;
  const cugen_type *type;
  unsigned char log_multiple, use; /* use: 1 when it writes */
};
CUGEN_UNWATCHED void __ubsan_handle_type_mismatch_v1(const cugen_mismatch *what, const void *at) {
  cugen_own_watch->misaligned(what->type->name, at, 1ul << what->log_multiple, what->use == 1 ? CPU_WRITE : 0,
                              __builtin_return_address(0));
}
CUGEN_UNWATCHED void __ubsan_handle_out_of_bounds(const cugen_bounds *bounds, unsigned long index) {
  const int shift = 64 - (1 << (bounds->index->info >> 1));
  const bool negative = bounds->index->info & 1 && shift >= 0 && shift < 64;
  const long long value = negative ? (long long)(index << shift) >> shift : (long long)index;
  cugen_own_watch->index(bounds->array->name, value, __builtin_return_address(0));
}
}
#endif

/* For what reads and writes memory on behalf of an instruction of its own (atomics, cp.async, ldmatrix): it says what it
   does, then does it by functions that report nothing. In a kernel that is not watched they are plain accesses. */
CUGEN_INLINE void cugen_note(const void *at, size_t bytes, unsigned kind) {
#ifdef CUGEN_WATCH
  cugen_own_watch->access(at, bytes, kind, 0);
#endif
  (void)at, (void)bytes, (void)kind;
}
/* What was noted as CPU_WRITE | CPU_ASYNC is there now. */
CUGEN_INLINE void cugen_note_arrived(const void *at, size_t bytes) {
#ifdef CUGEN_WATCH
  cugen_own_watch->arrived(at, bytes, 0);
#endif
  (void)at, (void)bytes;
}
CUGEN_INLINE void cugen_note_fence(int device) {
#ifdef CUGEN_WATCH
  cugen_own_watch->fence(device);
#endif
  (void)device;
}
#ifdef CUGEN_WATCH
#define CUGEN_QUIET static __attribute__((CUGEN_UNOPTIMISED, __no_sanitize__("thread")))
#else
#define CUGEN_QUIET CUGEN_INLINE
#endif
template <class Value> CUGEN_QUIET Value cugen_peek(const Value *at) { return *at; }
template <class Value> CUGEN_QUIET void cugen_poke(Value *at, Value value) { *at = value; }
/* from null: zeros. */
CUGEN_QUIET void cugen_copy(void *to, const void *from, size_t bytes) {
#ifdef CUGEN_WATCH
  if (from) cugen_own_watch->move(to, from, bytes);
  else cugen_own_watch->fill(to, 0, bytes);
#else
  if (from) memmove(to, from, bytes);
  else memset(to, 0, bytes);
#endif
}
