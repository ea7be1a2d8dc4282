/* A jailed process can open what its jail contains and nothing else; so can the compiler of the
   cpu device. System calls are filtered. A step of the worker has neither open files nor
   environment variables. */
#include "tests/testing.h"

#define _GNU_SOURCE /* CLONE_THREAD */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/seccomp.h"
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/device.h"
#include "runtime/devices.h"
#include "tune/worker/isolate.h"

static struct text folder, inside, outside;

FIXTURE(setup) {
  int status = folder_temporary(&folder, NULL);
  text_addf(&inside, "%s/in", text_get(&folder));
  text_addf(&outside, "%s/secret", text_get(&folder));
  if (!status) status = folder_make(text_get(&inside), NULL);
  if (!status) status = file_put(text_get(&outside), "a secret", 8, NULL);
  return status;
}

FIXTURE(teardown) {
  folder_remove(text_get(&folder));
  text_free(&folder);
  text_free(&inside);
  text_free(&outside);
  return 0;
}

static bool opens(const char *path, int flags) {
  int fd = open(path, flags, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

/* Returns the bits of what went wrong, as reported by the process in the jail. */
static int live_in(int jail) {
  const char *made = formed("%s/made", text_get(&inside));
  pid_t pid = fork();
  if (pid == 0)
    _exit((jail_enter(jail) ? 0 : 1) | (opens(text_get(&outside), O_RDONLY) ? 2 : 0) |
          (opens(text_get(&outside), O_WRONLY) ? 4 : 0) | (opens(made, O_RDWR | O_CREAT) ? 0 : 8) |
          (opens("/etc/passwd", O_RDONLY) ? 16 : 0));
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(only_what_it_has) {
  const struct jail_place places[] = {
      {text_get(&inside), JAIL_WRITE}, {"/nowhere", JAIL_READ}, {NULL, JAIL_READ}};
  int jail = jail_make(places, sizeof places / sizeof *places);
  if (jail < 0) skip(); /* this kernel has no Landlock */
  assert_int_equal(live_in(jail), 0);
  close(jail);
  assert_true(opens(text_get(&outside), O_RDONLY)); /* this process is not in the jail */
}

/* A folder includes what is below it, but not neighbours whose names begin with its name. */
TEST(a_place_covers_what_is_below) {
  const struct jail_place places[] = {{NULL, JAIL_READ}, {text_get(&inside), JAIL_READ}};
  const char *deep = formed("%s/deep", text_get(&inside));
  const char *beside = formed("%s-beside", text_get(&inside));
  assert_int_equal(folder_make(deep, NULL), CUGEN_OK);
  assert_int_equal(folder_make(beside, NULL), CUGEN_OK);
  assert_true(jail_covers(places, 2, text_get(&inside)));
  assert_true(jail_covers(places, 2, deep));
  assert_false(jail_covers(places, 2, beside));
  assert_false(jail_covers(places, 2, text_get(&folder)));
  assert_false(jail_covers(places, 2, "/nowhere"));
  assert_true(jail_covers(&(const struct jail_place){"/", JAIL_READ}, 1, deep));
}

static int compile(const struct toolkit *toolkit, const char *source) {
  static const char *const entries[] = {"k"};
  const struct compile_request request = {.toolkit = toolkit,
                                          .name = "k.cu",
                                          .source = source,
                                          .entries = entries,
                                          .entry_count = 1,
                                          .timeout = 300};
  struct compiled compiled;
  cugen_error err;
  int status = cpu_device_ops.compile(&request, &compiled, &err);
  if (!status) compiled_free(&compiled);
  return status;
}

TEST(the_compiler_too) {
  CLOSED(toolkit) *toolkit;
  int jail = jail_make(NULL, 0);
  if (jail < 0) skip();
  close(jail);
  assert_int_equal(toolkit_open(&(const struct toolkit_options){0}, &toolkit, NULL), CUGEN_OK);
  if (!toolkit->compiler.length) skip();
  const char *source =
      formed("asm(\".incbin \\\"%s\\\"\");\n__global__ void k(float *x) { x[0] = 1; }\n",
             text_get(&outside));
  assert_int_equal(compile(toolkit, source), CUGEN_ERROR_COMPILE);
  assert_int_equal(
      compile(toolkit, "#include <cstdint>\n__global__ void k(float *x) { x[0] = 1; }\n"),
      CUGEN_OK);
}

/* ---- System calls --------------------------------------------------------------------------- */

enum { NO_FILTER = 77 };
static const uint64_t fork_key = 0x123456789abcdef0;

struct call {
  const char *what;
  long number;
  uint64_t arguments[4];
  bool loading, refused;
};

_Noreturn static void call_under_rules(const struct call *call) {
  const struct seccomp_rules rules = {.loading = call->loading, .fork = fork_key};
  const struct rlimit no_core = {0, 0};
  const uint64_t *a = call->arguments;
  signal(SIGSYS, SIG_DFL);
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!seccomp_enter(&rules)) _exit(NO_FILTER);
  syscall(call->number, a[0], a[1], a[2], a[3], 0);
  _exit(0);
}

/* Returns true if the filter killed the process, whatever the kernel answers to an allowed call. */
static bool is_refused(const struct call *call) {
  int status = 0;
  const pid_t pid = fork();
  if (pid == 0) call_under_rules(call);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER) skip();
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static void assert_rules(const struct call *calls, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_refused(&calls[i]) != calls[i].refused)
      fail_msg("%s: %s", calls[i].what, calls[i].refused ? "let through" : "refused");
}

/* Files may be opened for reading while an object is loaded, and not at all when a variant runs. */
TEST(files_are_only_read) {
  const uint64_t here = (uint64_t)AT_FDCWD, file = (uintptr_t)text_get(&outside);
  const struct call calls[] = {
      {"read", SYS_openat, {here, file, O_RDONLY | O_CLOEXEC}, true, false},
      {"write", SYS_openat, {here, file, O_WRONLY}, true, true},
      {"both", SYS_openat, {here, file, O_RDWR}, true, true},
      {"made", SYS_openat, {here, file, O_RDONLY | O_CREAT}, true, true},
      {"emptied", SYS_openat, {here, file, O_RDONLY | O_TRUNC}, true, true},
      {"without a name", SYS_openat, {here, (uintptr_t) "/tmp", O_TMPFILE}, true, true},
      {"read by a variant", SYS_openat, {here, file, O_RDONLY}, false, true},
  };
  assert_rules(calls, sizeof calls / sizeof *calls);
}

TEST(only_the_own_process_is_changed) {
  const size_t page = 4096;
  void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uint64_t at = (uintptr_t)memory;
  const struct rlimit none = {0, 0};
  struct rlimit old;
  assert_true(memory != MAP_FAILED);
  const struct call calls[] = {
      {"pages given back", SYS_madvise, {at, page, MADV_DONTNEED}, false, false},
      {"advice that there is not", SYS_madvise, {at, page, 99}, false, false},
      {"a page said to be broken", SYS_madvise, {at, page, 100}, false, true},
      {"a page said to be failing", SYS_madvise, {at, page, 101}, false, true},
      {"to die with the parent", SYS_prctl, {PR_SET_PDEATHSIG, SIGKILL}, false, false},
      {"to outlive it", SYS_prctl, {PR_SET_PDEATHSIG, 0}, false, true},
      {"to be told by another signal", SYS_prctl, {PR_SET_PDEATHSIG, SIGTERM}, false, true},
      {"to be attached to", SYS_prctl, {PR_SET_DUMPABLE, 1}, false, true},
      {"own limits", SYS_prlimit64, {0, RLIMIT_CPU, 0, (uintptr_t)&old}, false, false},
      {"own limits changed", SYS_prlimit64, {0, RLIMIT_CORE, (uintptr_t)&none, 0}, false, true},
      {"own limits changed before",
       SYS_prlimit64,
       {0, RLIMIT_CORE, (uintptr_t)&none, 0},
       true,
       false},
      {"own limits changed, from an address of 2^32",
       SYS_prlimit64,
       {0, RLIMIT_CORE, 1ull << 32},
       false,
       true},
      {"another's limits", SYS_prlimit64, {1, RLIMIT_CPU, 0, (uintptr_t)&old}, true, true},
      {"a signal to another", SYS_kill, {(uint64_t)getpid(), 0}, false, true},
  };
  assert_rules(calls, sizeof calls / sizeof *calls);
  munmap(memory, page);
}

/* No thread may enter a new namespace, and only a caller with the key may make a process. */
TEST(no_namespaces_and_no_processes) {
  const uint64_t thread = CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
  const struct call calls[] = {
      {"files", SYS_clone, {CLONE_NEWNS | thread}, false, true},
      {"groups", SYS_clone, {CLONE_NEWCGROUP | thread}, false, true},
      {"names", SYS_clone, {CLONE_NEWUTS | thread}, false, true},
      {"messages", SYS_clone, {CLONE_NEWIPC | thread}, false, true},
      {"users", SYS_clone, {CLONE_NEWUSER | thread}, false, true},
      {"processes", SYS_clone, {CLONE_NEWPID | thread}, false, true},
      {"network", SYS_clone, {CLONE_NEWNET | thread}, false, true},
      {"no key", SYS_clone, {SIGCHLD}, false, true},
      {"half a key", SYS_clone, {SIGCHLD, 0, fork_key & UINT32_MAX}, false, true},
      {"the other half", SYS_clone, {SIGCHLD, 0, fork_key & ~(uint64_t)UINT32_MAX}, false, true},
      {"the key", SYS_clone, {SIGCHLD, 0, fork_key}, false, false},
      {"the key, for a copy in the same memory",
       SYS_clone,
       {SIGCHLD | CLONE_VM, 0, fork_key},
       false,
       true},
  };
  assert_rules(calls, sizeof calls / sizeof *calls);
}

/* ---- Steps of the worker -------------------------------------------------------------------- */

struct seen {
  int files; /* open descriptors above stderr */
  bool kept, environment;
};

static void look_around(void *context, void *result) {
  const int *kept = context;
  struct seen *seen = result;
  for (int fd = STDERR_FILENO + 1; fd < 256; fd++) seen->files += fcntl(fd, F_GETFD) >= 0;
  seen->kept = *kept >= 0 && fcntl(*kept, F_GETFD) >= 0;
  seen->environment = environ && *environ;
}

/* The kept file may have the lowest descriptor, the highest, or one between them; -1 keeps none. */
TEST(a_step_has_one_file_and_no_environment) {
  enum { FILES = 5 };
  int files[FILES + 1] = {[FILES] = -1};
  for (int i = 0; i < FILES; i++)
    assert_true((files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) > STDERR_FILENO);
  for (int i = 0; i <= FILES; i++) {
    struct isolate_output output = {0};
    struct seen seen = {0};
    assert_int_equal(isolate(look_around, &files[i], &seen, sizeof seen, &output, files[i], NULL),
                     CUGEN_OK);
    assert_int_equal(seen.files, i < FILES);
    assert_int_equal(seen.kept, i < FILES);
    assert_false(seen.environment);
  }
  for (int i = 0; i < FILES; i++) close(files[i]);
}

ALL_TESTS_WITH(setup, teardown);
