/* Suggests existing files for the name of a missing file, which may be misspelt. */
#ifndef GEN_SOURCES_NEAR_H
#define GEN_SOURCES_NEAR_H

/* Returns the file that the name, relative to the folder, may mean: a file in the folder where the
   named file would be, with the same ending. The result is relative to the folder, too, and the
   caller frees it; NULL: no file is near. */
char *near_file(const char *folder, const char *name);
/* Like near_file, relative to the folder of the file `from`. */
char *near_beside(const char *from, const char *name);

#endif
