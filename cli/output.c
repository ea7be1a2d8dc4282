/* Where a result goes: stdout, or the file of --output, which is complete or as it was. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* A pipe, a device, a link such as /dev/stdout: what must not be replaced by a file. */
static bool is_special(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* 0 or an errno. */
static int write_stream(FILE *file, void (*write)(const void *context, FILE *out), const void *context) {
  if (!file) return errno;
  errno = 0;
  write(context, file);
  int code = ferror(file) ? (errno ? errno : EIO) : 0;
  if (fclose(file) != 0 && !code) code = errno;
  return code;
}

/* Into a file beside, which then takes the place of the old one. */
static int replace_file(const char *path, void (*write)(const void *context, FILE *out), const void *context) {
  char *beside;
  if (asprintf(&beside, "%s.%ld.new", path, (long)getpid()) < 0) return ENOMEM;
  int code = write_stream(fopen(beside, "wx"), write, context);
  if (!code && rename(beside, path) != 0) code = errno;
  if (code && code != EEXIST) unlink(beside);
  free(beside);
  return code;
}

static int fail_to_write(struct cli *cli, const char *path, int code) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : NULL;
  struct stat info;
  if (code == ENOENT && folder && stat(folder, &info) != 0 && errno == ENOENT)
    cli_fail(cli, CUGEN_ERROR_IO, "%s: cannot write: there is no folder '%s'", path, folder);
  else
    cli_fail(cli, CUGEN_ERROR_IO, "%s: cannot write: %s", path, strerror(code));
  free(folder);
  return cli->error.status;
}

static int write_file(struct cli *cli, const char *path, void (*write)(const void *context, FILE *out),
                      const void *context) {
  int code = is_special(path) ? write_stream(fopen(path, "w"), write, context) : replace_file(path, write, context);
  return code ? fail_to_write(cli, path, code) : CUGEN_OK;
}

static bool is_same_file(const char *path, const char *base, int length, const char *suffix) {
  struct stat one, other;
  char *name;
  if (asprintf(&name, "%.*s%s", length, base, suffix) < 0) return false;
  const bool same = strcmp(path, name) == 0 || (stat(path, &one) == 0 && stat(name, &other) == 0 &&
                                                one.st_dev == other.st_dev && one.st_ino == other.st_ino);
  free(name);
  return same;
}

int cli_check_output(struct cli *cli) {
  static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-import"};
  const char *path = cli->values[OPTION_OUTPUT];
  int length;
  if (!path || strcmp(path, "-") == 0)
    return CUGEN_OK; /* what asks where the cache is looks for everything else, too */
  const char *cache = cli_where(cli, "cache", &length);
  for (size_t i = 0; length && i < sizeof suffixes / sizeof *suffixes; i++)
    if (is_same_file(path, cache, length, suffixes[i]))
      return cli_fail(cli, CUGEN_ERROR_USAGE, "--output %s: that is the cache itself; name another file", path);
  return CUGEN_OK;
}

int cli_write(struct cli *cli, void (*write)(const void *context, FILE *out), const void *context) {
  const char *path = cli->values[OPTION_OUTPUT];
  const int refused = cli_check_output(cli);
  if (refused) return refused;
  if (path && strcmp(path, "-") != 0) return write_file(cli, path, write, context);
  if (isatty(STDOUT_FILENO)) return write(context, stdout), CUGEN_OK;
  fflush(stdout);
  int copy = dup(STDOUT_FILENO), code = write_stream(copy < 0 ? NULL : fdopen(copy, "w"), write, context);
  return code ? cli_fail(cli, CUGEN_ERROR_IO, "cannot write to stdout") : CUGEN_OK;
}

const struct cli_script *cli_page(const char *name) {
  const struct cli_script *page = cli_pages;
  while (page->path && strcmp(strrchr(page->path, '/') + 1, name) != 0) page++;
  return page;
}
