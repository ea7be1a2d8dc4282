/* The sandbox's limits: memory through the allocator, instructions and time through a count hook and
   sandbox_charge. Nothing offered can catch an error, so that giving up is final. See sandbox.h. */
#include "sandbox.h"

#include <lauxlib.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "sandbox_library.h"

enum {
  DEFAULT_MEMORY = 64 << 20,
  DEFAULT_INSTRUCTIONS = 50000000,
  /* One instruction can copy or compare a whole string or stack: these keep that below a millisecond or so. */
  LARGEST_STRING = 1 << 20,
  LARGEST_BLOCK = 4 << 20,
  /* After a refused allocation Lua collects everything and tries again. A script that lives just below the limit
     could ask for that at every step, so that its patience is counted. */
  MOST_REFUSALS = 4,
  HOOK_STEP = 1000,
  LOAD_STEP = 4096,
  LARGE_REQUEST = 64 << 10
};

/* Processor time of one call, for the few instructions that take long (a comparison of two long strings). */
static const double most_seconds = 0.75;

enum reason { REASON_NONE, REASON_INSTRUCTIONS, REASON_TIME };

struct chunk_name {
  struct chunk_name *next;
  char shown[LUA_IDSIZE]; /* as Lua shows it: a long path loses its beginning */
  char full[];
};

struct sandbox {
  lua_State *L;
  locale_t locale; /* "C": a number prints as 0.5 whatever the application's locale */
  size_t memory, used;
  int refusals;
  int64_t instructions, left;
  double cpu_end, wall_check;
  enum reason reason;
  int depth;                   /* sandbox_calls under way */
  char where_file[LUA_IDSIZE]; /* where the last error, or the last look, was */
  int where_line;
  struct chunk_name *names;
};

static struct sandbox *sandbox_of(lua_State *L) {
  return *(struct sandbox **)lua_getextraspace(L);
}

lua_State *sandbox_state(struct sandbox *sandbox) {
  return sandbox->L;
}

/* ---- Time ---- */

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void start_clock(struct sandbox *sandbox) {
  sandbox->cpu_end = seconds(CLOCK_THREAD_CPUTIME_ID) + most_seconds;
  sandbox->wall_check = seconds(CLOCK_MONOTONIC) + most_seconds;
}

/* The processor's time is what counts, but asking for it is a system call; the wall clock is cheap and never
   behind it. */
static bool out_of_time(struct sandbox *sandbox) {
  double wall = seconds(CLOCK_MONOTONIC);
  if (wall < sandbox->wall_check) return false;
  double left = sandbox->cpu_end - seconds(CLOCK_THREAD_CPUTIME_ID);
  sandbox->wall_check = wall + left;
  return left <= 0;
}

/* ---- Where ---- */

/* The line that runs now; needs no memory. */
static void locate(struct sandbox *sandbox) {
  lua_Debug frame;
  for (int level = 0; level < 8 && lua_getstack(sandbox->L, level, &frame); level++) {
    if (!lua_getinfo(sandbox->L, "Sl", &frame) || frame.currentline <= 0) continue;
    memcpy(sandbox->where_file, frame.short_src, sizeof sandbox->where_file);
    sandbox->where_line = frame.currentline;
    return;
  }
}

/* ---- Memory ---- */

static bool may_grow(struct sandbox *sandbox, const void *block, size_t kind, size_t size, size_t growth) {
  bool string = !block && kind == LUA_TSTRING;
  if (sandbox->refusals < MOST_REFUSALS && size <= (string ? LARGEST_STRING : LARGEST_BLOCK) &&
      growth <= sandbox->memory - sandbox->used &&
      !(growth >= LARGE_REQUEST && sandbox->depth && out_of_time(sandbox)))
    return true;
  sandbox->refusals++;
  /* Only for a new block: while Lua moves its stack, its frames can't be looked at. */
  if (!block && sandbox->depth) locate(sandbox);
  return false;
}

