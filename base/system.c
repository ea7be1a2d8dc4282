/* Files, folders, processes and the clock on POSIX; see system.h. Every descriptor made here is
   close-on-exec, so that no child that an application starts on another thread inherits the
   descriptor. */
#define _GNU_SOURCE /* sched_getaffinity, pipe2 */
#include "system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jail.h"

/* ---- Files ---------------------------------------------------------------------------------- */

int error_file(cugen_error *err, const char *what, const char *path, int code) {
  int status = code == ENOENT   ? CUGEN_ERROR_MISSING
               : code == ENOMEM ? CUGEN_ERROR_MEMORY
                                : CUGEN_ERROR_IO;
  return error_set(err, status, "%s: cannot %s: %s", path, what, strerror(code));
}

static int fail_to_create(const char *path, int code, cugen_error *err) {
  struct text folder = {0};
  path_folder(path, &folder);
  const int status =
      code == ENOENT && !folder.failed && file_missing(text_get(&folder))
          ? error_set(err, CUGEN_ERROR_IO, "%s: cannot write: there is no folder '%s'", path,
                      text_get(&folder))
          : error_file(err, "write", path, code);
  text_free(&folder);
  return status;
}

/* Creates a new file beside path, with the permissions that a plain open would give, and stores its
   name in *name. */
static int create_beside(const char *path, struct text *name, cugen_error *err) {
  for (unsigned try = 0; try < 100; try++) {
    text_clear(name);
    text_addf(name, "%s.%ld-%u.new", path, (long)getpid(), try);
    if (name->failed) return error_memory(err);
    int fd = open(text_get(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd >= 0 ? fd : fail_to_create(path, errno, err);
  }
  return error_file(err, "write", path, EEXIST);
}

/* Returns 0 or an errno. */
static int system_write_all(int fd, const char *data, size_t length) {
  while (length) {
    ssize_t put = write(fd, data, length);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    data += put, length -= (size_t)put;
  }
  return 0;
}

int file_put(const char *path, const void *data, size_t length, cugen_error *err) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return error_file(err, "write", path, errno);
  int code = system_write_all(fd, data, length);
  if (close(fd) && !code) code = errno;
  return code ? error_file(err, "write", path, code) : CUGEN_OK;
}

/* Syncs the folder, because only then the rename is durable. An error is ignored, because some file
   systems cannot sync a folder. */
static void folder_sync(const char *file) {
  struct text folder = {0};
  path_folder(file, &folder);
  int fd = folder.failed ? -1 : open(text_get(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  text_free(&folder);
}

/* Opens a device or pipe for writing. A named pipe without a reader is refused, because opening it
   would wait and could not be interrupted. */
static int open_special(const char *path, int *fd, cugen_error *err) {
  *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  if (*fd < 0 && errno == ENXIO)
    return error_set(err, CUGEN_ERROR_IO, "%s: cannot write: nobody reads from this named pipe yet",
                     path);
  if (*fd < 0) return error_file(err, "write", path, errno);
  fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) & ~O_NONBLOCK);
  return CUGEN_OK;
}

int file_begin(struct file_writing *out, const char *path, cugen_error *err) {
  struct stat info;
  *out = (struct file_writing){.path = path};
  /* The path is, or links to (/dev/stdout), a terminal, a pipe or another file that is not
     regular. */
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return open_special(path, &out->fd, err);
  if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
    return error_set(err, CUGEN_ERROR_IO,
                     "%s: cannot write: it is a link; remove it, or name the file that it leads to",
                     path);
  file_sweep(path);
  out->fd = create_beside(path, &out->beside, err);
  if (out->fd >= 0) return CUGEN_OK;
  text_free(&out->beside);
  return out->fd;
}

int file_add(struct file_writing *file, const void *data, size_t length, cugen_error *err) {
  int code = system_write_all(file->fd, data, length);
  return code ? error_file(err, "write", file->path, code) : CUGEN_OK;
}

/* Renames the new file to its final name, if there is a new file. Returns 0 or an errno. */
static int system_take_name(const struct file_writing *file) {
  const char *beside = text_get(&file->beside);
  if (!*beside) return 0;
  if (rename(beside, file->path)) return errno;
  folder_sync(file->path);
  return 0;
}

int file_end(struct file_writing *file, int status, cugen_error *err) {
  bool beside = file->beside.length;
  int code = !status && beside && fsync(file->fd) ? errno : 0;
  if (close(file->fd) && !code && !status) code = errno;
  if (!code && !status) code = system_take_name(file);
  if (beside && (code || status)) unlink(text_get(&file->beside));
  if (code) status = error_file(err, "write", file->path, code);
  text_free(&file->beside);
  return status;
}

int file_write(const char *path, const void *data, size_t length, cugen_error *err) {
  struct file_writing file;
  int status = file_begin(&file, path, err);
  if (status) return status;
  return file_end(&file, file_add(&file, data, length, err), err);
}

bool file_exists(const char *path) {
  return access(path, F_OK) == 0;
}

bool file_missing(const char *path) {
  return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* ---- Folders -------------------------------------------------------------------------------- */

bool folder_exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int folder_make(const char *path, cugen_error *err) {
  struct text part = {0};
  int code = 0;
  for (const char *end = path; !code && *end;) {
    end += strspn(end, "/");
    end += strcspn(end, "/");
    text_clear(&part);
    text_add_n(&part, path, (size_t)(end - path));
    if (part.failed)
      code = ENOMEM;
    else if (mkdir(text_get(&part), 0777) && !folder_exists(text_get(&part)))
      code = errno;
  }
  text_free(&part);
  return code ? error_file(err, "make the folder", path, code) : CUGEN_OK;
}

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *place) {
  (void)info, (void)flag, (void)place;
  return remove(path);
}

int folder_remove(const char *path) {
  return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) ? CUGEN_ERROR_IO : CUGEN_OK;
}

