/* The functions that the sandbox offers; private to the folder. */
#ifndef GEN_SANDBOX_LIBRARY_H
#define GEN_SANDBOX_LIBRARY_H

#include <lua.h>

/* A C function for Lua that makes the globals of the state exactly the offered functions. */
int sandbox_library_open(lua_State *L);

#endif