static void *allocate(void *context, void *block, size_t old_size, size_t size) {
  struct sandbox *sandbox = context;
  size_t old = block ? old_size : 0;
  if (size == 0) {
    free(block);
    sandbox->used -= old;
    return NULL;
  }
  if (size > old && !may_grow(sandbox, block, old_size, size, size - old)) return NULL;
  void *moved = realloc(block, size);
  if (!moved && size > old) return NULL;
  sandbox->used += size - old;
  return moved ? moved : block;
}

/* ---- Work ---- */

static int give_up(lua_State *L, enum reason reason) {
  struct sandbox *sandbox = sandbox_of(L);
  sandbox->reason = reason;
  locate(sandbox);
  lua_pushnil(L); /* needs no memory */
  return lua_error(L);
}

static void spend(lua_State *L, size_t work) {
  struct sandbox *sandbox = sandbox_of(L);
  if (!sandbox->depth) return;
  if (work > INT32_MAX) work = INT32_MAX;
  sandbox->left -= (int64_t)work;
  if (sandbox->left < 0) give_up(L, REASON_INSTRUCTIONS);
  if (out_of_time(sandbox)) give_up(L, REASON_TIME);
}

void sandbox_charge(lua_State *L, size_t work) {
  struct sandbox *sandbox = sandbox_of(L);
  /* The clock is looked at every HOOK_STEP units, not at every call. */
  int64_t step = sandbox->left / HOOK_STEP;
  if (work < HOOK_STEP && (sandbox->left - (int64_t)work) / HOOK_STEP == step && sandbox->left > (int64_t)work)
    sandbox->left -= (int64_t)work;
  else
    spend(L, work);
}

static void count_hook(lua_State *L, lua_Debug *activation) {
  (void)activation;
  locate(sandbox_of(L));
  spend(L, HOOK_STEP);
}

/* ---- Open and close ---- */

static int open_library(lua_State *L) {
  sandbox_library_open(L);
  return 0;
}

static int fill_state(struct sandbox *sandbox, cugen_error *err) {
  lua_State *L = sandbox->L;
  *(struct sandbox **)lua_getextraspace(L) = sandbox;
  lua_pushcfunction(L, open_library);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) return error_memory(err);
  lua_sethook(L, count_hook, LUA_MASKCOUNT, HOOK_STEP);
  return CUGEN_OK;
}

int sandbox_open(size_t memory, long instructions, struct sandbox **out, cugen_error *err) {
  *out = NULL;
  struct sandbox *sandbox = calloc(1, sizeof *sandbox);
  if (!sandbox) return error_memory(err);
  sandbox->memory = memory ? memory : DEFAULT_MEMORY;
  sandbox->instructions = instructions ? instructions : DEFAULT_INSTRUCTIONS;
  sandbox->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (sandbox->locale) sandbox->L = lua_newstate(allocate, sandbox);
  int status = sandbox->L ? fill_state(sandbox, err) : error_memory(err);
  if (status) {
    sandbox_close(sandbox);
    return status;
  }
  *out = sandbox;
  return CUGEN_OK;
}

void sandbox_close(struct sandbox *sandbox) {
  if (!sandbox) return;
  if (sandbox->L) lua_close(sandbox->L);
  if (sandbox->locale) freelocale(sandbox->locale);
  while (sandbox->names) {
    struct chunk_name *next = sandbox->names->next;
    free(sandbox->names);
    sandbox->names = next;
  }
  free(sandbox);
}

/* ---- Names of chunks ---- */

/* What Lua makes of "@name" (luaO_chunkid): the end of a long one, after "...". */
static void shorten(const char *name, char shown[LUA_IDSIZE]) {
  size_t length = strlen(name);
  if (length < LUA_IDSIZE) {
    memcpy(shown, name, length + 1);
    return;
  }
  size_t kept = LUA_IDSIZE - 1 - 3;
  memcpy(shown, "...", 3);
  memcpy(shown + 3, name + length - kept, kept + 1);
}

