/* Reads files whose names may lead to anything, such as a pipe that nobody writes to, a device
   without end, or a file outside of the allowed folders (struct file_roots). See system.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "sizes.h"
#include "system.h"

/* ---- Where a file lies ---------------------------------------------------------------------- */

/* Returns the real name of an opened file, with links resolved, which the caller frees; NULL: not
   known. /proc gives the name of the open file itself; without /proc the name is looked up again,
   and used if it leads to the same file. */
static char *real_name(const char *path, int fd) {
  char link[64], name[PATH_MAX];
  struct stat here, there;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length > 0) return strndup(name, (size_t)length);
  char *real = realpath(path, NULL);
  if (real && lstat(real, &there) == 0 && fstat(fd, &here) == 0 && here.st_ino == there.st_ino &&
      here.st_dev == there.st_dev)
    return real;
  free(real);
  return NULL;
}

bool path_has_hidden(const char *path) {
  for (const char *part = path; *part; part += strcspn(part, "/")) {
    part += strspn(part, "/");
    if (part[0] == '.' && part[1] != '/' && part[1] != '\0') return true;
  }
  return false;
}

/* Returns whether the roots allow the opened file (file_read_beneath). */
static bool is_allowed(const char *path, int fd, const struct file_roots *roots) {
  if (!roots) return true;
  char *real = real_name(path, fd);
  bool allowed = false;
  for (size_t i = 0; i < FILE_ROOTS && real; i++) {
    char *root = roots->folders[i] ? realpath(roots->folders[i], NULL) : NULL;
    const size_t length = !root || strcmp(root, "/") == 0 ? 0 : strlen(root);
    allowed |= root && strncmp(real, root, length) == 0 && real[length] == '/' &&
               !path_has_hidden(real + length);
    free(root);
  }
  free(real);
  return allowed;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static enum file_kind reading_kind_of(const struct stat *info) {
  return S_ISREG(info->st_mode)   ? FILE_REGULAR
         : S_ISDIR(info->st_mode) ? FILE_FOLDER
                                  : FILE_SPECIAL;
}

enum file_kind file_open(const char *path, const struct file_roots *roots, int *fd) {
  struct stat info;
  *fd = -1;
  if (stat(path, &info)) return FILE_MISSING;
  enum file_kind kind = reading_kind_of(&info);
  if (kind != FILE_REGULAR) return kind;
  *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (*fd < 0) return errno == ENOENT ? FILE_MISSING : FILE_CLOSED;
  /* The file may have been replaced between stat and open. */
  kind = fstat(*fd, &info) ? FILE_CLOSED : reading_kind_of(&info);
  if (kind == FILE_REGULAR && !is_allowed(path, *fd, roots)) kind = FILE_OUTSIDE;
  if (kind == FILE_REGULAR) return kind;
  close(*fd);
  *fd = -1;
  return kind;
}

static int reading_refuse(const char *path, enum file_kind kind, int code, cugen_error *err) {
  switch (kind) {
  case FILE_FOLDER: return error_set(err, CUGEN_ERROR_IO, "%s: cannot read: Is a directory", path);
  case FILE_SPECIAL:
    return error_set(err, CUGEN_ERROR_IO,
                     "%s is no regular file: pipes, sockets and devices are not read", path);
  case FILE_OUTSIDE:
    return error_set(err, CUGEN_ERROR_TEMPLATE, "%s leads out of the config's folder by a link",
                     path);
  default:
    return error_set(err,
                     code == ENOENT   ? CUGEN_ERROR_MISSING
                     : code == ENOMEM ? CUGEN_ERROR_MEMORY
                                      : CUGEN_ERROR_IO,
                     "%s: cannot open: %s", path, strerror(code));
  }
}

/* ---- Reading -------------------------------------------------------------------------------- */

int file_read_beneath(const char *path, const struct file_roots *roots, size_t most,
                      struct text *out, cugen_error *err) {
  struct input input;
  int fd;
  errno = ENOENT;
  const enum file_kind kind = file_open(path, roots, &fd);
  if (kind != FILE_REGULAR) return reading_refuse(path, kind, errno, err);
  int status = input_of_file(&input, path, fd, most, err);
  if (!status) status = input_rest(&input, out, err);
  input_close(&input);
  return status;
}

int file_read_at_most(const char *path, size_t most, struct text *out, cugen_error *err) {
  return file_read_beneath(path, NULL, most, out, err);
}

int file_read(const char *path, struct text *out, cugen_error *err) {
  return file_read_at_most(path, SIZE_OTHER, out, err);
}
