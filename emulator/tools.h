/* The files that the compiler and addr2line, which work on a stranger's source or object, may
   open. */
#ifndef EMULATOR_TOOLS_H
#define EMULATOR_TOOLS_H

#include "base/jail.h"
#include "base/text.h"

/* The places of one program: the system's programs, headers and libraries, the parent of the
   program's folder, and the program's working folder. */
enum { TOOL_PLACES = 15 };
struct tool_places {
  struct text prefix; /* the folder PREFIX, if the program is PREFIX/bin/c++ */
  struct jail_place list[TOOL_PLACES];
};

/* Lists the places that the program may open. folder: its working folder, borrowed, which it opens
   with `access`, as in jail.h. */
void tool_places_find(const char *program, const char *folder, int access, struct tool_places *out);
void tool_places_free(struct tool_places *places);

#endif
