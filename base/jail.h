/* What files a process may open: Landlock (Linux 5.13), where the kernel has it. */
#ifndef BASE_JAIL_H
#define BASE_JAIL_H

#include <stdbool.h>
#include <stddef.h>

enum jail_access {
  JAIL_READ = 1,    /* files and folders */
  JAIL_EXECUTE = 2, /* programs, and JAIL_READ */
  JAIL_WRITE = 4    /* files are made, written and removed, and JAIL_READ */
};

struct jail_place {
  const char *path; /* a file, or a folder with all below it; one that is not there is skipped, as is NULL or "" */
  int access;
};

/* Whether the file's real name is one of the places or lies below: what a jail of them would let it open. */
bool jail_covers(const struct jail_place *places, size_t count, const char *path);

/* A descriptor for jail_enter, which the caller closes; -1: this kernel has no Landlock, or it is switched off. */
int jail_make(const struct jail_place *places, size_t count);
/* From here on this thread, and whatever it starts, opens these places and nothing else, for good; nor does a program that it
   starts gain privileges. May be called between fork and exec. A jail of -1 does nothing. False: it could not be entered. */
bool jail_enter(int jail);

#endif
