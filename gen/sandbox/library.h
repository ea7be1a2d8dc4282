/* The functions that the sandbox offers; private to the folder. */
#ifndef GEN_SANDBOX_LIBRARY_H
#define GEN_SANDBOX_LIBRARY_H

#include <lua.h>

/* Makes the globals of the state exactly the offered functions. */
void sandbox_library_open(lua_State *L);

#endif
