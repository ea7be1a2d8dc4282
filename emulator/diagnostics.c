/* Turning messages of g++ and clang++ into a user's error; see compile.h. */
#include "compile.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "runtime/compile/advice.h"
#include "runtime/compile/toolkit.h"

/* The assembler quotes the text that it refuses, which may be lines of any file that an `.include`
   in an asm names. Returns the length of the line without the quote, or with the instruction's name
   if the source contains it. */
static size_t without_quote(const char *source, const char *line, size_t length) {
  static const char mark[] = ": Error: ";
  const char *at = memmem(line, length, mark, sizeof mark - 1), *end = line + length;
  if (!at) return length;
  const char *open = memchr(at, '`', (size_t)(end - at)), *word = open ? open + 1 : at;
  size_t word_length = 0;
  while (open && word + word_length < end &&
         (text_is_word(word[word_length]) || word[word_length] == '.'))
    word_length++;
  const bool own = word_length && memmem(source, strlen(source), word, word_length);
  return own ? (size_t)(word - line) + word_length : (size_t)(at - line) + sizeof mark - 3;
}

static void diagnostics_add_line(struct text *out, const char *line, size_t length,
                                 const char *folder) {
  const char *at = line, *end = line + length, *found;
  size_t skip = strlen(folder);
  while ((found = strstr(at, folder)) && found < end) {
    text_add_n(out, at, (size_t)(found - at));
    at = found + skip + (found[skip] == '/');
  }
  text_add_n(out, at, (size_t)(end - at));
  text_add_char(out, '\n');
}

/* Returns true if the line gives the context of the next diagnostic, such as "In file included from
   a.h:3,"; *from becomes the place that the line names, if any. */
static bool is_context(const char *line, size_t length, struct text *from) {
  static const char *const words[] = {": In function ", ": In member function ",
                                      ": At global scope:"};
  static const char mark[] = " from ";
  const char *at = memmem(line, length, mark, sizeof mark - 1);
  if (at && (!strncmp(line, "In file included", 16) || *line == ' ') &&
      strchr(",:", line[length - 1])) {
    at += sizeof mark - 1;
    text_clear(from);
    text_add_n(from, at, length - 1 - (size_t)(at - line));
    text_add_char(from, ':');
    return true;
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (memmem(line, length, words[i], strlen(words[i]))) return true;
  return false;
}

/* Finds "c++: internal compiler error: File size limit exceeded signal terminated program as",
   which says that a limit has ended a part of g++. NULL: not found. */
static const char *find_crash(const char *log, size_t *length) {
  const char *mark = strstr(log, " signal terminated program ");
  const char *begin = mark;
  while (begin && begin > log && begin[-1] != ':' && begin[-1] != '\n') begin--;
  if (!begin) return NULL;
  while (isspace((unsigned char)*begin)) begin++;
  *length = begin < mark ? (size_t)(mark - begin) : 0;
  return begin;
}

/* Keeps the user's part of "k.cu:3:7: error: call to 'cugen_refused_0' declared with attribute
   error: the instruction 'x' has no form". */
static void take_refusal(struct text *line) {
  static const char call[] = "call to ";
  const char *text = text_get(line), *begin = strstr(text, call),
             *name = strstr(text, "cugen_refused_");
  const char *end =
      /* after "attribute error" or, in clang++, "'error' attribute" */
      begin && name ? strstr(name, ": ") : NULL;
  if (!end) return;
  const char *column = strstr(text, ": error: "); /* the column is that of the generated call */
  struct text out = {0};
  while (column && column > text && isdigit((unsigned char)column[-1])) column--;
  text_add_n(&out, text,
             column && column > text && column < begin ? (size_t)(column - 1 - text) : 0);
  text_addf(&out, ": error: %s", end + 2);
  text_free(line);
  *line = out;
}

static bool diagnostics_has(const char *line, size_t length, const char *word) {
  return memmem(line, length, word, strlen(word)) != NULL;
}

/* CUDA's names of the shim's types; a longer spelling comes before a shorter one. */
static const char *const type_names[][2] = {{"cugen_float16<cugen_binary16>::Self", "__half"},
                                            {"cugen_float16<cugen_binary16>", "__half"},
                                            {"cugen_float16x2<cugen_binary16>", "__half2"},
                                            {"cugen_float16<cugen_brain16>::Self", "__nv_bfloat16"},
                                            {"cugen_float16<cugen_brain16>", "__nv_bfloat16"},
                                            {"cugen_float16x2<cugen_brain16>", "__nv_bfloat162"},
                                            {"cugen_float8<3, 7, 126>", "__nv_fp8_e4m3"},
                                            {"cugen_float8<2, 15, 123>", "__nv_fp8_e5m2"}};

/* Returns CUDA's name for the type at `at`, or "" for " {aka 'cugen_...'}"; *length becomes the
   length of the replaced text. NULL: there is neither. */
static const char *diagnostics_type_name(const char *at, size_t *length) {
  const bool gcc = strncmp(at, " {aka '", 7) == 0, clang = strncmp(at, " (aka '", 7) == 0;
  const char *end = gcc ? strstr(at, "'}") : clang ? strstr(at, "')") : NULL;
  if (end && diagnostics_has(at, (size_t)(end - at), "cugen_float")) {
    *length = (size_t)(end - at) + 2;
    return "";
  }
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
    *length = strlen(type_names[i][0]);
    if (strncmp(at, type_names[i][0], *length) == 0) return type_names[i][1];
  }
  return NULL;
}

