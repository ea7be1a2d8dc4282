/* Lines of templates, by file; see branches.h. */
#include "branches.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_FILES = 64,
  CAME = 1, /* in the source that is being taken */
  SEEN = 2, /* in one before */
  LEFT_OUT = 4
};

struct template_lines {
  char *name;
  uint8_t *flags; /* by line number */
  size_t room;
  bool present; /* in the source that is being taken */
};

struct branches {
  struct template_lines files[MOST_FILES];
  size_t count;
};

int branches_open(struct branches **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? CUGEN_OK : error_memory(err);
}

void branches_close(struct branches *b) {
  if (!b) return;
  for (size_t i = 0; i < b->count; i++) {
    free(b->files[i].name);
    free(b->files[i].flags);
  }
  free(b);
}

/* NULL: no memory, or more files than there is room for. */
static struct template_lines *find_file(struct branches *b, const char *name, size_t length) {
  for (size_t i = 0; i < b->count; i++)
    if (strncmp(b->files[i].name, name, length) == 0 && !b->files[i].name[length]) return &b->files[i];
  char *kept = b->count < MOST_FILES ? strndup(name, length) : NULL;
  if (!kept) return NULL;
  b->files[b->count] = (struct template_lines){.name = kept};
  return &b->files[b->count++];
}

static bool mark(struct template_lines *file, size_t line) {
  if (line >= file->room) {
    const size_t room = line * 2 + 64;
    uint8_t *grown = realloc(file->flags, room);
    if (!grown) return false;
    memset(grown + file->room, 0, room - file->room);
    file->flags = grown;
    file->room = room;
  }
  file->flags[line] |= CAME;
  file->present = true;
  return true;
}

/* `#line 12 "templates/a.cu"`: whether this is one; where the text goes on. */
static bool read_directive(struct branches *b, const char *text, struct template_lines **file, size_t *line) {
  char *end;
  if (strncmp(text, "#line ", 6) != 0) return false;
  *line = strtoul(text + 6, &end, 10);
  const char *name = strchr(end, '"'), *close = name ? strchr(name + 1, '"') : NULL;
  if (close) *file = find_file(b, name + 1, (size_t)(close - name - 1));
  return true;
}

static bool mark_lines(struct branches *b, const char *source) {
  struct template_lines *file = NULL;
  size_t line = 0;
  for (const char *at = source; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    if (read_directive(b, at, &file, &line)) {
      if (!file) return false;
      continue;
    }
    if (file && strcspn(at, "\n") > strspn(at, " ") && !mark(file, line)) return false;
    line++;
  }
  return true;
}

/* Settles what a source has added to a template that it has. */
static bool settle(struct template_lines *file) {
  bool more = false;
  for (size_t i = 0; i < file->room; i++) {
    const unsigned before = file->flags[i];
    const unsigned now = before & CAME ? SEEN : before & SEEN ? LEFT_OUT : 0;
    more |= (now & ~before) != 0;
    file->flags[i] = (uint8_t)((before | now) & (SEEN | LEFT_OUT));
  }
  file->present = false;
  return more;
}

int branches_take(struct branches *b, const char *source, bool *more, cugen_error *err) {
  const bool marked = mark_lines(b, source);
  *more = false;
  for (size_t i = 0; i < b->count; i++)
    if (b->files[i].present) *more |= settle(&b->files[i]);
  return marked ? CUGEN_OK : error_memory(err);
}
