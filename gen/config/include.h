/* include "matmul/wgmma.lua": a config's further files. Each is a list of declarations as statements; those that stand in no other
   declaration take the place of the include. Private to the folder. */
#ifndef GEN_CONFIG_INCLUDE_H
#define GEN_CONFIG_INCLUDE_H

#include "include_files.h"

/* A C function of Lua, after includes_open and declarations_open: adds the declaration `include` to the language. */
int include_open(lua_State *L);

/* Takes a byte order mark off. */
void include_skip_mark(const char **content, size_t *length);

#endif
