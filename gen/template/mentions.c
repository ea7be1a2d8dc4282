/* Finds the names that templates mention, without expanding the templates; see mentions.h. Branches
   that no variant takes, and comments, count as well. */
#include "mentions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source_place.h"

/* MOST_FILES: with more searched files, all names count as used. */
enum { MOST_FILES = 64, WORD = sizeof((cugen_unused_tunable *)0)->nearest };

/* The names that are searched in the files. */
struct search {
  const struct sources *sources;
  const struct config *config;
  const struct config_compile *compile; /* has the folders of the searched file's headers */
  const struct config_tunable *tunables;
  size_t count;
  bool *used, *asked;     /* for each name: whether a file uses its value, and whether a file asks
                             if the name is defined */
  char (*nearest)[WORD];  /* for each name: the nearest word in a condition */
  char *seen[MOST_FILES]; /* paths of the searched files */
  size_t seen_count;
  bool all;    /* all names count as used, because a file was not searched */
  bool failed; /* out of memory */
};

/* Returns whether the place is behind `#ifdef`, `defined`, `#define` or the like, where a value
   does not matter. */
static bool asks_definition(const char *text, const char *at) {
  static const char *const words[] = {"ifdef",    "ifndef",  "elifdef",
                                      "elifndef", "defined", "define"};
  while (at > text && (at[-1] == ' ' || at[-1] == '\t' || at[-1] == '(')) at--;
  const char *begin = at;
  while (begin > text && text_is_word(begin[-1])) begin--;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if ((size_t)(at - begin) == strlen(words[i]) && memcmp(begin, words[i], strlen(words[i])) == 0)
      return true;
  return false;
}

static void look_for_names(struct search *s, const char *text) {
  for (size_t i = 0; i < s->count; i++) {
    const char *at = text, *end = text + strlen(text), *name = s->tunables[i].name;
    for (; !s->used[i] && (at = source_find_word(text, at, end, name, strlen(name))); at++) {
      const bool asked = asks_definition(text, at);
      s->asked[i] |= asked;
      s->used[i] = !asked;
    }
  }
}

/* ---- Words that an unused name may be a misspelling of -------------------------------------- */

static bool is_declared(const struct search *s, const char *word) {
  for (size_t i = 0; i < s->count; i++)
    if (strcmp(s->tunables[i].name, word) == 0) return true;
  return config_find_problem(s->config, word);
}

static void mentions_consider(struct search *s, const char *word) {
  for (size_t i = 0; i < s->count; i++) {
    const char *const names[] = {s->nearest[i], word};
    const char *best = text_nearest(s->tunables[i].name, names, 2);
    if (best == word) memcpy(s->nearest[i], word, strlen(word) + 1);
  }
}

/* Looks at the words in the condition of one line. */
static void look_in_condition(struct search *s, const char *at) {
  char word[WORD];
  for (size_t length; *at && *at != '\n'; at += length) {
    for (length = 0; text_is_word(at[length]);) length++;
    if (length && length < sizeof word) {
      snprintf(word, sizeof word, "%.*s", (int)length, at);
      if (!is_declared(s, word)) mentions_consider(s, word);
    }
    length += !length;
  }
}

/* Looks for conditions such as `#ifndef UNROLL`. */
static void look_for_conditions(struct search *s, const char *text) {
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    const char *word = at + strspn(at, " \t");
    if (*word++ != '#') continue;
    word += strspn(word, " \t");
    if (strncmp(word, "if", 2) == 0 || strncmp(word, "elif", 4) == 0) look_in_condition(s, word);
  }
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void search_file(struct search *s, const char *name, const char *from, bool header);

/* Searches the file of an include "name", include("name"), #include "name" or #include <name>. With
   any other text, all names count as used. */
static void search_included(struct search *s, const char *at, const char *from) {
  struct text name = {0};
  while (*at == ' ' || *at == '\t' || *at == '(') at++;
  const char *ends = *at == '<' ? ">\n" : "\"\n";
  const size_t length = *at == '"' || *at == '<' ? strcspn(at + 1, ends) : 0;
  if (!length || at[1 + length] != *ends) {
    s->all |= *at != '<';
    return;
  }
  text_add_n(&name, at + 1, length);
  s->failed |= name.failed;
  if (!name.failed) search_file(s, text_get(&name), from, *at == '<');
  text_free(&name);
}

static bool note_file(struct search *s, const char *path) {
  for (size_t i = 0; i < s->seen_count; i++)
    if (strcmp(s->seen[i], path) == 0) return false;
  if (s->seen_count == MOST_FILES) return s->all = true, false;
  char *copy = strdup(path);
  if (!copy) return s->failed = true, false;
  s->seen[s->seen_count++] = copy;
  return true;
}

/* Searches a file unless it has been searched. */
static void search_new(struct search *s, const struct text *path, const struct text *content) {
  static const char word[] = "include";
  enum { LENGTH = sizeof word - 1 };
  const char *text = text_get(content), *end = text + strlen(text);
  s->failed |= path->failed || content->failed;
  if (s->failed || !note_file(s, text_get(path))) return;
  look_for_names(s, text);
  look_for_conditions(s, text);
  for (const char *at = text;
       !s->all && !s->failed && (at = source_find_word(text, at, end, word, LENGTH));)
    search_included(s, at += LENGTH, text_get(path));
}

