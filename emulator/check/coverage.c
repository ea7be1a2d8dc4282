/* Numbering the lines of templates: every line that occurs in any source gets a number. See
   coverage.h. */
#include "coverage.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/source_place.h"

enum { MOST_FILES = 64 };

struct template_lines {
  char *name;
  uint32_t *number; /* by line; 0: no number yet */
  size_t room;
};

/* The template lines that a source contains. */
struct taken {
  uint32_t *lines; /* numbers, rising */
  size_t count;
  uint64_t files; /* bit i: the source has lines of file i */
};

struct coverage {
  struct template_lines files[MOST_FILES];
  size_t count;
  uint8_t *file_of; /* by number of a line, less 1 */
  uint32_t lines;   /* numbers in use; 0 is no number */
  struct taken *taken;
  size_t taken_count;
};

int coverage_open(struct coverage **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? CUGEN_OK : error_memory(err);
}

void coverage_close(struct coverage *b) {
  if (!b) return;
  for (size_t i = 0; i < b->count; i++) {
    free(b->files[i].name);
    free(b->files[i].number);
  }
  for (size_t i = 0; i < b->taken_count; i++) free(b->taken[i].lines);
  free(b->file_of);
  free(b->taken);
  free(b);
}

/* ---- Reading a source ----------------------------------------------------------------------- */

/* Returns NULL without memory, or if there are too many files. */
static struct template_lines *coverage_find_file(struct coverage *b, const char *name,
                                                 size_t length) {
  for (size_t i = 0; i < b->count; i++)
    if (strncmp(b->files[i].name, name, length) == 0 && !b->files[i].name[length])
      return &b->files[i];
  char *kept = b->count < MOST_FILES ? strndup(name, length) : NULL;
  if (!kept) return NULL;
  b->files[b->count] = (struct template_lines){.name = kept};
  return &b->files[b->count++];
}

/* Adds a line of the file to *out, by a number that is new if the line has none. Returns false
   without memory. */
static bool coverage_mark(struct coverage *b, struct template_lines *file, size_t line,
                          struct taken *out) {
  if (!file->number || line >= file->room) {
    const size_t room = line * 2 + 64;
    uint32_t *grown = realloc(file->number, room * sizeof *grown);
    if (!grown) return false;
    memset(grown + file->room, 0, (room - file->room) * sizeof *grown);
    file->number = grown;
    file->room = room;
  }
  if (!file->number[line]) {
    if (!ARRAY_ROOM(b->file_of, b->lines)) return false;
    b->file_of[b->lines] = (uint8_t)(file - b->files);
    file->number[line] = ++b->lines;
  }
  out->files |= UINT64_C(1) << (file - b->files);
  return ARRAY_ADD(out->lines, out->count, file->number[line]);
}

static bool mark_lines(struct coverage *b, const char *source, struct taken *out) {
  struct template_lines *file = NULL;
  struct source_line place;
  const char *known = NULL;
  for (const char *at = source_line_first(source, &place); *at; at = source_line_next(at, &place)) {
    if (place.file != known && !(file = coverage_find_file(b, place.file, place.length)))
      return false;
    known = place.file;
    if (file && strcspn(at, "\n") > strspn(at, " ") &&
        !coverage_mark(b, file, (size_t)place.line, out))
      return false;
  }
  return true;
}

static int coverage_by_number(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

/* Sorts the lines and removes repetitions, from loops of the template. */
static void coverage_sort(struct taken *t) {
  size_t kept = 0;
  if (t->count) qsort(t->lines, t->count, sizeof *t->lines, coverage_by_number);
  for (size_t i = 0; i < t->count; i++)
    if (!kept || t->lines[kept - 1] != t->lines[i]) t->lines[kept++] = t->lines[i];
  t->count = kept;
}

static bool coverage_is_known(const struct coverage *b, const struct taken *t) {
  for (size_t i = 0; i < b->taken_count; i++) {
    const struct taken *other = &b->taken[i];
    if (other->count == t->count &&
        (!t->count || memcmp(other->lines, t->lines, t->count * sizeof *t->lines) == 0))
      return true;
  }
  return false;
}

int coverage_add(struct coverage *b, const char *source, bool *more, cugen_error *err) {
  struct taken taken = {0};
  const bool marked = mark_lines(b, source, &taken);
  coverage_sort(&taken);
  *more = marked && !coverage_is_known(b, &taken);
  if (*more && ARRAY_ADD(b->taken, b->taken_count, taken)) return CUGEN_OK;
  free(taken.lines);
  return marked && !*more ? CUGEN_OK : error_memory(err);
}

/* ---- Choosing ------------------------------------------------------------------------------- */

enum { TIMES = 2 }; /* the number of sources that are to take each branch */

struct times { /* how many chosen sources contain a line, and leave it out */
  uint8_t out, left;
};

/* Returns how many of the source's branches fewer than TIMES chosen sources take. add: counts the
   source as chosen. */
static size_t count_new(const struct coverage *b, const struct taken *t, struct times *times,
                        bool add) {
  size_t count = 0, at = 0;
  for (uint32_t line = 1; line <= b->lines; line++) {
    const bool out = at < t->count && t->lines[at] == line;
    at += out;
    if (!(t->files >> b->file_of[line - 1] & 1)) continue;
    uint8_t *taken = out ? &times[line].out : &times[line].left;
    if (*taken >= TIMES) continue;
    count++;
    *taken = (uint8_t)(*taken + add);
  }
  return count;
}

/* Returns the first source with the most new branches; taken_count: none has a new branch. The
   number of new branches of a source never grows, so `most` is an upper bound. */
static size_t coverage_best_of(const struct coverage *b, struct times *times, size_t *most) {
  size_t best = b->taken_count, brings = 0;
  for (size_t i = 0; i < b->taken_count; i++) {
    if (most[i] <= brings) continue;
    most[i] = count_new(b, &b->taken[i], times, false);
    if (most[i] > brings) best = i, brings = most[i];
  }
  return best;
}

int coverage_choose(const struct coverage *b, bool *chosen, cugen_error *err) {
  struct times *times = calloc(b->lines + 1, sizeof *times);
  size_t *most = calloc(b->taken_count + 1, sizeof *most);
  if (times && most) {
    for (size_t i = 0; i < b->taken_count; i++) {
      most[i] = chosen[i] ? 0 : SIZE_MAX;
      if (chosen[i]) count_new(b, &b->taken[i], times, true);
    }
    for (size_t i; (i = coverage_best_of(b, times, most)) < b->taken_count; most[i] = 0) {
      chosen[i] = true;
      count_new(b, &b->taken[i], times, true);
    }
  }
  const bool done = times && most;
  free(times);
  free(most);
  return done ? CUGEN_OK : error_memory(err);
}
