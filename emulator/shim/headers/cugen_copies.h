/* A thread's own copies (cp.async), for headers such as cuda_pipeline.h. */
#ifndef CUGEN_COPIES
#define CUGEN_COPIES
CUGEN_INLINE void cugen_copy_begin(void *to, const void *from, size_t bytes, size_t from_bytes) {
  const cpu_copy copy = {to, from, (unsigned)bytes, (unsigned)from_bytes};
  if (((size_t)to | (from_bytes ? (size_t)from : 0)) & (bytes - 1))
    cugen_own_hooks->trap("an asynchronous copy at no multiple of its size");
  if (from_bytes) cugen_note(from, from_bytes, CPU_ASYNC);
  cugen_note(to, bytes, CPU_WRITE | CPU_ASYNC);
  cugen_own_hooks->async->copy_begin(&copy);
}
CUGEN_INLINE void cugen_copy_commit() { cugen_own_hooks->async->copy_commit(); }
CUGEN_INLINE void cugen_copy_wait(unsigned newest) {
  cpu_copy copy;
  while (cugen_own_hooks->async->copy_next(newest, &copy)) {
    cugen_note_arrived(copy.to, copy.bytes);
    if (copy.from_bytes) cugen_copy(copy.to, copy.from, copy.from_bytes);
    if (copy.from_bytes < copy.bytes)
      cugen_copy((char *)copy.to + copy.from_bytes, 0, copy.bytes - copy.from_bytes);
  }
}
/* Thread `rank` of `threads` copies its share of an array, in pieces of 16, 8 or 4 bytes, as large
   as both addresses and the size permit. If only single bytes fit, they are copied
   synchronously. */
template <class Rank>
CUGEN_INLINE void cugen_copy_share(void *to, const void *from, size_t bytes, Rank rank,
                                   Rank threads) {
  const size_t places = (size_t)to | (size_t)from | bytes;
  const size_t piece = places % 16 == 0 ? 16 : places % 8 == 0 ? 8 : places % 4 == 0 ? 4 : 1;
  for (size_t at = rank * piece; at < bytes; at += threads * piece) {
    if (piece == 1)
      ((char *)to)[at] = ((const char *)from)[at];
    else
      cugen_copy_begin((char *)to + at, (const char *)from + at, piece, piece);
  }
}
#endif
