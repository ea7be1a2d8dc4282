/* Access to the operating system: files, folders, processes, the clock. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "text.h"

/* Appends the whole of a regular file to *out. CUGEN_ERROR_MISSING: the file does not exist.
   CUGEN_ERROR_IO: the file cannot be read, is a pipe, a device or a folder (without waiting), or
   has more than SIZE_OTHER bytes (sizes.h). */
int file_read(const char *path, struct text *out, cugen_error *err);
int file_read_at_most(const char *path, size_t most, struct text *out, cugen_error *err);

/* The folders in which the files of a config may lie. */
enum { FILE_ROOTS = 2 };
struct file_roots {
  const char *folders[FILE_ROOTS]; /* NULL entries are unused */
};
/* Like file_read, with `most` as limit. The real name of the file must lie in one of the folders or
   below (roots NULL: anywhere), and no name on the way from there may begin with a dot; otherwise
   fails with CUGEN_ERROR_TEMPLATE. */
int file_read_beneath(const char *path, const struct file_roots *roots, size_t most,
                      struct text *out, cugen_error *err);

enum file_kind { FILE_MISSING, FILE_FOLDER, FILE_SPECIAL, FILE_CLOSED, FILE_OUTSIDE, FILE_REGULAR };
/* Opens a regular file for reading, which the caller closes. *fd is -1 unless FILE_REGULAR is
   returned. FILE_SPECIAL: a pipe, a socket or a device. FILE_MISSING, FILE_CLOSED: the file cannot
   be found, or cannot be read; errno has the reason. FILE_OUTSIDE: the roots do not allow the file
   (file_read_beneath). */
enum file_kind file_open(const char *path, const struct file_roots *roots, int *fd);
/* Returns whether a part of the path begins with a dot and is not "." itself. */
bool path_has_hidden(const char *path);
/* Writes a file: the data goes to a new file beside the path, which is synced and renamed, so that
   the old content survives a full disk or a crash. A device or a pipe, also behind a link
   (/dev/stdout), is written to directly. Any other link is refused, because a stranger may have put
   the link there. Calls file_sweep. */
int file_write(const char *path, const void *data, size_t length, cugen_error *err);
/* Writes a file like file_write, but piece by piece. path must live until file_end. file_end with
   CUGEN_OK renames the new file to its name; with any other status, or if a step fails, file_end
   removes the new file. file_end returns `status`, or the failure of the last step. */
struct file_writing {
  const char *path;
  struct text beside; /* name of the new file while it is written; "" if the path is written to
                         directly */
  int fd;
};
int file_begin(struct file_writing *out, const char *path, cugen_error *err);
int file_add(struct file_writing *file, const void *data, size_t length, cugen_error *err);
int file_end(struct file_writing *file, int status, cugen_error *err);
/* Removes the files PATH.<process>-<number>.new of this user that are more than an hour old and
   whose processes have ended. */
void file_sweep(const char *path);
/* Writes a file in place, without waiting for the disk. */
int file_put(const char *path, const void *data, size_t length, cugen_error *err);
/* Fails with "PATH: cannot VERB: ..." and the text of the errno `code`, with CUGEN_ERROR_MISSING,
   CUGEN_ERROR_MEMORY or CUGEN_ERROR_IO by that errno. */
int error_file(cugen_error *err, const char *verb, const char *path, int code);
bool file_exists(const char *path);
/* Returns whether the file does not exist. False also if a folder on the way cannot be searched. */
bool file_missing(const char *path);
bool folder_exists(const char *path);
int folder_make(const char *path, cugen_error *err); /* makes missing parents, too */
int folder_remove(const char *path);                 /* removes its content, too */
/* Makes a new folder PREFIX<process>-XXXXXX and stores its name in *out. Returns 0 or an errno.
   Removes folders of that prefix that killed processes have left (see folder_hold). */