/* Returns whether the part of a name behind the prefix is that of a temporary file or folder: the
   number of a process and a dash, followed by six characters (a folder; ".old" may follow) or by
   "7.new" (a file). */
static bool is_temporary_name(const char *name, bool folder, long *owner) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  char *end;
  *owner = *name >= '1' && *name <= '9' ? strtol(name, &end, 10) : 0;
  if (*owner <= 0 || *owner > INT_MAX || *end++ != '-') return false;
  size_t length = strspn(end, folder ? letters : "0123456789");
  return folder ? length == 6 && (!end[6] || strcmp(end + 6, ".old") == 0)
                : length > 0 && strcmp(end + length, ".new") == 0;
}

int folder_hold(const char *path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

/* Returns the age in seconds above which a temporary file or folder may be removed: INT64_MAX for a
   folder whose lock is held, ten seconds for a folder whose lock is free, an hour for a file and
   where locks fail. */
static int64_t least_age(const char *path, bool folder) {
  enum { OLD = 3600, OLD_RELEASED = 10 };
  const int fd = folder ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (fd < 0) return OLD;
  const int code = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
  close(fd);
  return code == EWOULDBLOCK ? INT64_MAX : code ? OLD : OLD_RELEASED;
}

/* Returns whether this is an abandoned temporary file or folder of this user: old, and made by a
   process that has ended. The age is required because a process in a container may only look ended,
   and because a folder exists for a moment before its lock does. */
static bool is_left_over(const char *prefix, const char *name, bool folder, const char *path) {
  struct stat info;
  long owner;
  size_t length = strlen(prefix);
  if (strncmp(name, prefix, length) != 0 || !is_temporary_name(name + length, folder, &owner))
    return false;
  if (kill((pid_t)owner, 0) == 0 || errno != ESRCH) return false;
  if (lstat(path, &info) || !(folder ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode)) ||
      info.st_uid != geteuid())
    return false;
  return clock_unix() - info.st_mtime > least_age(path, folder);
}

