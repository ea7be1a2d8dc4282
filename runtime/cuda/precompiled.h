/* Headers that take NVRTC seconds to parse (cooperative groups, libcu++, CUB) and stand in front of every variant: parsed once a
   process, kept as a precompiled header, and used from then on. */
#ifndef RUNTIME_CUDA_PRECOMPILED_H
#define RUNTIME_CUDA_PRECOMPILED_H

#include "base/text.h"
#include "nvrtc.h"

struct precompiled;

/* folder: where a file may be written, copied; "": nowhere, and every compile parses anew. patience: how many sources that begin
   alike are compiled as they stand before it is worth while, where a request does not say whether many follow. */
int precompiled_open(const char *folder, int patience, struct precompiled **out, cugen_error *err);
void precompiled_close(struct precompiled *headers);

/* Whether a compile like the last one finds them parsed. */
bool precompiled_in_use(const struct precompiled *headers);

/* As nvrtc_compile, with the same result. */
int precompiled_compile(struct precompiled *headers, const struct nvrtc *nvrtc, const struct compile_request *request,
                        struct compiled *out, cugen_error *err);

/* The includes that a source begins with, as lines, and the macros that are defined in front of the last of them. False: none of
   them takes long. What stands under an #if is left where it is. */
bool precompiled_find(const char *source, struct text *includes, struct text *macros);

#endif
