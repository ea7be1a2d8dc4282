/* Opening a config: from a Lua file to a struct config, plain tables that the rest of cugen reads.

   Algorithm: two passes.
   1. The file runs once, in a sandbox (gen/sandbox). A declaration such as problem "M" (4096) is a
      call of a Lua function (declarations.c), which notes file and line and returns an object that
      the config can only put into a list. The object is not examined yet.
   2. The objects are read (kernel.c). This pass checks the rules of the language and writes the
      tables.

   Two passes are needed because Lua evaluates a list before the call that takes the list: when
   "kernel" is called, everything in its braces has already been evaluated. An expression is
   parsed when it is read, and sees the names that are in force then (scope.c). The names of an
   implementation are removed at its end.

   Invariants:
   - Both passes are bounded: the first by the sandbox, the second by the arena.
   - The second pass only reads the Lua state, with functions that neither allocate there nor raise
     errors. So the pass needs no sandbox_call. Its own errors end a reader by longjmp (build.h).
   - Nothing of Lua remains after the second pass: strings are copied to the arena, and the sandbox
     is closed.
   - All of a config but its objective lies in its arena, even struct config.
   - Every error but a lack of memory names its file, and the line if there is one. An error of the
     first pass ends the reading; of the second pass several errors are reported (build_note). */
#include "config.h"

#include <ctype.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "declarations.h"

static bool is_keyword(const char *word) {
  for (int i = 0; i < KEYWORD_COUNT; i++)
    if (strcmp(config_keywords[i].name, word) == 0) return true;
  return false;
}

/* Copies WORD from a message of Lua's parser that ends with "near 'WORD'". Returns false if the
   message does not contain `before`, or if the parser did not stop at a word. */
static bool word_near(const char *message, const char *before, char word[64]) {
  const char *near = strstr(message, before);
  near = near ? strstr(near, "near '") : NULL;
  return near && sscanf(near, "near '%63[A-Za-z0-9_]'", word) == 1;
}

/* Adds a suggestion to Lua's syntax error. A comma may be missing before the declaration that Lua
   names, or quotes around the word. Lua tells the kind of a syntax error only by its message. */
static void suggest_repair(cugen_error *err) {
  static const char open[] = "expected (to close '{'", syntax[] = "syntax error";
  char word[64];
  if (!err || err->status != CUGEN_ERROR_CONFIG) return;
  if (word_near(err->message, syntax, word))
    error_append(err, "; is it a name? Names stand in quotes: \"%s\"", word);
  else if (word_near(err->message, open, word) && !is_keyword(word) &&
           !isdigit((unsigned char)*word))
    error_append(err, "; is a comma missing before it, or are quotes: \"%s\"?", word);
  else if (strstr(err->message, open))
    error_append(err, "; is a comma missing before it?");
}

static int open_language(lua_State *L) {
  includes_open(L);
  declarations_open(L);
  return include_open(L);
}

static int config_run(struct includes *includes, const char *content, size_t length,
                      cugen_error *err) {
  int status = sandbox_run(includes->sandbox, open_language, includes, includes->files[0].path,
                           content, length, CUGEN_ERROR_CONFIG, err);
  if (status && includes->failed) status = error_copy(err, &includes->error);
  if (status) suggest_repair(err);
  return status;
}

static int build_config(struct config *config, struct sandbox *sandbox, cugen_error *err) {
  struct build build = {.config = config,
                        .arena = config->arena,
                        .L = sandbox_state(sandbox),
                        .line = {config->path, 1},
                        .functions = &config_functions};
  return build_run(&build, read_kernel, err);
}

static struct config *new_config(const char *path, bool shipped) {
  struct arena *arena = arena_open();
  struct config *config = arena ? arena_array(arena, 1, sizeof *config) : NULL;
  char *name = config ? arena_string(arena, path, strlen(path)) : NULL;
  if (!name) {
    arena_close(arena);
    return NULL;
  }
  config->arena = arena;
  config->path = name;
  config->shipped = shipped;
  return config;
}