static void plain_types(struct text *line) {
  struct text out = {0};
  size_t length;
  if (!strstr(text_get(line), "cugen_float")) return;
  for (const char *at = text_get(line); *at;) {
    const char *name = diagnostics_type_name(at, &length);
    text_add_n(&out, name ? name : at, name ? strlen(name) : 1);
    at += name ? length : 1;
  }
  text_free(line);
  *line = out;
}

/* Removes the option from "k.cu:2:9: error: variable length array 'v' is used [-Werror=vla]". */
static void take_option(struct text *line) {
  const char *option = strstr(text_get(line), " [-Werror");
  if (!option) return;
  text_cut(line, (size_t)(option - text_get(line)));
  text_add_char(line, '\n');
}

/* Copies g++'s log without warnings, their notes, and the context lines of both. */
static void drop_warnings(const char *log, struct text *out) {
  struct text context = {0};
  bool dropped = false;
  for (const char *line = log; *line;) {
    const size_t length = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
    const bool warning = diagnostics_has(line, length, ": warning: ") ||
                         diagnostics_has(line, length, ": some warnings being treated");
    const bool note = diagnostics_has(line, length, ": note: "),
               said = note || warning || diagnostics_has(line, length, "error: ");
    const bool leads = !said && (diagnostics_has(line, length, " from ") ||
                                 diagnostics_has(line, length, ": In "));
    dropped = warning || (dropped && note);
    text_add_n(&context, line, length);
    if (!leads && !dropped) text_add_n(out, text_get(&context), context.length);
    if (!leads) text_clear(&context);
    line += length;
  }
  text_add_n(out, text_get(&context), context.length);
  out->failed |= context.failed;
  text_free(&context);
}

/* Appends the log's first diagnostics with advice: at most MOST_LINES, and none after advice->ends
   is set. */
static void diagnostics_add_lines(const char *log, const char *folder, struct advice *advice,
                                  struct text *text) {
  enum { MOST_LINES = 6 };
  const struct compile_request *request = advice->request;
  struct text from = {0}, plain = {0};
  int lines = 0;
  for (const char *line = log; *line && lines < MOST_LINES && !advice->ends;) {
    size_t length = strcspn(line, "\n");
    if (length && !is_context(line, length, &from)) {
      text_clear(&plain);
      diagnostics_add_line(&plain, line, without_quote(request->source, line, length), folder);
      plain_types(&plain);
      take_refusal(&plain);
      take_option(&plain);
      advice_add(advice, text_get(&plain), plain.length - 1, text_get(&from), text);
      text_add_char(text, '\n');
      lines++;
    }
    line += length + (line[length] == '\n');
  }
  text->failed |= from.failed || plain.failed;
  text_free(&from);
  text_free(&plain);
}

int cpu_refuse(const struct compile_request *request, const char *log, const char *folder, int code,
               cugen_error *err) {
  struct advice advice = {.request = request, .cpu = true};
  struct text text = {0}, said = {0};
  size_t length = 0;
  const char *crash = find_crash(log, &length);
  if (crash)
    return error_set(
        err, CUGEN_ERROR_COMPILE,
        "%s: the compiler crashed: %.*s; it may use %d MB of memory, and write files of as many",
        request->name, (int)(length < 64 ? length : 64), crash, COMPILER_MEMORY_MB);
  drop_warnings(log, &said);
  diagnostics_add_lines(text_get(&said), folder, &advice, &text);
  text_free(&said);
  while (text.length && text.data[text.length - 1] == '\n') text.data[--text.length] = '\0';
  if (!text.length)
    text_addf(&text, "%s ended with exit code %d and said nothing: is it a C++ compiler?",
              text_get(&request->toolkit->compiler), code);
  /* A message about assembly says `asm`, or has the assembler's or cugen's own words. */
  const bool assembly = strstr(text_get(&text), "asm") ||
                        strstr(text_get(&text), "no such instruction") ||
                        strstr(text_get(&text), "has no form on the cpu device");
  int status =
      error_set_cause(err, CUGEN_ERROR_COMPILE, assembly ? CUGEN_CAUSE_ASSEMBLY : CUGEN_CAUSE_NONE,
                      "the C++ compiler refused the source:\n%s", text_get(&text));
  error_place(err, advice.where.file, advice.where.line);
  text_free(&text);
  return status;
}
