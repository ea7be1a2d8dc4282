/* Running addr2line; see lines.h. addr2line reads an object of a stranger's source, and is confined
   like the compiler. */
#define _GNU_SOURCE /* memmem */
#include "lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"
#include "compile.h"
#include "runtime/compile/advice.h"
#include "tools.h"

/* Removes the current folder, which the compiler puts before a relative name. */
static const char *without_folder(const char *name) {
  char *folder = getcwd(NULL, 0);
  const size_t length = folder ? strlen(folder) : 0;
  if (length && strncmp(name, folder, length) == 0) {
    if (folder[length - 1] == '/')
      name += length; /* the current folder is / */
    else if (name[length] == '/')
      name += length + 1;
  }
  free(folder);
  return name;
}

/* The kinds of answer lines, such as "/home/me/templates/copy.cu:12 (discriminator 3)". */
enum answer { ANSWER_NOTHING, ANSWER_SHIM, ANSWER_SOURCE };

static enum answer read_place(const char *line, size_t length, char file[LINES_NAME], int *number) {
  static const char unit[] = "/" CPU_UNIT_NAME;
  const char *end = line + length, *colon = NULL;
  for (const char *at = line; at + 1 < end; at++)
    if (*at == ':' && (at[1] == '?' || (at[1] >= '0' && at[1] <= '9'))) colon = at;
  if (!colon) return ANSWER_NOTHING;
  line = without_folder(line);
  size_t name = (size_t)(colon - line);
  if (name >= sizeof unit - 1 && strncmp(colon - (sizeof unit - 1), unit, sizeof unit - 1) == 0)
    return ANSWER_SHIM;
  if (memmem(line, name, "/" CPU_HEADERS_NAME "/", sizeof CPU_HEADERS_NAME + 1)) return ANSWER_SHIM;
  if (name == sizeof CPU_ENTRIES_NAME - 1 && strncmp(line, CPU_ENTRIES_NAME, name) == 0)
    return ANSWER_SHIM;
  *number = atoi(colon + 1);
  if (*number <= 0 || name >= LINES_NAME) return ANSWER_NOTHING;
  memcpy(file, line, name);
  file[name] = '\0';
  return ANSWER_SOURCE;
}

/* Adds a frame of an address; frames come innermost first. A frame without a line is skipped, so
   that the place becomes its caller's. */
static void add_frame(struct source_place *place, bool *shim, const char *line, size_t length) {
  char file[LINES_NAME];
  int number = 0;
  const bool known = place->user_line && strcmp(place->file, place->user) != 0;
  const enum answer answer = known ? ANSWER_NOTHING : read_place(line, length, file, &number);
  *shim |= answer == ANSWER_SHIM;
  if (answer != ANSWER_SOURCE) return;
  if (!place->line) {
    static const char mark[] = "(discriminator ";
    const char *branch = memmem(line, length, mark, sizeof mark - 1);
    memcpy(place->file, file, sizeof file);
    place->line = number;
    place->discriminator = branch ? atoi(branch + sizeof mark - 1) : 0;
  } else if (number != place->line || strcmp(place->file, file) != 0) {
    /* The place where inlined code is used is its caller in the first other file, or else the
       outermost caller in its own file, which is the kernel. */
    memcpy(place->user, file, LINES_NAME);
    place->user_line = number;
  }
}

/* A question: an address, and the site that it is for. Of several addresses for a site, the
   first known answer counts. */
struct question {
  uint64_t address;
  size_t place;
};

struct questions {
  struct question *all;
  size_t count;
};

static void add_question(struct questions *q, uint64_t address, size_t place) {
  if (address) q->all[q->count++] = (struct question){address, place};
}

static void keep_answer(const struct question *question, const struct source_place *place,
                        bool shim, struct source_place *out, bool *in_shim) {
  if (out[question->place].line) return;
  out[question->place] = *place;
  in_shim[question->place] |= shim;
}

/* Reads the answers. Each begins with a line for its address, "0x...", and has a line for each
   frame. */
static void lines_read_answer(const char *text, const struct questions *q, struct source_place *out,
                              bool *in_shim) {
  struct source_place place;
  size_t index = 0;
  bool shim = false;
  for (const char *line = text; *line;) {
    size_t length = strcspn(line, "\n");
    if (strncmp(line, "0x", 2) == 0) {
      if (index && index <= q->count) keep_answer(&q->all[index - 1], &place, shim, out, in_shim);
      memset(&place, 0, sizeof place);
      shim = false;
      index++;
    } else if (index) {
      add_frame(&place, &shim, line, length);
    }
    line += length + (line[length] == '\n');
  }
  if (index && index <= q->count) keep_answer(&q->all[index - 1], &place, shim, out, in_shim);
}

