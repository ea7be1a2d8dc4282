/* A Lua state that can describe a kernel and nothing else: a white list of pure functions, a memory limit and an
   instruction limit that nothing inside can outlive. Configs and templates both run in one. */
#ifndef GEN_SANDBOX_H
#define GEN_SANDBOX_H

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

/* lua_pcall under the limits; on failure pops everything and fills err with "file:line: what". */
int sandbox_call(struct sandbox *sandbox, int arguments, int results, int status, cugen_error *err);

#endif
