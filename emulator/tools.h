/* The files that a program which works on a stranger's source or object may open: the compiler,
   and addr2line. */
#ifndef EMULATOR_TOOLS_H
#define EMULATOR_TOOLS_H

#include "base/jail.h"
#include "base/text.h"

/* The system's programs, headers and libraries, and those beside the program, plus one folder of
   its own. */
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
