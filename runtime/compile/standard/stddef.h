/* The types are built into NVRTC. This header has their names in std, and offsetof. */
#ifndef CUGEN_STDDEF
#define CUGEN_STDDEF
namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
} // namespace std
#ifndef offsetof
#define offsetof(type, member) ((size_t)__INTADDR__(&((type *)0)->member))
#endif
#endif
