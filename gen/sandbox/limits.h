/* Limits of a script: memory, instructions and CPU time. No function that the sandbox offers can
   catch an error, so giving up is final. Private to the folder. */
#ifndef GEN_SANDBOX_LIMITS_H
#define GEN_SANDBOX_LIMITS_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* A single instruction can copy or compare a whole string or stack. These limits keep such an
     instruction below about a millisecond. */
  LARGEST_STRING = 1 << 20,
  LARGEST_BLOCK = 4 << 20
};

/* Limit of the CPU time of an outermost sandbox_call or sandbox_load, in seconds, because single
   instructions may take long. */
extern const double limits_seconds;

enum limit_reason { REASON_NONE, REASON_INSTRUCTIONS, REASON_TIME };

struct limits {
  lua_State *L;
  size_t memory, used;
  int refusals; /* refused allocations in this call */
  int64_t instructions, left;
  double cpu_end;              /* CPU time at which the call ends, in seconds */
  double wall_check;           /* wall time before which cpu_end cannot be reached, in seconds */
  enum limit_reason reason;    /* why the call gave up */
  int depth;                   /* nesting depth of sandbox_calls */
  char where_file[LUA_IDSIZE]; /* the script's place when limits_locate or sandbox_load last noted
                                  it; line 0: unknown */
  int where_line;
};

/* The allocator of the Lua state (a lua_Alloc). context: the struct limits. */
void *limits_allocate(void *context, void *block, size_t old_size, size_t size);
void limits_watch(struct limits *limits, lua_State *L);
struct limits *limits_of(lua_State *L);

/* Begin and end a call. The outermost call gets the full limits, which nested calls share. */
void limits_enter(struct limits *limits);
void limits_leave(struct limits *limits);

bool limits_out_of_time(struct limits *limits);
/* Ends the call with the reason, by an error that needs no memory. Does not return. */
int limits_give_up(lua_State *L, enum limit_reason reason);
/* Notes the running line. */
void limits_locate(struct limits *limits);

/* ---- library.c ------------------------------------------------------------------------------ */

/* A C function for Lua that makes the globals of the state exactly the offered functions. */
int sandbox_library_open(lua_State *L);

#endif
