/* The types are built into NVRTC, except for their names in std and the macro. */
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
