/* The limits of a sandbox; see limits.h. */
#include "limits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sandbox.h"

enum {
  /* After a refused allocation Lua runs a full collection and tries again. A script just below the
     limit could cause a collection at every step, so the refusals are counted. */
  MOST_REFUSALS = 4,
  HOOK_STEP = 1000,        /* instructions between two calls of the hook */
  LARGE_REQUEST = 64 << 10 /* bytes from which on an allocation looks at the clock */
};

const double limits_seconds = 0.75;

struct limits *limits_of(lua_State *L) {
  return *(struct limits **)lua_getextraspace(L);
}

/* ---- Time ----------------------------------------------------------------------------------- */

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reading CPU time is a system call. The wall clock is cheap to read and advances at least as fast
   as a thread's CPU time, so the wall clock is checked first. */
bool limits_out_of_time(struct limits *limits) {
  double wall = seconds(CLOCK_MONOTONIC);
  if (wall < limits->wall_check) return false;
  double left = limits->cpu_end - seconds(CLOCK_THREAD_CPUTIME_ID);
  limits->wall_check = wall + left;
  return left <= 0;
}

/* ---- The current line ----------------------------------------------------------------------- */

void limits_locate(struct limits *limits) {
  lua_Debug frame;
  for (int level = 0; level < 8 && lua_getstack(limits->L, level, &frame); level++) {
    if (!lua_getinfo(limits->L, "Sl", &frame) || frame.currentline <= 0) continue;
    memcpy(limits->where_file, frame.short_src, sizeof limits->where_file);
    limits->where_line = frame.currentline;
    return;
  }
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* kind: for a new block the type of its object, which Lua passes in place of the old size. */
static bool may_grow(struct limits *limits, const void *block, size_t kind, size_t size,
                     size_t growth) {
  bool string = !block && kind == LUA_TSTRING;
  if (limits->refusals < MOST_REFUSALS && size <= (string ? LARGEST_STRING : LARGEST_BLOCK) &&
      growth <= limits->memory - limits->used &&
      !(growth >= LARGE_REQUEST && limits->depth && limits_out_of_time(limits)))
    return true;
  limits->refusals++;
  /* The line is noted only for a new block, because the frames cannot be looked at while Lua moves
     its stack. */
  if (!block && limits->depth) limits_locate(limits);
  return false;
}

void *limits_allocate(void *context, void *block, size_t old_size, size_t size) {
  struct limits *limits = context;
  size_t old = block ? old_size : 0;
  if (size == 0) {
    free(block);
    limits->used -= old;
    return NULL;
  }
  if (size > old && !may_grow(limits, block, old_size, size, size - old)) return NULL;
  void *moved = realloc(block, size);
  if (!moved && size > old) return NULL;
  limits->used += size - old;
  return moved ? moved : block;
}

/* ---- Work ----------------------------------------------------------------------------------- */

int limits_give_up(lua_State *L, enum limit_reason reason) {
  struct limits *limits = limits_of(L);
  limits->reason = reason;
  limits_locate(limits);
  lua_pushnil(L); /* pushing nil needs no memory */
  return lua_error(L);
}

static void limits_spend(lua_State *L, size_t work) {
  struct limits *limits = limits_of(L);
  if (!limits->depth) return;
  if (work > INT32_MAX) work = INT32_MAX;
  limits->left -= (int64_t)work;
  if (limits->left < 0) limits_give_up(L, REASON_INSTRUCTIONS);
  if (limits_out_of_time(limits)) limits_give_up(L, REASON_TIME);
}

void sandbox_charge(lua_State *L, size_t work) {
  struct limits *limits = limits_of(L);
  /* Reads the clock once per HOOK_STEP units. */
  int64_t step = limits->left / HOOK_STEP;
  if (work < HOOK_STEP && (limits->left - (int64_t)work) / HOOK_STEP == step &&
      limits->left > (int64_t)work)
    limits->left -= (int64_t)work;
  else
    limits_spend(L, work);
}

static void count_hook(lua_State *L, lua_Debug *activation) {
  (void)activation;
  limits_locate(limits_of(L));
  limits_spend(L, HOOK_STEP);
}

void limits_watch(struct limits *limits, lua_State *L) {
  limits->L = L;
  *(struct limits **)lua_getextraspace(L) = limits;
  lua_sethook(L, count_hook, LUA_MASKCOUNT, HOOK_STEP);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

void limits_enter(struct limits *limits) {
  if (limits->depth++ != 0) return;
  limits->left = limits->instructions;
  limits->refusals = 0;
  limits->reason = REASON_NONE;
  limits->where_line = 0;
  limits->cpu_end = seconds(CLOCK_THREAD_CPUTIME_ID) + limits_seconds;
  limits->wall_check = seconds(CLOCK_MONOTONIC) + limits_seconds;
}

void limits_leave(struct limits *limits) {
  limits->depth--;
}
