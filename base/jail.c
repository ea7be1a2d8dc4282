/* File access restricted by Landlock; see jail.h. */
#define _GNU_SOURCE /* O_PATH, syscall */
#include "jail.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers and layouts from include/uapi/linux/landlock.h, because the headers of an older system
   lack them. */
enum {
  CREATE_RULESET = 444,
  ADD_RULE = 445,
  RESTRICT_SELF = 446,
  ASK_VERSION = 1,
  PATH_BENEATH = 1
};
enum {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIR = 1 << 3,
  MAKE_AND_REMOVE = ((1 << 13) - 1) & ~((1 << 4) - 1), /* bits 4 to 12 */
  REFER = 1 << 13,                                     /* version 2: renaming from folder to
                                                          folder */
  TRUNCATE = 1 << 14                                   /* version 3 */
};

struct rule {
  uint64_t access;
  int32_t folder;
} __attribute__((packed));

static void allow(int jail, const struct jail_place *place, uint64_t known) {
  struct stat info;
  int at = place->path && *place->path ? open(place->path, O_PATH | O_CLOEXEC) : -1;
  if (at < 0) return;
  uint64_t access = READ_FILE | READ_DIR;
  if (place->access & JAIL_EXECUTE) access |= EXECUTE;
  if (place->access & JAIL_WRITE) access |= WRITE_FILE | MAKE_AND_REMOVE | REFER | TRUNCATE;
  if (fstat(at, &info) == 0 && !S_ISDIR(info.st_mode))
    access &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
  const struct rule rule = {.access = access & known, .folder = at};
  syscall(ADD_RULE, jail, PATH_BENEATH, &rule, 0);
  close(at);
}

bool jail_covers(const struct jail_place *places, size_t count, const char *path) {
  char *real = realpath(path, NULL);
  bool covered = false;
  for (size_t i = 0; i < count && real && !covered; i++) {
    char *place = places[i].path && *places[i].path ? realpath(places[i].path, NULL) : NULL;
    const size_t length = place ? strlen(place) : 0;
    covered = length && strncmp(real, place, length) == 0 &&
              (real[length] == '/' || real[length] == '\0' || length == 1); /* 1: "/" */
    free(place);
  }
  free(real);
  return covered;
}

int jail_make(const struct jail_place *places, size_t count) {
  const long version = syscall(CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
  if (version < 1) return -1; /* this kernel has no Landlock */
  const uint64_t known = EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | MAKE_AND_REMOVE |
                         (version >= 2 ? REFER : 0u) | (version >= 3 ? TRUNCATE : 0u);
  int jail = (int)syscall(CREATE_RULESET, &known, sizeof known, 0);
  for (size_t i = 0; jail >= 0 && i < count; i++) allow(jail, &places[i], known);
  return jail;
}

bool jail_enter(int jail) {
  if (jail < 0) return true;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(RESTRICT_SELF, jail, 0) == 0;
}
