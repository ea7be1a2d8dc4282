/* A Lua state that can describe a kernel and nothing else: a white list of pure functions, a memory limit and an
   instruction limit that nothing inside can outlive. Configs and templates both run in one.

   Offered: assert error ipairs pairs (in a fixed order) select tonumber tostring type, math.{abs ceil floor fmod max
   min tointeger type}, table.{concat insert remove sort unpack}. No string is longer than 1 MiB and no table or
   stack larger than 4 MiB. */
#ifndef GEN_CONFIG_SANDBOX_H
#define GEN_CONFIG_SANDBOX_H

#include <lua.h>

#include "base/error.h"

struct sandbox;

/* memory in bytes, instructions per sandbox_call; 0: the defaults (64 MiB, 50 million). */
int sandbox_open(size_t memory, long instructions, struct sandbox **out, cugen_error *err);
void sandbox_close(struct sandbox *sandbox);
lua_State *sandbox_state(struct sandbox *sandbox);

/* Pushes the chunk as a function whose only upvalue is the global table at `environment` (a stack index; 0: the
   sandbox's globals). Text only, never bytecode. name is the user's file. status is given to errors. */
int sandbox_load(struct sandbox *sandbox, const char *name, const char *code, size_t length, int environment,
                 int status, cugen_error *err);

/* lua_pcall under the limits; on failure pops everything and fills err with "file:line: what". A call within a
   call shares its limits. Whatever allocates in the state (lua_newtable, lua_pushstring) belongs inside one: outside,
   a full memory would end the process. */
int sandbox_call(struct sandbox *sandbox, int arguments, int results, int status, cugen_error *err);

/* ---- For C functions that run inside a sandbox_call ---- */

/* Pushes a fresh environment: it sees the sandbox's globals and keeps what is assigned to itself. */
void sandbox_push_environment(lua_State *L);

/* A C function that loops says so, in units of about one instruction. Does not return when the limit is reached. */
void sandbox_charge(lua_State *L, size_t work);

#endif
