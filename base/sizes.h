/* Limits of the sizes of files that are read, in bytes; docs/config.md lists them, too. A longer
   file is refused. Wisdom files have no such limit, because they are read line by line
   (wisdom.h). */
#ifndef BASE_SIZES_H
#define BASE_SIZES_H

#define SIZE_CONFIG      ((size_t)4 << 20)   /* a config with all that it includes */
#define SIZE_DESCRIPTION ((size_t)1 << 20)   /* a description of a GPU */
#define SIZE_DATA        ((size_t)4 << 30)   /* a data file, named by `file` in a config */
#define SIZE_OTHER       ((size_t)256 << 20) /* any other file, such as a compiled object */
/* a template, reference, generator or header, and a source with all its headers */
#define SIZE_TEMPLATE ((size_t)16 << 20)

#endif