static bool remember_name(struct sandbox *sandbox, const char *name) {
  for (struct chunk_name *n = sandbox->names; n; n = n->next)
    if (strcmp(n->full, name) == 0) return true;
  size_t size = strlen(name) + 1;
  struct chunk_name *entry = malloc(sizeof *entry + size);
  if (!entry) return false;
  memcpy(entry->full, name, size);
  shorten(name, entry->shown);
  entry->next = sandbox->names;
  sandbox->names = entry;
  return true;
}

/* The name whose shown form, with ":", opens the text. */
static const struct chunk_name *opening_name(const struct sandbox *sandbox, const char *text) {
  for (const struct chunk_name *n = sandbox->names; n; n = n->next) {
    size_t length = strlen(n->shown);
    if (strncmp(text, n->shown, length) == 0 && text[length] == ':') return n;
  }
  return NULL;
}

static const char *full_name(const struct sandbox *sandbox, const char *shown) {
  for (const struct chunk_name *n = sandbox->names; n; n = n->next)
    if (strcmp(n->shown, shown) == 0) return n->full;
  return shown;
}

/* ---- Errors ---- */

static int set_placed(struct sandbox *sandbox, int status, const char *what, cugen_error *err) {
  const struct chunk_name *named = opening_name(sandbox, what);
  if (named) return error_set(err, status, "%s%s", named->full, what + strlen(named->shown));
  if (!sandbox->where_line) return error_set(err, status, "%s", what);
  return error_set(err, status, "%s:%d: %s", full_name(sandbox, sandbox->where_file), sandbox->where_line, what);
}

static int set_format(struct sandbox *sandbox, int status, cugen_error *err, const char *format, ...)
    PRINTF_LIKE(4, 5);

static int set_format(struct sandbox *sandbox, int status, cugen_error *err, const char *format, ...) {
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  int result = what.failed ? error_memory(err) : set_placed(sandbox, status, text_get(&what), err);
  text_free(&what);
  return result;
}

/* table.concat's buffer reports a refusal as an ordinary error with this text. */
static bool is_memory_error(const struct sandbox *sandbox, int lua_status) {
  if (lua_status == LUA_ERRMEM) return true;
  const char *message = lua_type(sandbox->L, -1) == LUA_TSTRING ? lua_tostring(sandbox->L, -1) : "";
  return sandbox->refusals && strcmp(message, "not enough memory") == 0;
}

static int set_memory(struct sandbox *sandbox, int status, cugen_error *err) {
  if (!sandbox->refusals) return error_memory(err);
  return set_format(
      sandbox, status, err,
      "gave up: it takes more than %zu MiB of memory, or %d MiB in one table or stack, or %d MiB in one "
      "string: does something grow, or call itself, without end?",
      (sandbox->memory + (1 << 20) - 1) >> 20, LARGEST_BLOCK >> 20, LARGEST_STRING >> 20);
}

static int set_instructions(struct sandbox *sandbox, int status, cugen_error *err) {
  int64_t n = sandbox->instructions;
  bool millions = n % 1000000 == 0;
  return set_format(sandbox, status, err, "gave up after %lld%s instructions: an endless loop?",
                    (long long)(millions ? n / 1000000 : n), millions ? " million" : "");
}

/* From the error value on the stack, which it pops. */
static int set_failure(struct sandbox *sandbox, int lua_status, int status, cugen_error *err) {
  lua_State *L = sandbox->L;
  int result;
  if (sandbox->reason == REASON_INSTRUCTIONS)
    result = set_instructions(sandbox, status, err);
  else if (sandbox->reason == REASON_TIME || out_of_time(sandbox))
    result = set_format(sandbox, status, err, "gave up after %g s of work: an endless loop?", most_seconds);
  else if (is_memory_error(sandbox, lua_status))
    result = set_memory(sandbox, status, err);
  else if (lua_type(L, -1) == LUA_TSTRING)
    result = set_placed(sandbox, status, lua_tostring(L, -1), err);
  else
    result =
        set_format(sandbox, status, err, "error with a value of type %s instead of a message", luaL_typename(L, -1));
  lua_pop(L, 1);
  return result;
}