/* Removes the files or folders with that prefix that killed processes have left. */
static void remove_left_over(const char *prefix, bool is_folder) {
  struct text path = {0}, parent = {0};
  path_folder(prefix, &parent);
  DIR *folder = parent.failed ? NULL : opendir(text_get(&parent));
  for (const struct dirent *entry; folder && (entry = readdir(folder));) {
    text_clear(&path);
    text_addf(&path, "%s/%s", text_get(&parent), entry->d_name);
    if (path.failed || !is_left_over(path_base(prefix), entry->d_name, is_folder, text_get(&path)))
      continue;
    is_folder ? (void)folder_remove(text_get(&path)) : (void)unlink(text_get(&path));
  }
  text_free(&path);
  text_free(&parent);
  if (folder) closedir(folder);
}

void file_sweep(const char *path) {
  struct text prefix = {0};
  text_addf(&prefix, "%s.", path);
  if (!prefix.failed) remove_left_over(text_get(&prefix), false);
  text_free(&prefix);
}

int folder_fresh(const char *prefix, struct text *out) {
  text_clear(out);
  text_addf(out, "%s%ld-XXXXXX", prefix, (long)getpid());
  int code = out->failed ? ENOMEM : 0;
  if (!code) remove_left_over(prefix, true);
  if (!code && !mkdtemp(out->data)) code = errno;
  return code;
}