int folder_fresh(const char *prefix, struct text *out);
/* Marks the folder as in use by a lock, until the returned descriptor is closed or the process
   ends. folder_fresh removes a folder that is not in use and whose process has ended when the
   folder is ten seconds old, or an hour if the file system has no locks. Returns -1 if the folder
   cannot be opened or locked. */
int folder_hold(const char *path);
/* Makes a new folder of this process under $TMPDIR or /tmp; appends its real name. */
int folder_temporary(struct text *out, cugen_error *err);
/* Appends the folder of a path: "a/b" for "a/b/c.lua"; "." for a path without a slash. */
void path_folder(const char *path, struct text *out);
const char *path_base(const char *path);
/* Appends the name of the running program's file. */
int path_self(struct text *out, cugen_error *err);
/* Appends the name of the file that contains this code or data (the program or a shared library),
   with symbolic links resolved. */
int path_of_code(const void *code, struct text *out, cugen_error *err);
/* Finds the first executable of that name in $PATH; a name with a slash is taken as it is. */
bool path_find_program(const char *name, struct text *out);

/* Monotonic seconds. */
double clock_seconds(void);
/* The moment `seconds` from now, for a timed wait on a condition made by condition_open. */
struct timespec clock_after(double seconds);
/* Initialises a condition whose timed waits use the monotonic clock. pthread_cond_destroy ends
   it. */
void condition_open(pthread_cond_t *condition);
/* Seconds since the epoch. */
int64_t clock_unix(void);
/* Microseconds since the epoch. */
int64_t clock_unix_micros(void);
/* The number of processors that this process may use, at least 1. */
int cpu_count(void);
/* Waits at most `seconds` for the thread to end. Returns true if it has ended and is joined. */
bool thread_join_within(pthread_t thread, double seconds);

/* Runs argv (NULL-terminated) and collects stdout and stderr together in *output (NULL: dropped).
   *exit_code becomes the exit code, 128 + signal if the process was killed, or 0 if the code is
   unknown, because the application ignores SIGCHLD or reaps children itself. timeout <= 0 means
   none; at the time-out CUGEN_ERROR_DEVICE is returned. At the end the whole process group is
   killed. The child dies with the thread that called this function. */
int process_run(const char *const *argv, double timeout, struct text *output, int *exit_code,
                cugen_error *err);

/* How a caller stops a wait for a process or an input. `asked` is called at least every tenth of a
   second. When `asked` returns true, the wait ends with CUGEN_ERROR_INTERRUPTED, and a process is
   killed with its group. */
struct process_stop {
  bool (*asked)(void *context); /* NULL: never stop */
  void *context;
};

struct process_limits {
  double seconds; /* wall time; 0: no limit */
  int memory_mb;  /* limit of the address space, and of each file that the process writes; 0: no
                     limit */
  struct process_stop stop;
  int jail;                /* jail (jail_make) that the child enters; <= 0: none */
  const char *const *also; /* variables "NAME=value" to add to this process's environment, NULL-
                              terminated; NULL: none */
};
int process_run_within(const char *const *argv, const struct process_limits *limits,
                       struct text *output, int *exit_code, cugen_error *err);

/* Sets the soft limit `which` (RLIMIT_...) of this process, at most to the hard limit; 0 megabytes
   leave it unchanged. */
void resource_limit(int which, int megabytes);

/* Starts argv with *fd connected to the child's descriptor 3. The child inherits stderr; its stdin
   and stdout are /dev/null. The child has its own session and process group, and dies with the
   thread of the parent that called this function. */
int process_spawn(const char *const *argv, pid_t *pid, int *fd, cugen_error *err);
/* Called by a child of process_spawn, which then ends with its parent process, no longer with the
   thread that started the child. */
void process_outlive_thread(void);
/* Kills the process with its group and reaps the process. Appends to *how (may be NULL) how it
   ended: "exit code 3" or "signal 11 (Segmentation fault)". Returns the signal; 0: none. */
int process_end(pid_t pid, struct text *how);

#endif
