/* Names of files that are near to one that is not there: a slip of the hand. */
#ifndef GEN_SOURCES_NEAR_H
#define GEN_SOURCES_NEAR_H

/* A file that the name, which is relative to the folder, may mean: of those where it would lie, with its ending. Named as it is;
   to be freed; NULL: none is near. */
char *near_file(const char *folder, const char *name);
/* The same, relative to the folder that the file `from` is in. */
char *near_beside(const char *from, const char *name);

#endif
