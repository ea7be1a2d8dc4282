/* The operating system: files, folders, processes, the clock. Everything takes and gives UTF-8 paths. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

/* Whole file into *out (appended). CUGEN_ERROR_MISSING when it does not exist, CUGEN_ERROR_IO otherwise. */
int file_read(const char *path, struct text *out, cugen_error *err);
/* Likewise, but of a longer file only `most` bytes or some more, which is an error. */
int file_read_at_most(const char *path, size_t most, struct text *out, cugen_error *err);
/* Written beside, synced and renamed: after a full disk or a crash the old content stands. A device, a pipe or a
   link is written to as it is. */
int file_write(const char *path, const void *data, size_t length, cugen_error *err);
/* Written as it comes, without a wait for the disk: for what only this process wants. */
int file_put(const char *path, const void *data, size_t length, cugen_error *err);
bool file_exists(const char *path);
/* Nothing is there, as opposed to: it cannot be told, because a folder on the way may not be looked into. */
bool file_missing(const char *path);
int folder_make(const char *path, cugen_error *err); /* with parents */
int folder_remove(const char *path);                 /* with content */
/* A new folder PREFIX<process>-XXXXXX, its name into *out; 0 or an errno. Those of that prefix that killed processes left
   an hour ago and more are removed. */
int folder_fresh(const char *prefix, struct text *out);
/* A fresh folder of this process under $TMPDIR or /tmp. Those that killed processes left there an hour ago and more are
   removed. */
int folder_temporary(struct text *out, cugen_error *err);
/* "a/b" from "a/b/c.lua"; "." without a slash. */
void path_folder(const char *path, struct text *out);
const char *path_base(const char *path);
/* The running program's own file. */
int path_self(struct text *out, cugen_error *err);
/* The file that this code or data was loaded from, the program's own or a shared library's, without symbolic links. */
int path_of_code(const void *code, struct text *out, cugen_error *err);
/* The first executable of that name on $PATH (or the name itself when it has a slash). */
bool path_find_program(const char *name, struct text *out);

/* Monotonic seconds. */
double clock_seconds(void);
/* Seconds since the epoch. */
int64_t clock_unix(void);
int cpu_count(void);

/* Runs argv (NULL-terminated), collects stdout and stderr together into *output (NULL: dropped) and its exit code
   (128 + signal when killed). timeout <= 0: none; on time-out the whole process group is killed and
   CUGEN_ERROR_DEVICE comes back. The child dies with the thread that called this. */
int process_run(const char *const *argv, double timeout, struct text *output, int *exit_code, cugen_error *err);

/* Asked some fifty times a second; true: the process group is killed, and CUGEN_ERROR_INTERRUPTED comes back. */
struct process_stop {
  bool (*asked)(void *context); /* NULL: never */
  void *context;
};

struct process_limits {
  double seconds; /* 0: no limit */
  int memory_mb;  /* of addresses, and of any file that it writes; 0: no limit */
  struct process_stop stop;
  int jail;                /* of jail_make, entered by the child; <= 0: none */
  const char *const *also; /* "NAME=value" on top of this process's environment, NULL-terminated; NULL: nothing */
};
int process_run_within(const char *const *argv, const struct process_limits *limits, struct text *output,
                       int *exit_code, cugen_error *err);

/* Lowers this process's own limit RLIMIT_which; 0: left as it is. */
void resource_limit(int which, int megabytes);

/* Starts argv with *fd connected to the child's descriptor 3; it keeps stderr, its stdin and stdout are /dev/null.
   The child is its own process group and dies with its parent: with the thread that called this, to be exact. */
int process_spawn(const char *const *argv, pid_t *pid, int *fd, cugen_error *err);
/* Kills and reaps; gives "exit code 3" or "signal 11 (Segmentation fault)" into how when not NULL. */
void process_end(pid_t pid, struct text *how);

#endif
