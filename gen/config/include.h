/* include "matmul/wgmma.lua": further files of a config. Each is a list of declarations written as
   statements; declarations that stand in no other declaration replace the include. Private to the
   folder. */
#ifndef GEN_CONFIG_INCLUDE_H
#define GEN_CONFIG_INCLUDE_H

#include "include_files.h"

/* A C function for Lua that adds the declaration `include` to the language. Run it after
   includes_open and declarations_open. */
int include_open(lua_State *L);

#endif
