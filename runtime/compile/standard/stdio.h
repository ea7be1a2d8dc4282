/* printf is built into NVRTC. */
#ifndef CUGEN_STDIO
#define CUGEN_STDIO
namespace std {
using ::printf;
using ::size_t;
} // namespace std
#endif
