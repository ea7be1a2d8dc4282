/* What a script may use: memory through the allocator, instructions and time through a count hook and sandbox_charge. Nothing that
   the sandbox offers can catch an error, so that giving up is final. Private to sandbox*.c. */
#ifndef GEN_CONFIG_SANDBOX_LIMITS_H
#define GEN_CONFIG_SANDBOX_LIMITS_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* One instruction can copy or compare a whole string or stack: these keep that below a millisecond or so. */
  LARGEST_STRING = 1 << 20,
  LARGEST_BLOCK = 4 << 20
};

/* Processor time of one call, for the few instructions that take long (a comparison of two long strings). */
extern const double limits_seconds;

enum limit_reason { REASON_NONE, REASON_INSTRUCTIONS, REASON_TIME };

struct limits {
  lua_State *L;
  size_t memory, used;
  int refusals; /* of memory, in this call */
  int64_t instructions, left;
  double cpu_end, wall_check;
  enum limit_reason reason;    /* why it gave up */
  int depth;                   /* sandbox_calls under way */
  char where_file[LUA_IDSIZE]; /* where the last error, or the last look, was */
  int where_line;
};

/* A lua_Alloc; context: the limits. */
void *limits_allocate(void *context, void *block, size_t old_size, size_t size);
/* From now on the state's instructions count. */
void limits_watch(struct limits *limits, lua_State *L);
struct limits *limits_of(lua_State *L);

/* A call begins and ends; the outermost one has all that may be used. */
void limits_enter(struct limits *limits);
void limits_leave(struct limits *limits);

bool limits_out_of_time(struct limits *limits);
/* Ends the call with that reason: raises an error, which needs no memory. */
int limits_give_up(lua_State *L, enum limit_reason reason);
/* Notes the line that runs now; needs no memory. */
void limits_locate(struct limits *limits);

#endif
