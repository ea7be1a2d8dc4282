/* Restricts the resources, files and system calls of a kernel's process; see confine.h. */
#include "confine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/sanitizers.h"
#include "base/seccomp.h"
#include "base/text.h"

enum { MOST_FILES = 64, MOST_FOLDERS = 16 };

/* Opens the ruleset for the folders of the C++ compiler's libraries. The object itself needs no
   rule, because it is a file without a name. */
void confinement_open(struct confinement *out) {
  const char *path = getenv("LD_LIBRARY_PATH");
  char *own = strdup(path ? path : ""), *rest = NULL;
  struct jail_place places[MOST_FOLDERS] = {{"/usr", JAIL_READ},
                                            {"/lib", JAIL_READ},
                                            {"/lib32", JAIL_READ},
                                            {"/lib64", JAIL_READ},
                                            {"/opt", JAIL_READ},
                                            {"/nix/store", JAIL_READ},
                                            {"/etc/ld.so.cache", JAIL_READ}};
  size_t count = 7;
  for (char *at = own ? strtok_r(own, ":", &rest) : NULL; at && count < MOST_FOLDERS;
       at = strtok_r(NULL, ":", &rest))
    places[count++] = (struct jail_place){at, JAIL_READ};
  *out = (struct confinement){.files = jail_make(places, count)};
  free(own);
}

void confinement_close(struct confinement *c) {
  if (c->files >= 0) close(c->files);
  c->files = -1;
}

/* Returns how many bytes this process has mapped; 0: not known. */
static rlim_t mapped_bytes(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (file && fscanf(file, "%lu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit(__rlimit_resource_t which, rlim_t most) {
  const struct rlimit wanted = {most, most};
  struct rlimit now;
  if (getrlimit(which, &now) == 0 && now.rlim_max >= most) setrlimit(which, &wanted);
}

void confine_loading(struct confinement *c, bool spreads) {
  const rlim_t mapped = SANITIZED ? 0 : mapped_bytes();
  c->fork = 0;
  if (spreads && getrandom(&c->fork, sizeof c->fork, GRND_NONBLOCK) != (ssize_t)sizeof c->fork)
    c->fork = 0;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, MOST_FILES);
  if (mapped) /* the current mappings and half of the machine's RAM */
    limit(RLIMIT_AS, mapped + (rlim_t)sysconf(_SC_PHYS_PAGES) / 2 * (rlim_t)sysconf(_SC_PAGESIZE));
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  jail_enter(c->files);
  confinement_close(c); /* closes the descriptor in this process only */
  seccomp_enter(&(const struct seccomp_rules){.loading = true, .fork = c->fork});
}

void confine_running(const struct confinement *c) {
  if (c->none) return;
  /* Closes all files that were open for loading: a kernel could overwrite the object's own file. */
  for (int fd = STDERR_FILENO + 1; fd < MOST_FILES; fd++) close(fd);
  limit(RLIMIT_FSIZE, 0); /* only now, because the object was written into a file without a name */
  /* A sanitizer reads /proc while it ends the process, so that it cannot run under seccomp. */
  if (!SANITIZED) seccomp_enter(&(const struct seccomp_rules){.fork = c->fork});
}
