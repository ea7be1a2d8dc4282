/* Asking addr2line; see lines.h. */
#include "lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"
#include "cpu/compile.h"

/* The compiler puts the current folder before a relative name. */
static const char *without_folder(const char *name) {
  char *folder = getcwd(NULL, 0);
  const size_t length = folder ? strlen(folder) : 0;
  if (length && strncmp(name, folder, length) == 0) {
    if (folder[length - 1] == '/')
      name += length; /* the root */
    else if (name[length] == '/')
      name += length + 1;
  }
  free(folder);
  return name;
}

/* One line of its answer, "/home/me/templates/copy.cu:12 (discriminator 3)". False: it is not a line of the kernel's source:
   unknown, or of the shim. */
static bool read_place(const char *line, size_t length, char file[LINES_NAME], int *number) {
  const char *end = line + length, *colon = NULL;
  for (const char *at = line; at < end; at++)
    if (*at == ':' && at + 1 < end && at[1] >= '0' && at[1] <= '9') colon = at;
  if (!colon) return false;
  line = without_folder(line);
  size_t name = (size_t)(colon - line);
  static const char unit[] = "/" CPU_UNIT_NAME;
  if (name >= sizeof unit - 1 && strncmp(colon - (sizeof unit - 1), unit, sizeof unit - 1) == 0) return false;
  if (name == sizeof CPU_ENTRIES_NAME - 1 && strncmp(line, CPU_ENTRIES_NAME, name) == 0) return false;
  *number = atoi(colon + 1);
  if (*number <= 0 || name >= LINES_NAME) return false;
  memcpy(file, line, name);
  file[name] = '\0';
  return true;
}

/* The frames of one site, innermost first. */
static void add_frame(struct source_place *place, const char *line, size_t length) {
  char file[LINES_NAME];
  int number = 0;
  if (place->user_line || !read_place(line, length, file, &number)) return;
  if (!place->line) {
    memcpy(place->file, file, sizeof file);
    place->line = number;
  } else if (strcmp(place->file, file) != 0) {
    memcpy(place->user, file, sizeof file);
    place->user_line = number;
  }
}

/* Each site's answer begins with its address. */
static void read_answer(const char *text, struct source_place *out, const size_t *wanted, size_t count) {
  size_t index = 0;
  for (const char *line = text; *line;) {
    size_t length = strcspn(line, "\n");
    if (strncmp(line, "0x", 2) == 0)
      index++;
    else if (index && index <= count)
      add_frame(&out[wanted[index - 1]], line, length);
    line += length + (line[length] == '\n');
  }
}

static int ask(const char *program, const char *image, const uint64_t *sites, const size_t *wanted, size_t count,
               struct source_place *out, cugen_error *err) {
  enum { WORDS = 6 };
  struct text addresses = {0}, answer = {0};
  const char **argv = calloc(count + WORDS, sizeof *argv);
  size_t *starts = calloc(count + 1, sizeof *starts);
  int code = 0, status = argv && starts ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < count && !status; i++) {
    starts[i] = addresses.length;
    text_addf(&addresses, "0x%llx", (unsigned long long)sites[wanted[i]] - 1); /* in the call, not behind it */
    text_add_n(&addresses, "", 1);
  }
  if (!status && addresses.failed) status = error_memory(err);
  if (!status) {
    const char *const first[] = {program, "-a", "-i", "-e", image};
    memcpy(argv, first, sizeof first);
    for (size_t i = 0; i < count; i++) argv[WORDS - 1 + i] = text_get(&addresses) + starts[i];
    status = process_run(argv, 30, &answer, &code, err);
  }
  if (!status && code == 0) read_answer(text_get(&answer), out, wanted, count);
  free(argv);
  free(starts);
  text_free(&addresses);
  text_free(&answer);
  return status;
}

int lines_find(const void *image, size_t length, const uint64_t *sites, size_t count, struct source_place *out,
               cugen_error *err) {
  struct text program = {0}, folder = {0}, path = {0};
  size_t *wanted = calloc(count + 1, sizeof *wanted), known = 0;
  memset(out, 0, count * sizeof *out);
  int status = wanted ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < count && !status; i++)
    if (sites[i]) wanted[known++] = i;
  if (!status && known && !path_find_program("addr2line", &program))
    status = error_set(err, CUGEN_ERROR_MISSING, "addr2line (binutils) is not there: findings have no lines");
  if (!status && known) status = folder_temporary(&folder, err);
  text_addf(&path, "%s/image", text_get(&folder));
  if (!status && known) status = file_write(text_get(&path), image, length, err);
  if (!status && known) status = ask(text_get(&program), text_get(&path), sites, wanted, known, out, err);
  if (folder.length) folder_remove(text_get(&folder));
  free(wanted);
  text_free(&program);
  text_free(&folder);
  text_free(&path);
  return status;
}