/* Returns the first sentence of the comment at the beginning of the file, without its full stop or
   colon; "" if there is none. NULL: no memory. */
static const char *first_sentence(struct arena *arena, const char *content) {
  struct text said = {0};
  for (const char *line = content; strncmp(line, "--", 2) == 0; line++) {
    const size_t length = strcspn(line, "\n");
    if (said.length) text_add_char(&said, ' ');
    text_add_n(&said, line + 2 + (line[2] == ' '), length - 2 - (line[2] == ' '));
    line += length;
    if (!*line) break;
  }
  size_t end = 0;
  for (const char *at = text_get(&said);
       at[end] && !(strchr(".:", at[end]) && (!at[end + 1] || at[end + 1] == ' '));)
    end++;
  const char *kept = said.failed ? NULL : arena_string(arena, text_get(&said), end);
  text_free(&said);
  return kept;
}

static int config_from_text(const struct sources *sources, const struct included_file *file,
                            const struct text *content, struct config **out, cugen_error *err) {
  struct config *config = new_config(file->path, file->shipped);
  *out = NULL;
  if (!config) return error_memory(err);
  struct includes includes = {.sources = sources, .arena = config->arena, .count = 1};
  includes.files[0] = (struct included_file){config->path, file->shipped};
  includes.open[0] = &includes.files[0];
  int status = sandbox_open(0, 0, &includes.sandbox, err);
  if (!status) status = config_run(&includes, text_get(content), content->length, err);
  if (!status) status = build_config(config, includes.sandbox, err);
  if (!status) config->summary = first_sentence(config->arena, text_get(content));
  if (!status && !config->summary) status = error_memory(err);
  sandbox_close(includes.sandbox);
  if (status)
    config_close(config);
  else
    *out = config;
  return status;
}

int config_parse(const char *path, const char *content, size_t length, struct config **out,
                 cugen_error *err) {
  const struct sources beside = {NULL, NULL, NULL};
  struct text copy = {0};
  text_add_n(&copy, content, length);
  *out = NULL;
  int status = copy.failed ? error_memory(err)
                           : config_from_text(&beside, &(struct included_file){path, false}, &copy,
                                              out, err);
  text_free(&copy);
  return status;
}

static bool is_kernel(const char *path) {
  const size_t length = strlen(path);
  return length > 3 && strcmp(path + length - 3, ".cu") == 0;
}

static int check_folders(const struct sources *sources, const struct config *config,
                         const struct config_compile *compile, cugen_error *err) {
  for (size_t i = 0; i < compile->own_folders; i++) {
    bool found = false;
    int status = sources_folder(sources, config->path, compile->folders[i], &found, err);
    if (status) return status;
    if (!found)
      return config_fail(
          err, compile->folders_line,
          "include_dirs names '%.80s', which is no folder: it is looked for relative to the "
          "config and to cugen_options.template_dir",
          compile->folders[i]);
  }
  return CUGEN_OK;
}

int config_open(const struct sources *sources, const char *name, struct config **out,
                cugen_error *err) {
  *out = NULL;
  struct text path = {0}, content = {0};
  bool shipped;
  int status = sources_config(sources, name, &path, &content, &shipped, err);
  if (!status && is_kernel(text_get(&path)))
    status = error_set(
        err, CUGEN_ERROR_CONFIG,
        "%s is a kernel, and a config is expected: some ten lines of Lua that name the kernel, its "
        "sizes and arguments; 'cugen new %s' writes a first one",
        text_get(&path), text_get(&path));
  if (!status)
    status = config_from_text(sources, &(struct included_file){text_get(&path), shipped}, &content,
                              out, err);
  if (!status) status = check_folders(sources, *out, &(*out)->compile, err);
  for (size_t i = 0; !status && i < (*out)->implementation_count; i++)
    status = check_folders(sources, *out, &(*out)->implementations[i].compile, err);
  if (status) {
    config_close(*out);
    *out = NULL;
  }
  text_free(&path);
  text_free(&content);
  return status;
}

void config_close(struct config *config) {
  if (!config) return;
  objective_close(config->objective);
  arena_close(config->arena);
}
