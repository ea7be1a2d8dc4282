/* Types and macros have the text that libcu++ gives them for NVRTC, so that cuda/std/cstdint may be
   included before or after this header. */
#ifndef CUGEN_STDINT
#define CUGEN_STDINT
#include <climits>

/* Declares the types of one width. The fast and least types are no wider. */
#define CUGEN_WIDTH(bits, type)                                                                    \
  using int##bits##_t = signed type;                                                               \
  using int_fast##bits##_t = signed type;                                                          \
  using int_least##bits##_t = signed type;                                                         \
  using uint##bits##_t = unsigned type;                                                            \
  using uint_fast##bits##_t = unsigned type;                                                       \
  using uint_least##bits##_t = unsigned type
CUGEN_WIDTH(8, char);
CUGEN_WIDTH(16, short);
CUGEN_WIDTH(32, int);
CUGEN_WIDTH(64, long long);
#undef CUGEN_WIDTH
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using intmax_t = int64_t;
using uintmax_t = uint64_t;
namespace std {
#define CUGEN_WIDTH(bits)                                                                          \
  using ::int##bits##_t;                                                                           \
  using ::int_fast##bits##_t;                                                                      \
  using ::int_least##bits##_t;                                                                     \
  using ::uint##bits##_t;                                                                          \
  using ::uint_fast##bits##_t;                                                                     \
  using ::uint_least##bits##_t
CUGEN_WIDTH(8);
CUGEN_WIDTH(16);
CUGEN_WIDTH(32);
CUGEN_WIDTH(64);
#undef CUGEN_WIDTH
using ::intmax_t;
using ::intptr_t;
using ::uintmax_t;
using ::uintptr_t;
} // namespace std

#ifndef INT8_MAX
#define INT8_MIN    SCHAR_MIN
#define INT8_MAX    SCHAR_MAX
#define UINT8_MAX   UCHAR_MAX
#define INT8_C(X)   ((::int_least8_t)(X))
#define UINT8_C(X)  ((::uint_least8_t)(X))
#define INT16_MIN   SHRT_MIN
#define INT16_MAX   SHRT_MAX
#define UINT16_MAX  USHRT_MAX
#define INT16_C(X)  ((::int_least16_t)(X))
#define UINT16_C(X) ((::uint_least16_t)(X))
#define INT32_MIN   INT_MIN
#define INT32_MAX   INT_MAX
#define UINT32_MAX  UINT_MAX
#define INT32_C(X)  ((::int_least32_t)(X))
#define UINT32_C(X) ((::uint_least32_t)(X))
#define INT64_MIN   LLONG_MIN
#define INT64_MAX   LLONG_MAX
#define UINT64_MAX  ULLONG_MAX
#define INT64_C(X)  ((::int_least64_t)(X))
#define UINT64_C(X) ((::uint_least64_t)(X))
#define INTPTR_MIN  INT64_MIN
#define INTPTR_MAX  INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN  INT64_MIN
#define INTMAX_MAX  INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX    UINT64_MAX
#endif
#endif
