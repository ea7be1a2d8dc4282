/* Checking what a compiler without a jail has read; see compile.h. */
#include "compile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/system.h"

/* Returns the file in ". /usr/include/stdio.h", which has a dot for each level of inclusion: the
   format of both g++ and clang++. '!' and 'x' mark a precompiled header of g++. Returns NULL for
   another line. */
static const char *included(const char *line, size_t length) {
  const size_t dots = strspn(line, ".!x");
  return dots && dots + 1 < length && line[dots] == ' ' ? line + dots + 1 : NULL;
}

static int check_file(const char *name, size_t length, const struct jail_place *places,
                      size_t count, cugen_error *err) {
  struct text path = {0};
  text_add_n(&path, name, length);
  const bool good = !path.failed && jail_covers(places, count, text_get(&path));
  int status = path.failed ? error_memory(err) : CUGEN_OK;
  if (!status && !good)
    status =
        error_set(err, CUGEN_ERROR_COMPILE,
                  "the source includes %s, which is no header of the system's", text_get(&path));
  text_free(&path);
  return status;
}

int unjailed_check_log(struct text *log, const struct jail_place *places, size_t count,
                       cugen_error *err) {
  static const char guards[] = "Multiple include guards may be useful for:";
  struct text rest = {0};
  int status = CUGEN_OK;
  for (const char *line = text_get(log); *line && !status;) {
    const size_t length = strcspn(line, "\n"), whole = length + (line[length] == '\n');
    const char *name = included(line, length);
    if (strncmp(line, guards, sizeof guards - 1) == 0) break;
    if (name)
      status = check_file(name, length - (size_t)(name - line), places, count, err);
    else
      text_add_n(&rest, line, whole);
    line += whole;
  }
  text_free(log);
  *log = rest;
  return status;
}

/* Whether the word begins like .incbin or .include; like .macro, .irp, .irpc, .rept or .altmacro,
   which can produce an .include; or like .mri, after which directives need no dot. The assembler
   ignores case. */
static bool reads_or_spells(const char *word) {
  static const char *const words[] = {".inc", ".mac", ".irp", ".irep", ".rep", ".alt", ".mri"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strncasecmp(word, words[i], strlen(words[i])) == 0) return true;
  return false;
}

int unjailed_check_assembly(const char *path, cugen_error *err) {
  struct text content = {0};
  int status = file_read(path, &content, err);
  const char *text = text_get(&content), *end = text + content.length, *at = text;
  for (; !status && at < end && (at = memchr(at, '.', (size_t)(end - at))); at++) {
    const bool begins = at == text || !(isalnum((unsigned char)at[-1]) || strchr("_.$@", at[-1]));
    if (begins && reads_or_spells(at))
      status = error_set(
          err, CUGEN_ERROR_COMPILE,
          "an asm of the source says '%.*s': the assembler is to read no file, and to expand no "
          "macro",
          (int)strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") + 1, at);
  }
  text_free(&content);
  return status;
}
