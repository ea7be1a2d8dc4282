/* The most that is read of a file, in bytes: docs/config.md has the same table. What is longer is refused before any of it
   is read, and one that grows meanwhile as soon as it is too long. Wisdom is read line by line (wisdom.h). */
#ifndef BASE_SIZES_H
#define BASE_SIZES_H

#define SIZE_CONFIG      ((size_t)4 << 20)
#define SIZE_DESCRIPTION ((size_t)1 << 20)
#define SIZE_TEMPLATE                                                                                                \
  ((size_t)16 << 20)                 /* template, reference, generator, header; also a source with all its headers */
#define SIZE_DATA  ((size_t)4 << 30) /* of `file` */
#define SIZE_OTHER ((size_t)256 << 20) /* a compiled object, a toolkit's header */

#endif