/* Searches a template or another file. header: the name stands in angle brackets; the file is then
   looked for in the folders of include_dirs, and is taken for the system's if none has it. */
static void search_file(struct search *s, const char *name, const char *from, bool header) {
  const struct header_search wanted = {.name = name,
                                       .from = from,
                                       .config = s->config->path,
                                       .folders = s->compile->folders,
                                       .folder_count = s->compile->folder_count};
  struct text path = {0}, content = {0};
  bool found = true;
  cugen_error ignored;
  int status =
      header ? sources_header(s->sources, &wanted, &path, &content, &found, &ignored)
             : sources_template(s->sources, name, from, s->config->path, &path, &content, &ignored);
  if (status)
    s->all = true; /* a header in another folder, or a missing file */
  else if (found)
    search_new(s, &path, &content);
  text_free(&path);
  text_free(&content);
}

/* Returns whether the tunable's values are booleans. A boolean that a text asks about only by
   #ifdef is a macro only if it is true, so #ifdef uses the value. */
static bool are_booleans(const struct config_tunable *tunable) {
  for (size_t i = 0; i < tunable->value_count; i++)
    if (tunable->values[i].type != VALUE_BOOL) return false;
  return true;
}

/* Reports the tunables from `first` on that are worth a report. */
static void add_reports(const struct search *s, size_t first, cugen_unused_tunable *out,
                        size_t most, size_t *count) {
  for (size_t i = first; i < s->count; i++) {
    const struct config_tunable *tunable = &s->tunables[i];
    if (tunable->value_count < 2 || s->used[i] ||
        (s->asked[i] && (tunable->used || are_booleans(tunable))))
      continue;
    const cugen_unused_reason why = s->asked[i]     ? CUGEN_UNUSED_DEFINED
                                    : tunable->used ? CUGEN_UNUSED_MISSPELT
                                                    : CUGEN_UNUSED_NOWHERE;
    if (why == CUGEN_UNUSED_MISSPELT && !s->nearest[i][0]) continue;
    if (*count < most) {
      out[*count] = (cugen_unused_tunable){.name = tunable->name,
                                           .file = tunable->line.path,
                                           .line = tunable->line.number,
                                           .values = tunable->value_count,
                                           .why = why};
      memcpy(out[*count].nearest, s->nearest[i], sizeof s->nearest[i]);
    }
    ++*count;
  }
}

/* Searches the reference, the verify kernel and the generators, which see the shared tunables. */
static void search_proof(struct search *s) {
  const struct config *config = s->config;
  s->compile = &config->compile;
  if (config->reference) search_file(s, config->reference, config->path, false);
  if (config->verify) search_file(s, config->verify, config->path, false);
  for (size_t i = 0; i < config->argument_count; i++)
    if (config->arguments[i].data.kind == DATA_GENERATOR)
      search_file(s, config->arguments[i].data.file, config->path, false);
}

static void search_implementation(struct search *s,
                                  const struct config_implementation *implementation) {
  s->compile = &implementation->compile;
  if (implementation->template_name)
    search_file(s, implementation->template_name, s->config->path, false);
  for (size_t i = 0; i < implementation->launch_count; i++)
    if (implementation->launches[i].entry.text)
      look_for_names(s, implementation->launches[i].entry.text);
}

/* Reports unused tunables: with `shared` the tunables that all implementations, [first, last),
   share; else the tunables of the implementation `first`. */
static int mentions_add(const struct sources *sources, const struct config *config, bool shared,
                        size_t first, size_t last, cugen_unused_tunable *out, size_t most,
                        size_t *count, cugen_error *err) {
  const size_t tunables =
      shared ? config->shared_tunable_count : config->implementations[first].tunable_count;
  struct search s = {.sources = sources,
                     .config = config,
                     .tunables =
                         shared ? config->shared_tunables : config->implementations[first].tunables,
                     .count = tunables,
                     .used = calloc(tunables + 1, sizeof *s.used),
                     .asked = calloc(tunables + 1, sizeof *s.asked),
                     .nearest = calloc(tunables + 1, sizeof *s.nearest)};
  s.failed = !s.used || !s.asked || !s.nearest;
  if (!s.failed && shared) search_proof(&s);
  for (size_t i = first; i < last && !s.failed; i++)
    search_implementation(&s, &config->implementations[i]);
  if (!s.all && !s.failed)
    add_reports(&s, shared ? 0 : config->shared_tunable_count, out, most, count);
  for (size_t i = 0; i < s.seen_count; i++) free(s.seen[i]);
  free(s.used);
  free(s.asked);
  free(s.nearest);
  return s.failed ? error_memory(err) : CUGEN_OK;
}

int mentions_unused(const struct sources *sources, const struct config *config,
                    cugen_unused_tunable *out, size_t most, size_t *count, cugen_error *err) {
  const size_t all = config->implementation_count;
  *count = 0;
  int status = config->shared_tunable_count
                   ? mentions_add(sources, config, true, 0, all, out, most, count, err)
                   : CUGEN_OK;
  for (size_t i = 0; i < all && !status; i++)
    status = mentions_add(sources, config, false, i, i + 1, out, most, count, err);
  return status;
}
