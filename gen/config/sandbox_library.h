/* The functions that the sandbox offers; private to gen/config/sandbox.c. */
#ifndef GEN_CONFIG_SANDBOX_LIBRARY_H
#define GEN_CONFIG_SANDBOX_LIBRARY_H

#include <lua.h>

/* Makes the globals of the state exactly the offered functions. */
void sandbox_library_open(lua_State *L);

#endif
