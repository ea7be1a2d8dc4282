/* malloc and free are built into NVRTC; exit, qsort and their like are no device functions. */
#ifndef CUGEN_STDLIB
#define CUGEN_STDLIB
namespace std {
using ::abs;
using ::free;
using ::labs;
using ::llabs;
using ::malloc;
using ::size_t;
} // namespace std
#endif
