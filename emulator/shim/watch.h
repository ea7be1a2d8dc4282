/* Part of cuda_shim.h: the reports of a watched kernel. The compiler puts calls before accesses to
   memory (-fsanitize=thread, with functions below in place of libtsan's), and where an index is
   outside of its array or an address misaligned (-fsanitize=bounds and alignment). */

#ifdef CUGEN_WATCH
extern "C" __attribute__((__visibility__("default"))) const struct cpu_watch *cugen_watch;
const struct cpu_watch *cugen_watch;
extern "C" {
extern __attribute__((__visibility__("hidden"), __alias__("cugen_watch")))
const struct cpu_watch *cugen_own_watch;
/* clang++ inserts calls at a function's begin and end, which no attribute prevents up to version
   13. */
#ifdef __clang__
#if __has_attribute(disable_sanitizer_instrumentation)
#define CUGEN_UNOPTIMISED noinline, __disable_sanitizer_instrumentation__
#else
#define CUGEN_UNOPTIMISED noinline
#endif
#else
#define CUGEN_UNOPTIMISED noinline, __optimize__("O0")
#endif

/* The functions that the compiler calls. Most jump to a function of the table cugen_watch, so that
   nothing is left on the stack and the return address is still that in the kernel. CUGEN_PASS
   passes the table as the last argument, CUGEN_SITE the return address. The functions are in
   assembly, because g++ takes 20 ms to compile them. */
#ifdef __x86_64__
#define CUGEN_BYTES(bytes) "movl $" #bytes ", %esi\n"
#define CUGEN_KIND(kind)   "movl $" #kind ", %edx\n"
#define CUGEN_SITE_3       "movq (%rsp), %rdx\n"
#define CUGEN_SITE_4       "movq (%rsp), %rcx\n"
#define CUGEN_JUMP(offset) "movq cugen_own_watch(%rip), %rax\njmp *" #offset "(%rax)\n"
#define CUGEN_PASS(offset) "movq cugen_own_watch(%rip), %rsi\njmp *" #offset "(%rsi)\n"
#else
#define CUGEN_BYTES(bytes) "mov x1, #" #bytes "\n"
#define CUGEN_KIND(kind)   "mov w2, #" #kind "\n"
#define CUGEN_SITE_3       "mov x2, x30\n"
#define CUGEN_SITE_4       "mov x3, x30\n"
#define CUGEN_JUMP(offset)                                                                      \
  "adrp x16, cugen_own_watch\nldr x16, [x16, #:lo12:cugen_own_watch]\nldr x16, [x16, #" #offset \
  "]\nbr x16\n"
#define CUGEN_PASS(offset)                                                                  \
  "adrp x1, cugen_own_watch\nldr x1, [x1, #:lo12:cugen_own_watch]\nldr x16, [x1, #" #offset \
  "]\nbr x16\n"
#endif
#define CUGEN_CALLED(name, ...)                                                               \
  __asm__(".pushsection .text\n.balign 16\n.globl " #name "\n.hidden " #name "\n.type " #name \
          ", %function\n" #name ":\n" __VA_ARGS__ ".popsection");
static_assert(__builtin_offsetof(cpu_watch, access) == 0 &&
                  __builtin_offsetof(cpu_watch, enter) == 8 &&
                  __builtin_offsetof(cpu_watch, leave) == 16 &&
                  __builtin_offsetof(cpu_watch, copied) == 24 &&
                  __builtin_offsetof(cpu_watch, filled) == 32 &&
                  __builtin_offsetof(cpu_watch, mismatched) == 40 &&
                  __builtin_offsetof(cpu_watch, outside) == 48 &&
                  __builtin_offsetof(cpu_watch, read) == 56 &&
                  __builtin_offsetof(cpu_watch, write) == 96 && sizeof(void *) == 8 &&
                  CPU_WRITE == 1 && CPU_PACKED == 32 && CPU_VOLATILE == 64,
              "what the assembly has as numbers");
#define CUGEN_WATCHED(name, bytes, kind) \
  CUGEN_CALLED(__tsan_##name, bytes CUGEN_KIND(kind) CUGEN_SITE_4 CUGEN_JUMP(0))
#define CUGEN_WATCHED_SIZE(bytes, read, write)                          \
  CUGEN_CALLED(__tsan_read##bytes, CUGEN_PASS(read))                    \
  CUGEN_CALLED(__tsan_write##bytes, CUGEN_PASS(write))                  \
  CUGEN_WATCHED(unaligned_read##bytes, CUGEN_BYTES(bytes), 32)          \
  CUGEN_WATCHED(unaligned_write##bytes, CUGEN_BYTES(bytes), 33)         \
  CUGEN_WATCHED(volatile_read##bytes, CUGEN_BYTES(bytes), 64)           \
  CUGEN_WATCHED(volatile_write##bytes, CUGEN_BYTES(bytes), 65)          \
  CUGEN_WATCHED(unaligned_volatile_read##bytes, CUGEN_BYTES(bytes), 96) \
  CUGEN_WATCHED(unaligned_volatile_write##bytes, CUGEN_BYTES(bytes), 97)
CUGEN_WATCHED_SIZE(1, 56, 96)
CUGEN_WATCHED_SIZE(2, 64, 104)
CUGEN_WATCHED_SIZE(4, 72, 112)
CUGEN_WATCHED_SIZE(8, 80, 120)
CUGEN_WATCHED_SIZE(16, 88, 128)
CUGEN_WATCHED(read_range, , 32)
CUGEN_WATCHED(write_range, , 33)
/* This function is in C++, so that the table of lines begins with a line of this file: binutils
   (2.40) gives the table's first line to the assembly above. */
__attribute__((__used__, __no_sanitize__("thread"), __visibility__("hidden"))) void __tsan_init() {}
/* Accesses to the hidden pointer of an object with virtual functions are not reported. */
CUGEN_CALLED(__tsan_vptr_update, "ret\n")
CUGEN_CALLED(__tsan_vptr_read, "ret\n")
CUGEN_CALLED(__tsan_func_entry, CUGEN_JUMP(8))
CUGEN_CALLED(__tsan_func_exit, CUGEN_JUMP(16))
CUGEN_CALLED(__tsan_memcpy, CUGEN_SITE_4 CUGEN_JUMP(24))
CUGEN_CALLED(__tsan_memmove, CUGEN_SITE_4 CUGEN_JUMP(24))
CUGEN_CALLED(__tsan_memset, CUGEN_SITE_4 CUGEN_JUMP(32))
CUGEN_CALLED(__ubsan_handle_type_mismatch_v1, CUGEN_SITE_3 CUGEN_JUMP(40))
CUGEN_CALLED(__ubsan_handle_out_of_bounds, CUGEN_SITE_3 CUGEN_JUMP(48))
/* Copies and fills of any length. clang++ calls __tsan_memcpy and the like from version 15 on,
   before that memcpy, memmove and memset. g++ would replace these calls by moves that are not
   reported, so for g++ they are inline functions, which leave copies of 1, 2, 4, 8 and 16 bytes to
   g++ as accesses. */
#ifdef __clang__
CUGEN_CALLED(memcpy, CUGEN_SITE_4 CUGEN_JUMP(24))
CUGEN_CALLED(memmove, CUGEN_SITE_4 CUGEN_JUMP(24))
CUGEN_CALLED(memset, CUGEN_SITE_4 CUGEN_JUMP(32))
#else
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int byte, size_t bytes);
#define CUGEN_COPY(name)                                                                           \
  extern __inline__ __attribute__((__always_inline__, __gnu_inline__, __artificial__)) void *name( \
      void *to, const void *from, size_t bytes) noexcept {                                         \
    if (__builtin_constant_p(bytes) && bytes <= 16 && !(bytes & (bytes - 1)))                      \
      return __builtin_##name(to, from, bytes);                                                    \
    return __tsan_##name(to, from, bytes);                                                         \
  }
CUGEN_COPY(memcpy)
CUGEN_COPY(memmove)
#undef CUGEN_COPY
extern __inline__ __attribute__((__always_inline__, __gnu_inline__, __artificial__)) void *
memset(void *to, int byte, size_t bytes) noexcept {
  return __tsan_memset(to, byte, bytes);
}
#endif
/* The compiler would expand these builtins after it has inserted its reports. */
#define __builtin_memcpy(...)  memcpy(__VA_ARGS__)
#define __builtin_memmove(...) memmove(__VA_ARGS__)
#define __builtin_memset(...)  memset(__VA_ARGS__)
#undef CUGEN_WATCHED_SIZE
#undef CUGEN_WATCHED
#undef CUGEN_CALLED
#undef CUGEN_BYTES
#undef CUGEN_KIND
#undef CUGEN_SITE_3
#undef CUGEN_SITE_4
#undef CUGEN_JUMP
#undef CUGEN_PASS
}
#endif

/* A function that accesses memory on behalf of an instruction (atomics, cp.async, __ldcg) reports
   the access with cugen_note, and then makes it with cugen_peek, cugen_poke or cugen_copy, which
   report nothing. In a kernel that is not watched cugen_note does nothing. */
CUGEN_INLINE void cugen_note(const void *at, size_t bytes, unsigned kind) {
#ifdef CUGEN_WATCH
  cugen_own_watch->access(at, bytes, kind, 0);
#endif
  (void)at, (void)bytes, (void)kind;
}
/* Data that were noted as CPU_WRITE | CPU_ASYNC have arrived. */
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
#define CUGEN_QUIET static inline __attribute__((CUGEN_UNOPTIMISED, __no_sanitize__("thread")))
#else
#define CUGEN_QUIET CUGEN_INLINE
#endif
template <class Value> CUGEN_QUIET Value cugen_peek(const Value *at) { return *at; }
template <class Value> CUGEN_QUIET void cugen_poke(Value *at, Value value) { *at = value; }
/* If `from` is null, writes zeros. */
CUGEN_QUIET void cugen_copy(void *to, const void *from, size_t bytes) {
#ifdef CUGEN_WATCH
  if (from)
    cugen_own_watch->move(to, from, bytes);
  else
    cugen_own_watch->fill(to, 0, bytes);
#else
  if (from)
    memmove(to, from, bytes);
  else
    memset(to, 0, bytes);
#endif
}
