/* include "matmul/wgmma.lua": a config's further files. Each is a list of declarations as statements; those that stand in no other
   declaration take the place of the include. Private to gen/config*.c. */
#ifndef GEN_CONFIG_INCLUDE_H
#define GEN_CONFIG_INCLUDE_H

#include "arena.h"
#include "config.h"
#include "sandbox.h"

enum {
  DEEPEST_INCLUDE = 8, /* of files within files */
  MOST_INCLUDES = 128  /* calls; a file that is included twice counts twice */
};

struct included_file {
  const char *path; /* the arena's */
  bool shipped;     /* so what it includes ships, too */
};

/* While a config runs. */
struct includes {
  const struct sources *sources;
  struct arena *arena; /* the config's */
  struct sandbox *sandbox;
  struct included_file files[MOST_INCLUDES + 1]; /* the first is the config */
  size_t count;
  const struct included_file *open[DEEPEST_INCLUDE + 1]; /* those that run, each included by the one before */
  int calls, depth;                                      /* open[depth] is the last */
  size_t bytes;                                          /* of all that was included */
  bool failed;                                           /* with `error`, where Lua's own message says nothing */
  cugen_error error;
};

/* A C function of Lua, with these includes as its light userdata: from now on the state's declarations know their files. */
int includes_open(lua_State *L);
/* The line that runs now. */
struct config_line includes_line(lua_State *L);

/* The declaration `include`. */
int includes_run(lua_State *L);

/* Takes a byte order mark off. */
void include_skip_mark(const char **content, size_t *length);

#endif
