/* Loads and calls Lua within limits, and builds the message of a call that fails; see sandbox.h. */
#include "sandbox.h"

#include <lauxlib.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "limits.h"

enum { DEFAULT_MEMORY = 64 << 20, DEFAULT_INSTRUCTIONS = 50000000, LOAD_STEP = 4096 };

struct chunk_name {
  struct chunk_name *next;
  char shown[LUA_IDSIZE]; /* the name as Lua shows it, shortened */
  char full[];
};

struct sandbox {
  lua_State *L;
  struct limits limits;
  locale_t locale; /* the locale "C", so that a number prints as 0.5 in any locale of the
                      application */
  struct chunk_name *names;
};

lua_State *sandbox_state(struct sandbox *sandbox) {
  return sandbox->L;
}

/* ---- Open and close ------------------------------------------------------------------------- */

int sandbox_open(size_t memory, long instructions, struct sandbox **out, cugen_error *err) {
  *out = NULL;
  struct sandbox *sandbox = calloc(1, sizeof *sandbox);
  if (!sandbox) return error_memory(err);
  sandbox->limits.memory = memory ? memory : DEFAULT_MEMORY;
  sandbox->limits.instructions = instructions ? instructions : DEFAULT_INSTRUCTIONS;
  sandbox->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (sandbox->locale) sandbox->L = lua_newstate(limits_allocate, &sandbox->limits);
  bool ready = sandbox->L != NULL;
  if (ready) {
    lua_pushcfunction(sandbox->L, sandbox_library_open);
    ready = lua_pcall(sandbox->L, 0, 0, 0) == LUA_OK;
  }
  if (!ready) {
    sandbox_close(sandbox);
    return error_memory(err);
  }
  limits_watch(&sandbox->limits, sandbox->L);
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

/* ---- Names of chunks ------------------------------------------------------------------------ */

/* Shortens a name as Lua's luaO_chunkid does, to "..." and the end. */
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

/* Returns a chunk name whose shown form, followed by ":", begins the text; NULL: none does. */
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

/* ---- Errors --------------------------------------------------------------------------------- */

/* Sets the error from Lua's own message behind the chunk name: ":3: unexpected symbol". */
static int set_named(const struct chunk_name *named, int status, const char *rest,
                     cugen_error *err) {
  error_set(err, status, "%s%s", named->full, rest);
  if (err) error_place(err, named->full, atoi(rest + 1));
  return status;
}

static int set_placed(struct sandbox *sandbox, int status, const char *what, cugen_error *err) {
  const struct chunk_name *named = opening_name(sandbox, what);
  if (named) return set_named(named, status, what + strlen(named->shown), err);
  if (!sandbox->limits.where_line) return error_set(err, status, "%s", what);
  return error_set_at(err, status, full_name(sandbox, sandbox->limits.where_file),
                      sandbox->limits.where_line, "%s", what);
}

static int PRINTF_LIKE(4, 5)
    set_format(struct sandbox *sandbox, int status, cugen_error *err, const char *format, ...) {
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  int result = what.failed ? error_memory(err) : set_placed(sandbox, status, text_get(&what), err);
  text_free(&what);
  return result;
}

/* The buffer of table.concat reports a refused allocation as an ordinary error with the text "not
   enough memory". */
static bool is_memory_error(const struct sandbox *sandbox, int lua_status) {
  if (lua_status == LUA_ERRMEM) return true;
  const char *message = lua_type(sandbox->L, -1) == LUA_TSTRING ? lua_tostring(sandbox->L, -1) : "";
  return sandbox->limits.refusals && strcmp(message, "not enough memory") == 0;
}

static int set_memory(struct sandbox *sandbox, int status, cugen_error *err) {
  if (!sandbox->limits.refusals) return error_memory(err);
  return set_format(sandbox, status, err,
                    "gave up: it takes more than %zu MiB of memory, or %d MiB in one table or "
                    "stack, or %d MiB in one string. Does a table, a string or a recursion grow "
                    "without end?",
                    (sandbox->limits.memory + (1 << 20) - 1) >> 20, LARGEST_BLOCK >> 20,
                    LARGEST_STRING >> 20);
}

static int set_instructions(struct sandbox *sandbox, int status, cugen_error *err) {
  int64_t n = sandbox->limits.instructions;
  bool millions = n % 1000000 == 0;
  return set_format(sandbox, status, err, "gave up after %lld%s instructions: an endless loop?",
                    (long long)(millions ? n / 1000000 : n), millions ? " million" : "");
}

/* Sets the error from the error value on top of the stack, and pops the value. */
static int set_failure(struct sandbox *sandbox, int lua_status, int status, cugen_error *err) {
  lua_State *L = sandbox->L;
  int result;
  if (sandbox->limits.reason == REASON_INSTRUCTIONS)
    result = set_instructions(sandbox, status, err);
  else if (sandbox->limits.reason == REASON_TIME || limits_out_of_time(&sandbox->limits))
    result = set_format(sandbox, status, err, "gave up after %g s of work: an endless loop?",
                        limits_seconds);
  else if (is_memory_error(sandbox, lua_status))
    result = set_memory(sandbox, status, err);
  else if (lua_type(L, -1) == LUA_TSTRING)
    result = set_placed(sandbox, status, lua_tostring(L, -1), err);
  else
    result = set_format(sandbox, status, err, "error with a value of type %s instead of a message",
                        luaL_typename(L, -1));
  lua_pop(L, 1);
  return result;
}

/* ---- Braces left open at the end of a file -------------------------------------------------- */

/* Returns the end of the long string that "[[" or "[==[" begins at `at`; NULL: none begins
   there. */
static const char *long_text_end(const char *at, const char *end) {
  size_t level = 1;
  while (at + level < end && at[level] == '=') level++;
  if (*at != '[' || at + level >= end || at[level] != '[') return NULL;
  for (const char *p = at + level + 1; p + level < end; p++)
    if (*p == ']' && p[level] == ']' && strspn(p + 1, "=") == level - 1) return p + level + 1;
  return end;
}

static const char *string_end(const char *at, const char *end) {
  const char quote = *at++;
  while (at < end && *at != quote && *at != '\n') at += *at == '\\' ? 2 : 1;
  return at < end ? at + 1 : end;
}

/* Returns the place behind the comment or string that begins at `at`; `at` if none begins there. */
static const char *skip_quoted(const char *at, const char *end) {
  if (*at == '"' || *at == '\'') return string_end(at, end);
  const bool comment = *at == '-' && at + 1 < end && at[1] == '-';
  const char *opening = comment ? at + 2 : at;
  const char *close = opening < end ? long_text_end(opening, end) : end;
  if (close || !comment) return close ? close : at;
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  return newline ? newline : end;
}

/* Returns the line of the innermost brace that is not closed; 0: all are closed, or more than
   DEEPEST are open. */
static int open_brace(const char *code, size_t length) {
  enum { DEEPEST = 64 };
  int lines[DEEPEST], line = 1, depth = 0;
  for (const char *at = code, *end = code + length; at < end;) {
    const char *next = skip_quoted(at, end);
    if (next == at) {
      if (*at == '{' && depth == DEEPEST) return 0;
      if (*at == '{') lines[depth++] = line;
      if (*at == '}' && depth) depth--;
      next++;
    }
    for (; at < next; at++) line += *at == '\n';
  }
  return depth ? lines[depth - 1] : 0;
}

/* Adds the line of the open brace to an error at the end of the file, unless Lua itself names
   it. */
static void name_open_brace(const char *code, size_t length, cugen_error *err) {
  static const char ending[] = "near <eof>";
  const size_t said = err ? strlen(err->message) : 0;
  if (said < strlen(ending) || strcmp(err->message + said - strlen(ending), ending) != 0) return;
  const int line = strstr(err->message, "to close") ? 0 : open_brace(code, length);
  if (line) error_append(err, ": the '{' of line %d is not closed", line);
}

/* ---- Load and call -------------------------------------------------------------------------- */

static locale_t sandbox_enter(struct sandbox *sandbox) {
  limits_enter(&sandbox->limits);
  return uselocale(sandbox->locale);
}

static void sandbox_leave(struct sandbox *sandbox, locale_t before, bool failed) {
  uselocale(before);
  limits_leave(&sandbox->limits);
  if (failed && sandbox->limits.refusals) lua_gc(sandbox->L, LUA_GCCOLLECT);
}

struct reader {
  const char *code;
  size_t left;
};

/* Hands the source to Lua in small pieces, so that the time limit holds for parsing, too. */
static const char *read_piece(lua_State *L, void *context, size_t *size) {
  struct reader *reader = context;
  if (limits_out_of_time(limits_of(L))) limits_give_up(L, REASON_TIME);
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
  int result =
      chunk.failed ? LUA_ERRMEM : lua_load(sandbox->L, read_piece, &reader, text_get(&chunk), "t");
  if (chunk.failed) lua_pushnil(sandbox->L);
  text_free(&chunk);
  return result;
}

int sandbox_load(struct sandbox *sandbox, const char *name, const char *code, size_t length,
                 int environment, int status, cugen_error *err) {
  lua_State *L = sandbox->L;
  environment = environment ? lua_absindex(L, environment) : 0;
  if (!lua_checkstack(L, LUA_MINSTACK) || !remember_name(sandbox, name)) return error_memory(err);
  locale_t before = sandbox_enter(sandbox);
  if (sandbox->limits.depth == 1) {
    shorten(name, sandbox->limits.where_file);
    sandbox->limits.where_line = 1;
  }
  const bool compiled = length && *code == *LUA_SIGNATURE;
  int lua_status = load_text(sandbox, name, code, length);
  int result = lua_status == LUA_OK ? CUGEN_OK : set_failure(sandbox, lua_status, status, err);
  sandbox_leave(sandbox, before, result != CUGEN_OK);
  if (lua_status == LUA_ERRSYNTAX) name_open_brace(code, length, err);
  if (result && compiled)
    error_set_at(err, result, name, 1,
                 "attempt to load a binary chunk; what cugen reads is Lua's text");
  if (!result && environment) {
    lua_pushvalue(L, environment);
    lua_setupvalue(L, -2, 1);
  }
  return result;
}

/* The message handler of sandbox_call: notes the line of an error while the stack is still as it
   was. */
static int sandbox_note_place(lua_State *L) {
  struct limits *limits = limits_of(L);
  if (limits->reason != REASON_NONE) return 1;
  limits->where_line = 0;
  limits_locate(limits);
  return 1;
}

int sandbox_call(struct sandbox *sandbox, int arguments, int results, int status,
                 cugen_error *err) {
  lua_State *L = sandbox->L;
  int base = lua_gettop(L) - arguments;
  if (!lua_checkstack(L, LUA_MINSTACK)) {
    lua_settop(L, base - 1);
    return error_memory(err);
  }
  locale_t before = sandbox_enter(sandbox);
  lua_pushcfunction(L, sandbox_note_place);
  lua_insert(L, base);
  int lua_status = lua_pcall(L, arguments, results, base);
  int result = lua_status == LUA_OK ? CUGEN_OK : set_failure(sandbox, lua_status, status, err);
  lua_remove(L, base);
  sandbox_leave(sandbox, before, result != CUGEN_OK);
  return result;
}

int sandbox_run(struct sandbox *sandbox, lua_CFunction open, void *context, const char *name,
                const char *code, size_t length, int status, cugen_error *err) {
  lua_pushcfunction(sandbox->L, open);
  lua_pushlightuserdata(sandbox->L, context);
  int result = sandbox_call(sandbox, 1, 0, status, err);
  if (!result) result = sandbox_load(sandbox, name, code, length, 0, status, err);
  return result ? result : sandbox_call(sandbox, 0, 0, status, err);
}
