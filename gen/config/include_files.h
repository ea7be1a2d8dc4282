/* The files of a config while it runs: their list, the file and line that are running, and further
   files that the config names: include "matmul/wgmma.lua". Private to the folder. */
#ifndef GEN_CONFIG_INCLUDE_FILES_H
#define GEN_CONFIG_INCLUDE_FILES_H

#include "arena.h"
#include "config.h"
#include "gen/sandbox/sandbox.h"

enum {
  DEEPEST_INCLUDE = 8, /* depth of nested includes */
  MOST_INCLUDES = 128  /* include calls; a file that is included twice counts twice */
};

struct included_file {
  const char *path; /* owned by the arena */
  bool shipped;     /* the file is shipped, so the files that it includes must be shipped, too */
};

struct includes {
  const struct sources *sources;
  struct arena *arena; /* the arena of the config */
  struct sandbox *sandbox;
  struct included_file files[MOST_INCLUDES + 1]; /* the first file is the config */
  size_t count;
  /* the running files, each included by the one before */
  const struct included_file *open[DEEPEST_INCLUDE + 1];
  /* open[depth] is the last of the running files */
  int calls, depth;
  size_t bytes; /* size of all included files together */
  /* `error` has a message that replaces Lua's */
  bool failed;
  cugen_error error;
};

/* A C function for Lua, whose argument is the struct includes as light userdata. The functions
   below need it. */
int includes_open(lua_State *L);
struct includes *includes_of(lua_State *L);
/* Returns NULL if the list has no file of that path. */
struct included_file *includes_find(struct includes *includes, const char *path);
/* Returns the file of that path, which is added if the list lacks it; NULL: out of memory. */
struct included_file *includes_add(struct includes *includes, const char *path, bool shipped);
/* Returns the line that is running; number 0: none is. */
struct config_line includes_line(lua_State *L);

/* include.c. A C function for Lua that adds the declaration `include` to the language. Run it after
   includes_open and declarations_open. The declarations of an included file that stand in no other
   declaration replace the include. */
int include_open(lua_State *L);

#endif
