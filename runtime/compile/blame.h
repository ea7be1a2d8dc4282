/* Places in a source with #line: which function contains a line, and which #include leads to a
   header of the toolkit. The source is read as text. */
#ifndef RUNTIME_COMPILE_BLAME_H
#define RUNTIME_COMPILE_BLAME_H

#include "runtime/device.h"
#include "toolkit.h"

/* A function outside of classes that is not marked for the device. */
struct blamed_function {
  const char *name; /* in the source */
  size_t length;
  bool host; /* the function is marked __host__ */
};
/* Returns whether the line is in the declaration or the body of an unmarked function. */
bool blame_function(const char *source, const char *path, int line, struct blamed_function *out);

/* Appends the places "k.cu:1, k.cu:7" of the __global__ functions with the entry's name ("add"
   for "add<float>"). Returns their number. */
int blame_kernels(const char *source, const char *entry, struct text *out);

/* Returns whether the path is one of the files that the source was put together from. */
bool blame_is_own(const struct compile_request *request, const char *path);

/* Returns the text from the beginning of that line on; NULL: the source has no such line. */
const char *blame_text(const char *source, const char *path, int line);

/* Finds the header that the line includes; false: the line includes none. */
bool blame_include(const char *source, const char *path, int line, struct text *header);
/* Finds the #include that leads, certainly or probably, to the toolkit's file: the place "k.cu:2"
   and the header of the #include. */
bool blame_header(const struct toolkit *toolkit, const char *source, const char *file,
                  struct text *place, struct text *header);

#endif
