/* Limits of the sizes of files that are read whole, in bytes; docs/config.md lists all but
   SIZE_OTHER. A longer file is refused. Lists of problems and the files of `cugen new` have limits
   of their own. */
#ifndef BASE_SIZES_H
#define BASE_SIZES_H

#define SIZE_CONFIG      ((size_t)4 << 20)   /* a config with all that it includes */
#define SIZE_DESCRIPTION ((size_t)1 << 20)   /* a description of a GPU */
#define SIZE_DATA        ((size_t)4 << 30)   /* a data file, named by `file` in a config */
#define SIZE_OTHER       ((size_t)256 << 20) /* any file of file_read, such as a compiled object */
/* a template, reference, generator or header, and a source with all its headers */
#define SIZE_TEMPLATE ((size_t)16 << 20)

#endif
