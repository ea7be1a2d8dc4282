/* Restricts the files that a process may open, by Landlock (Linux 5.13 and later). */
#ifndef BASE_JAIL_H
#define BASE_JAIL_H

#include <stdbool.h>
#include <stddef.h>

enum jail_access {
  JAIL_READ = 1,    /* files and folders may be read */
  JAIL_EXECUTE = 2, /* programs may be executed; includes JAIL_READ */
  JAIL_WRITE = 4    /* files may be made, written and removed; includes JAIL_READ */
};

struct jail_place {
  const char *path; /* a file, or a folder with everything below it. A path that cannot be opened is
                       skipped, and so are NULL and "" */
  int access;
};

/* Returns whether the file exists and its real name is that of one of the places or lies below
   one. */
bool jail_covers(const struct jail_place *places, size_t count, const char *path);

/* Makes a descriptor for jail_enter, which the caller closes. Returns -1 if this kernel has no
   Landlock, has it switched off, or fails. */
int jail_make(const struct jail_place *places, size_t count);
/* Lets this thread, and all that it starts, open only the places of the jail, for good. Programs
   that the thread starts gain no privileges. May be called between fork and exec. Returns false if
   the jail could not be entered. A jail of -1 does nothing and returns true. */
bool jail_enter(int jail);

#endif