int folder_temporary(struct text *out, cugen_error *err) {
  const char *parent = getenv("TMPDIR");
  struct text prefix = {0}, name = {0};
  if (!parent || !*parent) parent = "/tmp";
  char *real = realpath(parent, NULL); /* realpath makes the name absolute, because a relative name
                                          may begin like an option */
  text_addf(&prefix, "%s/cugen-", real ? real : parent);
  free(real);
  int code = prefix.failed ? ENOMEM : folder_fresh(text_get(&prefix), &name);
  int status = code ? error_file(err, "make a temporary folder", text_get(&name), code) : CUGEN_OK;
  if (status) error_append(err, "; $TMPDIR says where");
  if (!status) text_add(out, text_get(&name));
  if (!status && out->failed) {
    rmdir(text_get(&name));
    status = error_memory(err);
  }
  text_free(&prefix);
  text_free(&name);
  return status;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

void path_folder(const char *path, struct text *out) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    text_add(out, ".");
  else
    text_add_n(out, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int path_self(struct text *out, cugen_error *err) {
  char name[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", name, sizeof name);
  if (length < 0) return error_file(err, "find the running program", "/proc/self/exe", errno);
  text_add_n(out, name, (size_t)length);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

int path_of_code(const void *code, struct text *out, cugen_error *err) {
  Dl_info info;
  void *map = NULL;
  /* For the program's own code dli_fname is argv[0], which may be anything; its link_map has no
     name. */
  bool library =
      dladdr1(code, &info, &map, RTLD_DL_LINKMAP) && map && ((struct link_map *)map)->l_name[0];
  if (!library) return path_self(out, err);
  const char *name = ((struct link_map *)map)->l_name;
  char *path = realpath(name, NULL);
  int status = path || errno == ENOMEM ? CUGEN_OK : error_file(err, "find", name, errno);
  if (path) text_add(out, path);
  if (!status && (!path || out->failed)) status = error_memory(err);
  free(path);
  return status;
}

static bool is_program(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool path_find_program(const char *name, struct text *out) {
  if (strchr(name, '/')) {
    if (is_program(name)) text_add(out, name);
    return is_program(name) && !out->failed;
  }
  struct text candidate = {0};
  bool found = false;
  const char *path = getenv("PATH");
  if (!path) path = "/usr/local/bin:/usr/bin:/bin";
  for (const char *end; !found && !candidate.failed; path = end + 1) {
    end = path + strcspn(path, ":");
    text_clear(&candidate);
    text_add_n(&candidate, path, (size_t)(end - path));
    text_addf(&candidate, "%s%s", end == path ? "./" : "/", name);
    found = !candidate.failed && is_program(text_get(&candidate));
    if (!*end) break;
  }
  if (found) text_add(out, text_get(&candidate));
  out->failed |= candidate.failed;
  text_free(&candidate);
  return found && !out->failed;
}

/* ---- The clock and the machine -------------------------------------------------------------- */

double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct timespec moment_after(clockid_t clock, double seconds) {
  struct timespec until;
  clock_gettime(clock, &until);
  long whole = (long)seconds;
  until.tv_sec += whole;
  until.tv_nsec += (long)((seconds - (double)whole) * 1e9);
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  return until;
}

struct timespec clock_after(double seconds) {
  return moment_after(CLOCK_MONOTONIC, seconds);
}

/* Uses the wall clock, because ThreadSanitizer does not know pthread_clockjoin_np. */
bool thread_join_within(pthread_t thread, double seconds) {
  const struct timespec until = moment_after(CLOCK_REALTIME, seconds > 0 ? seconds : 0);
  return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

void condition_open(pthread_cond_t *condition) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

int64_t clock_unix(void) {
  return (int64_t)time(NULL);
}

int64_t clock_unix_micros(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A container or taskset may allow this process fewer processors than the machine has. */
int cpu_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN); /* sched_getaffinity failed: there are more
                                                  processors than a cpu_set_t holds */
  return online > 0 ? (int)online : 1;
}

/* ---- Processes ------------------------------------------------------------------------------ */

/* How to start a child. input, output, errors and worker (unless negative) become the child's
   descriptors 0, 1, 2 and 3. */
struct child {
  const char *program;
  const char *const *argv;
  int input, output, errors, worker;
  int report;          /* the child writes its errno here if it cannot be started */
  int memory_mb, jail; /* as in process_limits */
  char *const *environment;
  pid_t parent; /* the parent, which must be alive */
};

void resource_limit(int which, int megabytes) {
  struct rlimit now;
  if (megabytes <= 0 || getrlimit((__rlimit_resource_t)which, &now)) return;
  const rlim_t most = (rlim_t)megabytes << 20;
  now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
  setrlimit((__rlimit_resource_t)which, &now);
}

/* Runs in the child and never returns. Only async-signal-safe functions may be called. */
static void child_start(struct child *child) {
  /* The child gets SIGKILL when the thread that started it ends. The parent may have ended before
     this call. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child->parent) _exit(127);
  setsid(); /* A new session: Ctrl-C reaches only the parent, the child has no terminal, and a time-
               out can kill the group */
  struct sigaction standard = {.sa_handler = SIG_DFL};
  for (int s = 1; s < NSIG; s++) sigaction(s, &standard, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
/* Marks descriptors that the application forgot to mark close-on-exec, too; needs Linux 5.11. */
#if defined(SYS_close_range)
  syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
#endif
  resource_limit(RLIMIT_AS, child->memory_mb);
  resource_limit(RLIMIT_FSIZE, child->memory_mb);
  /* The source descriptors are above 3, so that no dup2 overwrites one that is still needed. Their
     copies are not close-on-exec. */
  bool ready = dup2(child->input, 0) == 0 && dup2(child->output, 1) == 1 &&
               dup2(child->errors, 2) == 2 && (child->worker < 0 || dup2(child->worker, 3) == 3);
  if (ready && jail_enter(child->jail > 0 ? child->jail : -1))
    execve(child->program, (char *const *)(uintptr_t)child->argv, child->environment);
  int code = errno;
  ssize_t told = write(child->report, &code, sizeof code);
  _exit(told < 0 ? 126 : 127);
}

static pid_t fork_quietly(struct child *child) {
  sigset_t all, before;
  sigfillset(&all); /* the signal handlers of the parent must not run in the child */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  child->parent = getpid();
  pid_t pid = fork();
  if (pid == 0) child_start(child);
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return pid;
}

static void close_if_open(int fd) {
  if (fd >= 0) close(fd);
}

/* Returns 0, or the errno with which the child could not start. */
static int read_report(int fd) {
  int code = 0;
  ssize_t got;
  do got = read(fd, &code, sizeof code);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)sizeof code ? code : 0;
}

/* Stands for the wait status of a process that the kernel has reaped, because the application
   ignores SIGCHLD, or that the application has reaped. */
static const int unknown_end = -1;

/* Kills the whole process group and reaps the program. Returns the wait status, or unknown_end. */
static int system_end_group(pid_t pid) {
  int status = unknown_end;
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/* Moves a descriptor above the four that the child gets. Returns its new number, or -1. */
static int descriptor_above(int fd) {
  if (fd < 0 || fd > 3) return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, 4);
  int code = errno;
  close(fd);
  errno = code;
  return moved;
}

static int error_start(cugen_error *err, const char *program, int code) {
  int status = code == ENOENT || code == EACCES ? CUGEN_ERROR_MISSING : CUGEN_ERROR_IO;
  return error_set(err, status, "%s: cannot start: %s", program, strerror(code));
}

/* Forks, and waits until the program runs or its errno arrives. argv[0] is looked up in $PATH. */
static int system_start(struct child *child, pid_t *pid, cugen_error *err) {
  struct text program = {0};
  int report[2] = {-1, -1};
  int code = 0;
  if (!path_find_program(child->argv[0], &program))
    code = program.failed ? ENOMEM : ENOENT;
  else if (pipe2(report, O_CLOEXEC) || (report[1] = descriptor_above(report[1])) < 0)
    code = errno;
  child->program = text_get(&program);
  child->report = report[1];
  if (!code && (*pid = fork_quietly(child)) < 0) code = errno;
  close_if_open(report[1]);
  if (!code && (code = read_report(report[0]))) system_end_group(*pid);
  close_if_open(report[0]);
  text_free(&program);
  return code ? error_start(err, child->argv[0], code) : CUGEN_OK;
}

static int open_null(void) {
  return descriptor_above(open("/dev/null", O_RDWR | O_CLOEXEC));
}

int process_spawn(const char *const *argv, pid_t *pid, int *fd, cugen_error *err) {
  int pair[2] = {-1, -1};
  *pid = -1, *fd = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return error_start(err, argv[0], errno);
  pair[1] = descriptor_above(pair[1]);
  int null = open_null();
  /* The child's stderr is the parent's. The child's stdout is not, because the parent writes
     results there. */
  int errors = descriptor_above(fcntl(2, F_DUPFD_CLOEXEC, 4));
  int status = pair[1] < 0 || null < 0 ? error_start(err, argv[0], errno) : CUGEN_OK;
  struct child child = {.argv = argv,
                        .input = null,
                        .output = null,
                        .errors = errors < 0 ? null : errors,
                        .worker = pair[1],
                        .environment = environ};
  if (status == CUGEN_OK) status = system_start(&child, pid, err);
  close_if_open(pair[1]);
  close_if_open(null);
  close_if_open(errors);
  if (status == CUGEN_OK)
    *fd = pair[0];
  else
    close(pair[0]);
  return status;
}

/* Handles the end of the thread that started this child; si_pid is the thread's process. As long as
   that process lives, another of its threads is now the parent. */
static void on_parent_end(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  if (info->si_pid == 0 || info->si_pid != getppid()) _exit(127);
}

void process_outlive_thread(void) {
  struct sigaction action = {.sa_sigaction = on_parent_end, .sa_flags = SA_SIGINFO | SA_RESTART};
  if (sigaction(SIGHUP, &action, NULL) == 0) prctl(PR_SET_PDEATHSIG, SIGHUP);
}

/* Limit of the collected output; later output is dropped. */
enum { OUTPUT_LIMIT = 16 << 20 };

/* Reads the available output. Returns false at the end of the pipe, and after an error. */
static bool drain(int fd, struct text *output) {
  char buffer[16384];
  ssize_t got;
  while ((got = read(fd, buffer, sizeof buffer)) > 0)
    if (output && output->length < OUTPUT_LIMIT) text_add_n(output, buffer, (size_t)got);
  return got < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool is_reaped(pid_t pid) {
  siginfo_t info;
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

/* Returns true if the process has ended. Does not reap the process, so that the number of its
   process group is not reused. */
static bool has_ended(pid_t pid) {
  siginfo_t info = {0};
  return is_reaped(pid) ||
         (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid);
}

/* Waits until the process ends, the time is up, or the caller asks to stop. Does not wait for the
   end of the output, because a grandchild may keep the pipe open. */
static int watch(pid_t pid, int fd, double timeout, struct process_stop stop, struct text *output) {
  double began = clock_seconds();
  bool open = true;
  for (int wait_ms = 1;; wait_ms = wait_ms < 20 ? wait_ms + 1 : 20) {
    struct pollfd wait = {.fd = open ? fd : -1, .events = POLLIN};
    poll(&wait, 1, wait_ms);
    if (open && !(open = drain(fd, output))) wait_ms = 1; /* the process probably ends now */
    if (has_ended(pid)) {
      if (open) drain(fd, output);
      return CUGEN_OK;
    }
    if (timeout > 0 && clock_seconds() - began > timeout) return CUGEN_ERROR_DEVICE;
    if (stop.asked && stop.asked(stop.context)) return CUGEN_ERROR_INTERRUPTED;
  }
}

static void describe_end(int status, struct text *how) {
  if (status == unknown_end)
    text_add(how,
             "how is not known, since this process ignores SIGCHLD or reaps what it did not start");
  else if (WIFSIGNALED(status))
    text_addf(how, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    text_addf(how, "exit code %d", WEXITSTATUS(status));
}

/* A process that ended by itself keeps its status. A reaped process is not killed, because its
   number may belong to another process. */
int process_end(pid_t pid, struct text *how) {
  int status = is_reaped(pid) ? unknown_end : system_end_group(pid);
  if (how) describe_end(status, how);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int system_collect(const char *program, pid_t pid, int fd,
                          const struct process_limits *limits, struct text *output, int *exit_code,
                          cugen_error *err) {
  const int why = watch(pid, fd, limits->seconds, limits->stop, output);
  int status = system_end_group(pid);
  if (why == CUGEN_ERROR_INTERRUPTED) return error_set(err, why, "stopped on request");
  if (why)
    return error_set(err, CUGEN_ERROR_DEVICE, "%s: did not end within %g s and was killed", program,
                     limits->seconds);
  if (status == unknown_end)
    status = 0; /* whether the process succeeded must then be judged by the files that it made */
  if (exit_code) *exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return output && output->failed ? error_memory(err) : CUGEN_OK;
}

/* Returns this process's environment, in which the variables of `also` replace those of the same
   names. The caller frees the array but not the strings; NULL if memory is out. */
static char **environment_with(const char *const *also) {
  size_t count = 0, more = 0, n = 0;
  while (environ[count]) count++;
  while (also && also[more]) more++;
  char **out = calloc(count + more + 1, sizeof *out);
  for (size_t i = 0; out && i < count; i++) {
    size_t name = strcspn(environ[i], "="), j = 0;
    while (j < more && strncmp(environ[i], also[j], name + 1) != 0) j++;
    if (j == more) out[n++] = environ[i];
  }
  for (size_t i = 0; out && i < more; i++) out[n++] = (char *)(uintptr_t)also[i];
  return out;
}

int process_run(const char *const *argv, double timeout, struct text *output, int *exit_code,
                cugen_error *err) {
  return process_run_within(argv, &(struct process_limits){.seconds = timeout}, output, exit_code,
                            err);
}

int process_run_within(const char *const *argv, const struct process_limits *limits,
                       struct text *output, int *exit_code, cugen_error *err) {
  int out[2] = {-1, -1};
  pid_t pid = -1;
  char **environment = environment_with(limits->also);
  if (!environment) return error_memory(err);
  if (pipe2(out, O_CLOEXEC | O_NONBLOCK)) {
    free(environment);
    return error_start(err, argv[0], errno);
  }
  fcntl(out[1], F_SETFL, 0); /* the parent's end is non-blocking, the child's is not: the flags of
                                the two ends are separate */
  out[1] = descriptor_above(out[1]);
  int null = open_null();
  struct child child = {.argv = argv,
                        .input = null,
                        .output = out[1],
                        .errors = out[1],
                        .worker = -1,
                        .memory_mb = limits->memory_mb,
                        .jail = limits->jail,
                        .environment = environment};
  int status =
      out[1] < 0 || null < 0 ? error_start(err, argv[0], errno) : system_start(&child, &pid, err);
  close_if_open(out[1]);
  close_if_open(null);
  if (status == CUGEN_OK)
    status = system_collect(argv[0], pid, out[0], limits, output, exit_code, err);
  close(out[0]);
  free(environment);
  return status;
}
