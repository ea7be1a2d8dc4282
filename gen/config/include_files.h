/* The files that a config is made of, while it runs: which ones there are, and which line of which is the one that runs.
   Private to the folder. */
#ifndef GEN_CONFIG_INCLUDE_FILES_H
#define GEN_CONFIG_INCLUDE_FILES_H

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
struct includes *includes_of(lua_State *L);
/* NULL: none of that path. */
struct included_file *includes_find(struct includes *includes, const char *path);
/* The same, added where there is none yet; NULL: no memory. */
struct included_file *includes_add(struct includes *includes, const char *path, bool shipped);
/* The line that runs now. */
struct config_line includes_line(lua_State *L);

#endif
