/* The operating system: files, folders, processes, the clock. Everything takes and gives UTF-8 paths. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "text.h"

/* A regular file, whole, into *out (appended). CUGEN_ERROR_MISSING when it does not exist, CUGEN_ERROR_IO when it cannot be
   read, is a pipe, a device or a folder, or has more than `most` bytes (SIZE_OTHER of sizes.h): all at once, without a wait. */
int file_read(const char *path, struct text *out, cugen_error *err);
int file_read_at_most(const char *path, size_t most, struct text *out, cugen_error *err);

/* The tree of a config. */
enum { FILE_ROOTS = 2 };
struct file_roots {
  const char *folders[FILE_ROOTS]; /* NULL: none */
};
/* Likewise, when the file's real name lies in one of the folders or below (NULL: anywhere) and nothing on the way from there has
   a name that begins with a dot; else CUGEN_ERROR_TEMPLATE. */
int file_read_beneath(const char *path, const struct file_roots *roots, size_t most, struct text *out,
                      cugen_error *err);

enum file_kind { FILE_MISSING, FILE_FOLDER, FILE_SPECIAL, FILE_CLOSED, FILE_OUTSIDE, FILE_REGULAR };
/* *fd: -1 but for FILE_REGULAR. FILE_CLOSED: it may not be read; errno says why. */
enum file_kind file_open(const char *path, const struct file_roots *roots, int *fd);
/* One of its parts begins with a dot and is not "." itself. */
bool path_has_hidden(const char *path);
/* Written beside, synced and renamed: after a full disk or a crash the old content stands. A device
   or a pipe, also behind a link (/dev/stdout), is written to as it is. Any other link is refused: a
   stranger may have put it there. What it wrote beside when a process was killed is removed by a
   later call: see file_sweep. */
int file_write(const char *path, const void *data, size_t length, cugen_error *err);
/* The same, piece by piece. path must live until file_end, which gives the file its name, or with a status other than CUGEN_OK
   removes what was written; that status, or what went wrong with the last step, is returned. */
struct file_writing {
  const char *path;
  struct text beside; /* what it is called meanwhile; "": it is written to as it is */
  int fd;
};
int file_begin(struct file_writing *out, const char *path, cugen_error *err);
int file_add(struct file_writing *file, const void *data, size_t length, cugen_error *err);
int file_end(struct file_writing *file, int status, cugen_error *err);
/* Removes files PATH.<process>-<number>.new of this user, an hour old and more, whose processes are no more. */
void file_sweep(const char *path);
/* Written as it comes, without a wait for the disk: for what only this process wants. */
int file_put(const char *path, const void *data, size_t length, cugen_error *err);
/* "PATH: cannot VERB: ..." of an errno. */
int error_file(cugen_error *err, const char *verb, const char *path, int code);
bool file_exists(const char *path);
/* Nothing is there, as opposed to: it cannot be told, because a folder on the way may not be looked into. */
bool file_missing(const char *path);
bool folder_exists(const char *path);
int folder_make(const char *path, cugen_error *err); /* with parents */
int folder_remove(const char *path);                 /* with content */
/* A new folder PREFIX<process>-XXXXXX, its name into *out; 0 or an errno. Those of that prefix that killed processes left
   are removed: see folder_hold. */
int folder_fresh(const char *prefix, struct text *out);
/* Until the descriptor is closed, or its process ends, the folder is seen to be in use, also from
   where that process has another number. Others are removed ten seconds after their process has
   gone, and an hour after where the file system has no locks. -1: it has none. */
int folder_hold(const char *path);
/* A fresh folder of this process under $TMPDIR or /tmp, by its real name. */
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
/* So many seconds from now, as long as a wait for a condition of condition_open may last. */
struct timespec clock_after(double seconds);
/* Its timed waits go by the monotonic clock. pthread_cond_destroy ends it. */
void condition_open(pthread_cond_t *condition);
/* Seconds since the epoch. */
int64_t clock_unix(void);
/* Microseconds since then. */
int64_t clock_unix_micros(void);
int cpu_count(void);

/* Runs argv (NULL-terminated), collects stdout and stderr together into *output (NULL: dropped) and its exit code
   (128 + signal when killed; 0 where SIGCHLD is ignored, so that the system keeps none). timeout <= 0: none; on time-out the whole process group is killed and
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
   The child has a session and a process group of its own and dies with its parent: with the thread that called this, to be exact. */
int process_spawn(const char *const *argv, pid_t *pid, int *fd, cugen_error *err);
/* Called by such a child: it ends no more with that thread, but with its process. */
void process_outlive_thread(void);
/* Kills and reaps; gives "exit code 3" or "signal 11 (Segmentation fault)" into how when not NULL. Returns
   the signal; 0: none. */
int process_end(pid_t pid, struct text *how);

#endif
