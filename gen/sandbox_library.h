/* The functions that the sandbox offers; private to gen/sandbox.c. */
#ifndef GEN_SANDBOX_LIBRARY_H
#define GEN_SANDBOX_LIBRARY_H

#include <lua.h>

/* Makes the state's globals exactly the white list. */
void sandbox_library_open(lua_State *L);

#endif
