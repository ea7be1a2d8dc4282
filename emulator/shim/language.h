/* Part of cuda_shim.h: keywords, vector types, built-in variables. */
#include <string.h>
/* NVRTC declares these without a header. It does not declare int64_t and the like, which a source
   may define itself. */
extern "C" {
int printf(const char *format, ...);
void *malloc(size_t bytes) noexcept;
void free(void *memory) noexcept;
int abs(int x) noexcept;
long labs(long x) noexcept;
long long llabs(long long x) noexcept;
}

#define __CUGEN_CPU__        1
#define __CUDACC__           1
#define __CUDACC_RTC__       1 /* hides the same host code as from NVRTC */
#define __CUDA_ARCH__        800
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

/* ---- Exported variables, which the program that loads this object sets ---------------------- */

extern "C" {
__attribute__((__visibility__("default"))) struct cpu_builtins cugen_builtins;
__attribute__((__visibility__("default"))) const struct cpu_hooks *cugen_hooks;
/* Aliases that need no symbol look-up in position-independent code. In a watched kernel the
   built-ins are constant, so that a thread's reads of them are not reported as accesses. */
#ifdef CUGEN_WATCH
extern __attribute__((__visibility__("hidden"))) const struct cpu_builtins cugen_own_builtins;
__asm__(".globl cugen_own_builtins\n.hidden cugen_own_builtins\n.set cugen_own_builtins, "
        "cugen_builtins");
#else
extern __attribute__((__visibility__("hidden"),
                      __alias__("cugen_builtins"))) struct cpu_builtins cugen_own_builtins;
#endif
extern __attribute__((__visibility__("hidden"), __alias__("cugen_hooks")))
const struct cpu_hooks *cugen_own_hooks;
}

/* ---- Language ------------------------------------------------------------------------------- */

#define __global__ __attribute__((noinline)) /* compiled once, not again inside its entry */
#define __host__
/* Variables are found by their names, which C++ does not mangle at file scope. A compiler flag
   hides symbols without this attribute. */
#define __constant__               __attribute__((__visibility__("default")))
#define __device__                 __attribute__((__visibility__("default")))
#define __managed__                __attribute__((__visibility__("default")))
#define CUGEN_GLUED(first, second) first##second
#define CUGEN_GLUE(first, second)  CUGEN_GLUED(first, second)
/* Stands outside of functions after a constant: marks the variable of that name as a constant,
   with its size. */
#define CUGEN_CONSTANT(name, bytes)                                                             \
  static const unsigned long long CUGEN_GLUE(cugen_constant_, name) __attribute__((__used__)) = \
      bytes;
/* Shared memory is static: one block runs at a time. In a watched kernel a gap lies before each
   declaration, so that an access past an array's end is not in the array that is declared next. */
#ifdef CUGEN_WATCH
#define CUGEN_GAP(name) \
  static char CUGEN_GLUE(name, __COUNTER__)[256 << 10] __attribute__((__used__));
#ifdef __clang__ /* clang++ omits accesses to variables that are never written or never read */
#define __shared__ CUGEN_GAP(cugen_gap_) static __attribute__((__used__))
#else
#define __shared__ CUGEN_GAP(cugen_gap_) static
#endif
/* Stands behind a __shared__ declaration outside of functions, and at the end of the source.
   detector/arrays.c takes the variables between `cugen_gap_` and this second gap for shared
   arrays. */
#define CUGEN_SHARED_END CUGEN_GAP(cugen_gap_end_)
#else
#define __shared__ static
#define CUGEN_SHARED_END
#endif
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((__aligned__(bytes)))
/* The argument of alignas, which is a type or a number, as a number. */
template <class Type> constexpr unsigned long cugen_alignment() { return alignof(Type); }
template <unsigned long bytes> constexpr unsigned long cugen_alignment() { return bytes; }
/* A function in place of an instruction belongs to the line that uses it, also for a debugger. */
#define CUGEN_INLINE    static __inline__ __attribute__((__always_inline__))
#define CUGEN_METHOD    __inline__ __attribute__((__always_inline__))
#define __forceinline__ __inline__ __attribute__((__always_inline__))
#define __nv_pure__     __attribute__((__pure__))
#ifndef __clang__
#define __builtin_assume(...) ((void)0)
#endif
#define __nv_loop_unroll(...)
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END

#define CUGEN_TEXT_OF(text) #text
#define CUGEN_TEXT(text)    CUGEN_TEXT_OF(text)
#undef assert
#ifdef CUGEN_NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...)                       \
  ((__VA_ARGS__) ? (void)0                \
                 : cugen_own_hooks->trap( \
                       __FILE__ ":" CUGEN_TEXT(__LINE__) ": assertion failed: " #__VA_ARGS__))
#endif

/* ---- Vector types, with CUDA's alignments --------------------------------------------------- */

#define CUGEN_VECTORS(type, name, align2, align4)                                              \
  struct name##1 {                                                                             \
    type x;                                                                                    \
  };                                                                                           \
  struct __attribute__((__aligned__(align2))) name##2 {                                        \
    type x, y;                                                                                 \
  };                                                                                           \
  struct CUGEN_THREE(name);                                                                    \
  CUGEN_THREE_BODY(type, name)                                                                 \
  struct __attribute__((__aligned__(align4))) name##4 {                                        \
    type x, y, z, w;                                                                           \
  };                                                                                           \
  static inline name##1 make_##name##1(type x) { return {x}; }                                 \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                      \
  static inline CUGEN_THREE(name) make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define CUGEN_THREE(name) name##3
#define CUGEN_THREE_BODY(type, name) \
  struct name##3 {                   \
    type x, y, z;                    \
  };
CUGEN_VECTORS(signed char, char, 2, 4)
CUGEN_VECTORS(unsigned char, uchar, 2, 4)
CUGEN_VECTORS(short, short, 4, 8)
CUGEN_VECTORS(unsigned short, ushort, 4, 8)
CUGEN_VECTORS(int, int, 8, 16)
CUGEN_VECTORS(long, long, 16, 16)
CUGEN_VECTORS(unsigned long, ulong, 16, 16)
CUGEN_VECTORS(long long, longlong, 16, 16)
CUGEN_VECTORS(unsigned long long, ulonglong, 16, 16)
CUGEN_VECTORS(float, float, 8, 16)
CUGEN_VECTORS(double, double, 16, 16)
#undef CUGEN_THREE_BODY
#define CUGEN_THREE_BODY(type, name) typedef cpu_dim3 uint3;
#undef CUGEN_THREE
#define CUGEN_THREE(name) cpu_dim3
CUGEN_VECTORS(unsigned, uint, 8, 16)
#undef CUGEN_VECTORS
#undef CUGEN_THREE
#undef CUGEN_THREE_BODY

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

/* Names that the system's headers declare for nvcc, too. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;

/* ---- Built-in variables --------------------------------------------------------------------- */

#define CUGEN_VARIABLE __attribute__((__unused__)) static constexpr
CUGEN_VARIABLE const uint3 &threadIdx = cugen_own_builtins.thread;
CUGEN_VARIABLE const uint3 &blockIdx = cugen_own_builtins.block;
CUGEN_VARIABLE const uint3 &blockDim = cugen_own_builtins.block_size;
CUGEN_VARIABLE const uint3 &gridDim = cugen_own_builtins.grid_size;
CUGEN_VARIABLE int warpSize = 32;
#undef CUGEN_VARIABLE
