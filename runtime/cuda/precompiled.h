/* Precompiled headers: headers that take NVRTC seconds to parse (cooperative groups, libcu++,
   CUB) can be parsed once by each process, which reuses the result. */
#ifndef RUNTIME_CUDA_PRECOMPILED_H
#define RUNTIME_CUDA_PRECOMPILED_H

#include "base/text.h"
#include "nvrtc.h"

struct precompiled;

/* folder: where a file may be written (copied); "": nowhere, and every compile parses the
   headers again. patience: how many sources with the same beginning are compiled normally before
   precompiling pays, if a request does not say whether many follow. */
int precompiled_open(const char *folder, int patience, struct precompiled **out, cugen_error *err);
void precompiled_close(struct precompiled *headers);

/* Returns whether a compile like the last one would use a precompiled header. */
bool precompiled_in_use(const struct precompiled *headers);

/* Like nvrtc_compile, with the same result. */
int precompiled_compile(struct precompiled *headers, const struct nvrtc *nvrtc,
                        const struct compile_request *request, struct compiled *out,
                        cugen_error *err);

/* Finds the includes that a source begins with, as lines, up to the last header that takes long,
   and the macros that are defined or undefined before that header. Returns false if no header takes
   long. Includes under an #if, and those in quotes, are left out. */
bool precompiled_find(const char *source, struct text *includes, struct text *macros);

#endif