/* ---- Load and call ---- */

/* The outermost call or load opens the budget. */
static locale_t enter(struct sandbox *sandbox) {
  if (sandbox->depth++ == 0) {
    sandbox->left = sandbox->instructions;
    sandbox->refusals = 0;
    sandbox->reason = REASON_NONE;
    sandbox->where_line = 0;
    start_clock(sandbox);
  }
  return uselocale(sandbox->locale);
}

static void leave(struct sandbox *sandbox, locale_t before, bool failed) {
  uselocale(before);
  sandbox->depth--;
  if (failed && sandbox->refusals) lua_gc(sandbox->L, LUA_GCCOLLECT);
}

struct reader {
  const char *code;
  size_t left;
};

/* In small pieces, so that the parser's time is watched as well. */
static const char *read_piece(lua_State *L, void *context, size_t *size) {
  struct reader *reader = context;
  if (out_of_time(sandbox_of(L))) give_up(L, REASON_TIME);
  const char *piece = reader->code;
  *size = reader->left < LOAD_STEP ? reader->left : LOAD_STEP;
  reader->code += *size;
  reader->left -= *size;
  return *size ? piece : NULL;
}

static int load_text(struct sandbox *sandbox, const char *name, const char *code, size_t length) {
  struct text chunk = {0};
  text_addf(&chunk, "@%s", name);
  struct reader reader = {code, length};
  int result = chunk.failed ? LUA_ERRMEM : lua_load(sandbox->L, read_piece, &reader, text_get(&chunk), "t");
  if (chunk.failed) lua_pushnil(sandbox->L);
  text_free(&chunk);
  return result;
}

int sandbox_load(struct sandbox *sandbox, const char *name, const char *code, size_t length, int environment,
                 int status, cugen_error *err) {
  lua_State *L = sandbox->L;
  environment = environment ? lua_absindex(L, environment) : 0;
  if (!lua_checkstack(L, LUA_MINSTACK) || !remember_name(sandbox, name)) return error_memory(err);
  locale_t before = enter(sandbox);
  if (sandbox->depth == 1) {
    shorten(name, sandbox->where_file);
    sandbox->where_line = 1;
  }
  const bool compiled = length && *code == *LUA_SIGNATURE;
  int lua_status = load_text(sandbox, name, code, length);
  int result = lua_status == LUA_OK ? CUGEN_OK : set_failure(sandbox, lua_status, status, err);
  leave(sandbox, before, result != CUGEN_OK);
  if (result && compiled)
    error_set(err, result, "%s:1: attempt to load a binary chunk; what cugen reads is Lua's text", name);
  if (!result && environment) {
    lua_pushvalue(L, environment);
    lua_setupvalue(L, -2, 1);
  }
  return result;
}

/* Sees the stack as it was when the error was raised. */
static int note_place(lua_State *L) {
  struct sandbox *sandbox = sandbox_of(L);
  if (sandbox->reason != REASON_NONE) return 1;
  sandbox->where_line = 0;
  locate(sandbox);
  return 1;
}

int sandbox_call(struct sandbox *sandbox, int arguments, int results, int status, cugen_error *err) {
  lua_State *L = sandbox->L;
  int base = lua_gettop(L) - arguments;
  if (!lua_checkstack(L, LUA_MINSTACK)) {
    lua_settop(L, base - 1);
    return error_memory(err);
  }
  locale_t before = enter(sandbox);
  lua_pushcfunction(L, note_place);
  lua_insert(L, base);
  int lua_status = lua_pcall(L, arguments, results, base);
  int result = lua_status == LUA_OK ? CUGEN_OK : set_failure(sandbox, lua_status, status, err);
  lua_remove(L, base);
  leave(sandbox, before, result != CUGEN_OK);
  return result;
}