/* Where addr2line runs: the image is a file in a folder of its own. */
struct asked {
  struct text program, folder, image;
  int jail, hold; /* descriptors; jail: addr2line's confinement; hold: the lock on the folder */
};

static int lines_ask(const struct asked *a, const struct questions *q, struct source_place *out,
                     bool *in_shim, cugen_error *err) {
  enum { WORDS = 6 };
  struct text addresses = {0}, answer = {0};
  const char **argv = calloc(q->count + WORDS, sizeof *argv);
  size_t *starts = calloc(q->count + 1, sizeof *starts);
  int code = 0, status = argv && starts ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < q->count && !status; i++) {
    starts[i] = addresses.length;
    /* an address within the call, not after it */
    text_addf(&addresses, "0x%llx", (unsigned long long)q->all[i].address - 1);
    text_add_n(&addresses, "", 1);
  }
  if (!status && addresses.failed) status = error_memory(err);
  if (!status) {
    const char *const first[] = {text_get(&a->program), "-a", "-i", "-e", text_get(&a->image)};
    memcpy(argv, first, sizeof first);
    for (size_t i = 0; i < q->count; i++) argv[WORDS - 1 + i] = text_get(&addresses) + starts[i];
    /* With an empty DEBUGINFOD_URLS addr2line downloads no debug information. */
    static const char *const also[] = {"DEBUGINFOD_URLS=", "LC_ALL=C", NULL};
    const struct process_limits limits = {
        .seconds = LINES_SECONDS, .memory_mb = LINES_MEMORY_MB, .jail = a->jail, .also = also};
    status = process_run_within(argv, &limits, &answer, &code, err);
  }
  if (!status && code == 0) lines_read_answer(text_get(&answer), q, out, in_shim);
  free(argv);
  free(starts);
  text_free(&addresses);
  text_free(&answer);
  return status;
}

/* How many bytes before code without a line are searched for a line: some instructions. */
enum { NEAR = 48 };

/* Asks about the sites; then, for a site without a line, about the code in front of it, and for a
   site in the shim about `instead`. */
static int ask_twice(const struct asked *a, const struct line_site *sites, size_t count,
                     struct source_place *out, cugen_error *err) {
  struct questions q = {.all = calloc(count * (NEAR + 1) + 1, sizeof *q.all)};
  bool *in_shim = calloc(count + 1, sizeof *in_shim);
  int status = q.all && in_shim ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < count && !status; i++) add_question(&q, sites[i].site, i);
  if (!status && q.count) status = lines_ask(a, &q, out, in_shim, err);
  q.count = 0;
  for (size_t i = 0; i < count && !status; i++) {
    const uint64_t from = in_shim[i] ? sites[i].instead : sites[i].site;
    if (out[i].line) continue;
    for (uint64_t back = !in_shim[i]; back <= NEAR && back < from; back++)
      add_question(&q, from - back, i);
  }
  if (!status && q.count) status = lines_ask(a, &q, out, in_shim, err);
  free(q.all);
  free(in_shim);
  return status;
}

static int lines_open_asked(struct asked *a, const void *image, size_t length, cugen_error *err) {
  if (!path_find_program("addr2line", &a->program))
    return error_set(err, CUGEN_ERROR_MISSING,
                     "addr2line (binutils) is not there: findings have no lines");
  int status = folder_temporary(&a->folder, err);
  if (status) return status;
  a->hold = folder_hold(text_get(&a->folder));
  text_addf(&a->image, "%s/image", text_get(&a->folder));
  status = a->image.failed ? error_memory(err) : file_put(text_get(&a->image), image, length, err);
  if (status) return status;
  struct tool_places places;
  tool_places_find(text_get(&a->program), text_get(&a->folder), JAIL_READ, &places);
  a->jail = jail_make(places.list, TOOL_PLACES);
  tool_places_free(&places);
  /* A section such as .gnu_debuglink names another file with debug information. */
  if (a->jail <= 0 && memmem(image, length, ".gnu_debug", strlen(".gnu_debug")))
    return error_set(err, CUGEN_ERROR_IO, "the image names another file for its lines");
  return CUGEN_OK;
}

int lines_find(const void *image, size_t length, const struct line_site *sites, size_t count,
               struct source_place *out, cugen_error *err) {
  struct asked a = {.jail = -1, .hold = -1};
  size_t first = 0;
  memset(out, 0, count * sizeof *out);
  while (first < count && !sites[first].site) first++;
  if (first == count) return CUGEN_OK;
  int status = lines_open_asked(&a, image, length, err);
  if (!status) status = ask_twice(&a, sites, count, out, err);
  if (a.jail > 0) close(a.jail);
  if (a.folder.length) folder_remove(text_get(&a.folder));
  if (a.hold >= 0) close(a.hold);
  text_free(&a.program);
  text_free(&a.folder);
  text_free(&a.image);
  return status;
}
