/* Short names of types that nvcc knows, since it includes the host's <sys/types.h>, and NVRTC does not: uint, ushort, ulong;
   and uchar, which is often used with them. A source that uses one gets its declaration, so that it stands by itself on every
   device and in an export. */
#ifndef GEN_TEMPLATE_COMMON_TYPES_H
#define GEN_TEMPLATE_COMMON_TYPES_H

#include "base/text.h"

enum { COMMON_TYPES = 4 };

struct common_types {
  struct common_type {
    bool used;     /* some text mentions it */
    bool declared; /* the source's own */
  } list[COMMON_TYPES];
};

/* Adds what the text mentions and declares. */
void common_types_see(struct common_types *types, const char *text, size_t length);
/* Appends the declarations. defines: a macro there of such a name is left alone. A config cannot give these names. */
void common_types_write(const struct common_types *types, const char *defines, struct text *out);

#endif
