/* Places in a source with #line: which function a line is in, and which #include leads to a header of the toolkit. Read as text,
   once a compiler has refused it. */
#ifndef RUNTIME_COMPILE_BLAME_H
#define RUNTIME_COMPILE_BLAME_H

#include "runtime/device.h"
#include "toolkit.h"

/* A function outside of classes that is not marked for the device. */
struct blamed_function {
  const char *name; /* in the source */
  size_t length;
  bool host; /* marked __host__ */
};
/* Whether the line is in one: its declaration or its body. */
bool blame_function(const char *source, const char *path, int line, struct blamed_function *out);

/* Appends "k.cu:1, k.cu:7": where __global__ functions of the entry's name ("add" of "add<float>") are. How many. */
int blame_kernels(const char *source, const char *entry, struct text *out);

/* Whether the path is one that the source was put together from. */
bool blame_is_own(const struct compile_request *request, const char *path);

/* The text of this line, up to its end; NULL: the source has none such. */
const char *blame_text(const char *source, const char *path, int line);

/* The header that this line includes. */
bool blame_include(const char *source, const char *path, int line, struct text *header);
/* The first #include from which the toolkit's file is reached: its place "k.cu:2" and its header. */
bool blame_header(const struct toolkit *toolkit, const char *source, const char *file, struct text *place,
                  struct text *header);

#endif
