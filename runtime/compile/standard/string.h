/* memcpy and memset are built into NVRTC. */
#ifndef CUGEN_STRING
#define CUGEN_STRING
namespace std {
using ::memcpy;
using ::memset;
using ::size_t;
} // namespace std
#endif
