/* Where a result goes: to stdout, or to the file of --output. A regular file is written completely
   or left as it was. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/machine.h"
#include "base/system.h"
#include "cli.h"

/* Returns 0 or an errno. */
static int write_stream(FILE *file, void (*write)(const void *context, FILE *out),
                        const void *context) {
  if (!file) return errno;
  errno = 0;
  write(context, file);
  int code = ferror(file) ? (errno ? errno : EIO) : 0;
  if (fclose(file) != 0 && !code) code = errno;
  return code;
}

/* A stream that writes to a file as long as nothing fails. */
struct sink {
  struct file_writing file;
  int status; /* status of the first failure */
  cugen_error *error;
};

static ssize_t add_to_sink(void *cookie, const char *data, size_t length) {
  struct sink *sink = cookie;
  if (!sink->status) sink->status = file_add(&sink->file, data, length, sink->error);
  return sink->status ? 0 : (ssize_t)length;
}

static int output_write_file(struct cli *cli, const char *path,
                             void (*write)(const void *context, FILE *out), const void *context) {
  struct sink sink = {.error = &cli->error};
  int status = file_begin(&sink.file, path, &cli->error);
  if (status) return status;
  const int code = write_stream(
      fopencookie(&sink, "w", (cookie_io_functions_t){.write = add_to_sink}), write, context);
  if (!sink.status && code)
    sink.status = cli_fail(cli, CUGEN_ERROR_IO, "%s: cannot write: %s", path, strerror(code));
  return file_end(&sink.file, sink.status, &cli->error);
}

static bool is_same_file(const char *path, const char *base, const char *suffix) {
  struct stat one, other;
  char *name;
  if (asprintf(&name, "%s%s", base, suffix) < 0) return false;
  const bool same =
      strcmp(path, name) == 0 || (stat(path, &one) == 0 && stat(name, &other) == 0 &&
                                  one.st_dev == other.st_dev && one.st_ino == other.st_ino);
  free(name);
  return same;
}

int cli_check_output(struct cli *cli) {
  static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-import"};
  const char *path = cli->values[OPTION_OUTPUT];
  if (!path || strcmp(path, "-") == 0) return CUGEN_OK;
  const char *cache = api_where(cli->lib, API_PLACE_CACHE);
  for (size_t i = 0; *cache && i < sizeof suffixes / sizeof *suffixes; i++)
    if (is_same_file(path, cache, suffixes[i]))
      return cli_fail(cli, CUGEN_ERROR_USAGE,
                      "--output %s: that is the cache itself; name another file", path);
  return CUGEN_OK;
}

int cli_write(struct cli *cli, void (*write)(const void *context, FILE *out), const void *context) {
  const char *path = cli->values[OPTION_OUTPUT];
  const int refused = cli_check_output(cli);
  if (refused) return refused;
  if (path && strcmp(path, "-") != 0) return output_write_file(cli, path, write, context);
  if (isatty(STDOUT_FILENO)) return write(context, stdout), CUGEN_OK;
  fflush(stdout);
  int copy = dup(STDOUT_FILENO),
      code = write_stream(copy < 0 ? NULL : fdopen(copy, "w"), write, context);
  return code ? cli_fail(cli, CUGEN_ERROR_IO, "cannot write to stdout") : CUGEN_OK;
}

const struct cli_script *cli_page(const char *name) {
  const struct cli_script *page = cli_pages;
  while (page->path && strcmp(strrchr(page->path, '/') + 1, name) != 0) page++;
  return page;
}
