/* Short names of types that nvcc knows, because it includes the host's <sys/types.h>, but NVRTC
   does not: uint, ushort, ulong; and uchar, which is often used beside uint. If a source uses such
   a name without declaring it, cugen adds the declaration. */
#ifndef GEN_TEMPLATE_COMMON_TYPES_H
#define GEN_TEMPLATE_COMMON_TYPES_H

#include "gen/sources/source_text.h"

enum { COMMON_TYPES = 4 };

struct common_types {
  struct common_type {
    bool used;     /* the source mentions the name */
    bool declared; /* the source declares the name itself */
  } list[COMMON_TYPES];
  bool in_typedef; /* `typedef` was read since the last declaration outside of all braces */
};

/* Notes the next word. before: the token in front of the word; behind: reads what follows. outside:
   the word stands outside of all braces and directives. conditions: the word stands in an #if. */
void common_types_see(struct common_types *types, struct source_token word,
                      struct source_token before, struct source_reader behind, bool outside,
                      bool conditions);
/* Appends the declarations. A name that `defines` contains is not declared. */
void common_types_write(const struct common_types *types, const char *defines, struct text *out);

#endif
