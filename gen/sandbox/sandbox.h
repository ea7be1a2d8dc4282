/* A Lua state for scripts that only describe kernels, with few functions and with limits of memory,
   instructions and CPU time.
   Offered: assert error ipairs pairs (in a fixed order) select tonumber tostring type, math.{abs
   ceil floor fmod max min tointeger type}, table.{concat insert remove sort unpack}. A string has
   at most 1 MiB, a table or stack at most 4 MiB. */
#ifndef GEN_SANDBOX_SANDBOX_H
#define GEN_SANDBOX_SANDBOX_H

#include <lua.h>

#include "base/error.h"

struct sandbox;

/* memory: limit in bytes; instructions: limit for each sandbox_call; 0: the defaults (64 MiB, 50
   million). */
int sandbox_open(size_t memory, long instructions, struct sandbox **out, cugen_error *err);
void sandbox_close(struct sandbox *sandbox);
lua_State *sandbox_state(struct sandbox *sandbox);

/* Pushes the chunk as a function whose only upvalue is the global table at the stack index
   `environment` (0: the sandbox's globals). code: text, not bytecode; name: the user's file;
   status: returned for an error in the code. */
int sandbox_load(struct sandbox *sandbox, const char *name, const char *code, size_t length,
                 int environment, int status, cugen_error *err);

/* lua_pcall within the limits. On failure it pops the function and the arguments, and fills err,
   with the file and line if they are known. A nested call shares the limits of the outer call.
   Functions that allocate in the state (lua_newtable, lua_pushstring) must run inside a
   sandbox_call, because elsewhere a full memory would end the process. */
int sandbox_call(struct sandbox *sandbox, int arguments, int results, int status, cugen_error *err);

/* Runs a script: calls `open`, which gets the context as a light userdata and may set globals, then
   the script. */
int sandbox_run(struct sandbox *sandbox, lua_CFunction open, void *context, const char *name,
                const char *code, size_t length, int status, cugen_error *err);

/* ---- For C functions that run inside a sandbox_call ----------------------------------------- */

/* Pushes a new environment: a table in which a script sees the sandbox's globals and sets its
   own. */
void sandbox_push_environment(lua_State *L);

/* Counts work that a C function does in a loop, in units of about one instruction. Does not return
   if the limit is reached. */
void sandbox_charge(lua_State *L, size_t work);

#endif
