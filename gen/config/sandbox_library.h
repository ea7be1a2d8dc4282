/* The functions that the sandbox offers; private to gen/config/sandbox.c. */
#ifndef GEN_CONFIG_SANDBOX_LIBRARY_H
#define GEN_CONFIG_SANDBOX_LIBRARY_H

#include <lua.h>

/* Makes the state's globals exactly the white list. */
void sandbox_library_open(lua_State *L);

#endif
