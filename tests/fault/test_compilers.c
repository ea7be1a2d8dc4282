/* NVRTC in processes of its own: a source that makes the compiler crash, exit, hang or fill the
   memory fails alone. Compiles before, after and beside it give what a compiler in this process
   gives. The stand-in for NVRTC does what a source asks for. */

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/compilers.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/testing.h"

enum { THREADS = 4, ROUNDS = 12 };

static const char right[] = "__global__ void add() {}";
static struct compilers *compilers;

static struct toolkit_options toolkit_options(void) {
  return (struct toolkit_options){.toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT")};
}

static struct compilers *open_idle(const char *program, double idle) {
  struct compilers *out;
  const struct compilers_options options = {
      .program = program, .toolkit = toolkit_options(), .idle_seconds = idle};
  assert_int_equal(compilers_open(&options, &out, NULL), CUGEN_OK);
  return out;
}

static struct compilers *open_compilers(const char *program) {
  return open_idle(program, 0);
}

FIXTURE(setup) {
  compilers = open_compilers(getenv("CUGEN_WORKER"));
  return 0;
}

FIXTURE(teardown) {
  compilers_close(compilers);
  return 0;
}

static int compile_for(struct compilers *with, const char *source, double timeout,
                       struct process_stop stop, struct compiled *out, cugen_error *err) {
  static const char *const entries[] = {"add", "scale<4>"};
  const struct compile_request request = {.name = "a variant",
                                          .source = source,
                                          .arch = "sm_90a",
                                          .entries = entries,
                                          .entry_count = 2,
                                          .timeout = timeout,
                                          .stop = stop};
  return compilers_compile(with, &request, out, err);
}

static int compile(const char *source, cugen_error *err) {
  FREED(compiled) compiled;
  int status =
      compile_for(compilers, source, 60, (struct process_stop){.asked = NULL}, &compiled, err);
  return status;
}

static void expect_right(void) {
  cugen_error err;
  if (compile(right, &err)) fail_msg("a right source: %s", err.message);
}

/* ---- The processes themselves --------------------------------------------------------------- */

enum { MOST_CHILDREN = 64 };
static const double patience = 60; /* seconds to wait for what takes milliseconds */

/* Returns the parent of the process; 0: it has ended, or never was. */
static pid_t parent_of(pid_t pid) {
  char path[64], line[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
  fclose(file);
  return end && end[2] != 'Z' && end[2] != 'X' ? (pid_t)strtol(end + 3, NULL, 10) : 0;
}

/* Lists the living children, at most MOST_CHILDREN. */
static size_t children_of(pid_t parent, pid_t *out) {
  size_t count = 0;
  DIR *all = opendir("/proc");
  assert_non_null(all);
  for (struct dirent *entry; (entry = readdir(all));) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid > 0 && parent_of(pid) == parent && count < MOST_CHILDREN) out[count++] = pid;
  }
  closedir(all);
  return count;
}

static void rest(double seconds) {
  const struct timespec time = {.tv_sec = (time_t)seconds,
                                .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
  nanosleep(&time, NULL);
}

static bool ends_within(pid_t pid, double seconds) {
  for (double end = clock_seconds() + seconds; clock_seconds() < end; rest(0.005))
    if (!parent_of(pid)) return true;
  return false;
}

static pid_t only_child(void) {
  pid_t found[MOST_CHILDREN];
  assert_int_equal(children_of(getpid(), found), 1);
  return found[0];
}

static void in_a_thread(void *(*run)(void *), void *context) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, run, context), 0);
  pthread_join(thread, NULL);
}

static void expect_failure(const char *source, const char *words) {
  cugen_error err;
  expect_right();
  int status = compile(source, &err);
  if (status != CUGEN_ERROR_COMPILE) fail_msg("%s: status %d: %s", source, status, err.message);
  if (!strstr(err.message, words) || !strstr(err.message, "a variant"))
    fail_msg("%s: no '%s' in: %s", source, words, err.message);
  expect_right();
}

/* ---- Tests ---------------------------------------------------------------------------------- */

TEST_WITH(as_in_this_process, setup, teardown) {
  static const char *const entries[] = {"add", "scale<4>"};
  const struct toolkit_options options = toolkit_options();
  CLOSED(toolkit) *toolkit;
  const struct nvrtc *nvrtc;
  FREED(compiled) here, there;
  assert_int_equal(toolkit_open(&options, &toolkit, NULL), CUGEN_OK);
  assert_int_equal(nvrtc_open(toolkit, &nvrtc, NULL), CUGEN_OK);
  const struct compile_request request = {.toolkit = toolkit,
                                          .name = "a variant",
                                          .source = right,
                                          .arch = "sm_90a",
                                          .entries = entries,
                                          .entry_count = 2};
  assert_int_equal(nvrtc_compile(nvrtc, &request, &here, NULL), CUGEN_OK);
  assert_int_equal(compilers_compile(compilers, &request, &there, NULL), CUGEN_OK);
  assert_int_equal(there.image_length, here.image_length);
  assert_memory_equal(there.image, here.image, here.image_length);
  assert_memory_equal(&there.image_hash, &here.image_hash, sizeof here.image_hash);
  assert_int_equal(there.entry_count, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_string_equal(there.entries[i], here.entries[i]);
    assert_memory_equal(&there.resources[i], &here.resources[i], sizeof here.resources[i]);
    assert_memory_equal(&there.code[i], &here.code[i], sizeof here.code[i]);
  }
  assert_string_equal(there.log, here.log);
}

TEST_WITH(a_crash_is_one_failure, setup, teardown) {
  expect_failure("CRASH", "the compiler crashed: signal 11");
  expect_failure("EXIT", "the compiler crashed: exit code 0");
}

TEST_WITH(memory_has_an_end, setup, teardown) {
  if (SANITIZED) skip(); /* a sanitizer's own memory exceeds any limit */
  expect_failure("FILL", "the compiler crashed: signal 6");
}

TEST_WITH(a_hang_ends_in_time, setup, teardown) {
  struct compiled compiled;
  cugen_error err;
  double begin = clock_seconds();
  int status =
      compile_for(compilers, "HANG", 0.2, (struct process_stop){.asked = NULL}, &compiled, &err);
  assert_int_equal(status, CUGEN_ERROR_COMPILE);
  assert_non_null(strstr(err.message, "compiling was stopped after 0.2 s"));
  assert_true(clock_seconds() - begin < 60);
  expect_right();
}

static bool always(void *context) {
  return true;
}

TEST_WITH(it_is_stopped_when_asked, setup, teardown) {
  struct compiled compiled;
  assert_int_equal(
      compile_for(compilers, "HANG", 0, (struct process_stop){.asked = always}, &compiled, NULL),
      CUGEN_ERROR_INTERRUPTED);
  expect_right();
}

TEST(the_program_is_no_worker) {
  static const char *const programs[] = {"/nonexistent/cugen-worker", "/bin/true"};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    struct compilers *with = open_compilers(programs[i]);
    struct compiled compiled;
    cugen_error err;
    int status =
        compile_for(with, right, 60, (struct process_stop){.asked = NULL}, &compiled, &err);
    assert_int_equal(status, CUGEN_ERROR_MISSING);
    assert_non_null(strstr(err.message, programs[i]));
    compilers_close(with);
  }
}

/* Compiles more sources than one process serves; every third source crashes. */
static void *compile_many(void *context) {
  int *wrong = context;
  for (int i = 0; i < ROUNDS; i++) {
    cugen_error err;
    int status = compile(i % 3 == 1 ? "CRASH" : right, &err);
    *wrong += status != (i % 3 == 1 ? CUGEN_ERROR_COMPILE : CUGEN_OK);
  }
  return NULL;
}

TEST_WITH(from_many_threads, setup, teardown) {
  for (int round = 0; round < 2;
       /* in the second round the threads of the first, and their processes, have ended */
       round++) {
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, compile_many, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_int_equal(wrong[i], 0);
    }
  }
}

TEST_WITH(a_process_is_renewed, setup, teardown) {
  for (int i = 0; i < 110; i++) expect_right();
}

static void *compile_right(void *context) {
  cugen_error err;
  *(int *)context = compile(right, &err);
  return NULL;
}

TEST_WITH(a_process_outlives_its_thread, setup, teardown) {
  int status = CUGEN_ERROR_INTERNAL;
  in_a_thread(compile_right, &status);
  assert_int_equal(status, CUGEN_OK);
  pid_t child = only_child();
  for (int i = 0; i < 3; i++) {
    in_a_thread(compile_right, &status);
    assert_int_equal(status, CUGEN_OK);
    assert_int_equal(only_child(), child);
  }
}

TEST(an_idle_process_ends) {
  struct compilers *before = compilers;
  compilers = open_idle(getenv("CUGEN_WORKER"), 0.05);
  expect_right();
  pid_t found[MOST_CHILDREN];
  for (double end = clock_seconds() + patience; children_of(getpid(), found); rest(0.005))
    assert_true(clock_seconds() < end);
  expect_right();
  compilers_close(compilers);
  compilers = before;
}

/* A request to a process that is about to end is served by another process. */
TEST(none_is_lost_to_an_end) {
  struct compilers *before = compilers;
  compilers = open_idle(getenv("CUGEN_WORKER"), 0.004);
  for (int i = 0; i < 150; i++) {
    expect_right();
    rest(0.003 + 0.00001 * i);
  }
  compilers_close(compilers);
  compilers = before;
}

TEST_WITH(a_killed_process_is_replaced, setup, teardown) {
  expect_right();
  pid_t child = only_child();
  kill(child, SIGKILL);
  assert_true(ends_within(child, patience));
  expect_right();
  assert_int_not_equal(only_child(), child);
}

struct hanging {
  struct process_stop stop;
  atomic_bool enough;
  int status;
  cugen_error err;
};

static bool is_enough(void *context) {
  return atomic_load(&((struct hanging *)context)->enough);
}

static void *compile_hanging(void *context) {
  struct hanging *h = context;
  struct compiled compiled;
  h->status =
      compile_for(compilers, "HANG", 600, (struct process_stop){is_enough, h}, &compiled, &h->err);
  return NULL;
}

/* A sanitized child has no limits, so a test cannot tell whether it compiles. */
enum { LIMITED = !SANITIZED };

/* Returns the child that was stopped in a compile, not one that is starting. */
static pid_t compiling_child(pid_t parent) {
  pid_t found[MOST_CHILDREN];
  char path[64], name[64];
  for (double end = clock_seconds() + patience; clock_seconds() < end; rest(0.005)) {
    size_t count = children_of(parent, found);
    for (size_t i = 0; i < count; i++) {
      snprintf(path, sizeof path, "/proc/%d/fd/2", (int)found[i]);
      ssize_t length = readlink(path, name, sizeof name - 1);
      /* the child has limited itself */
      if (length > 0 && !strncmp(name, "/dev/null", (size_t)length)) return found[i];
    }
  }
  fail_msg("no child compiles");
  return -1;
}

TEST_WITH(one_killed_in_a_compile_is_no_failure_of_the_source, setup, teardown) {
  if (!LIMITED) skip();
  struct hanging h = {.status = CUGEN_OK};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, compile_hanging, &h), 0);
  kill(compiling_child(getpid()), SIGKILL);
  pthread_join(thread, NULL);
  assert_int_equal(h.status, CUGEN_ERROR_MEMORY);
  assert_non_null(strstr(h.err.message, "the compiler was killed"));
  expect_right();
}

/* A coordinator: compiles in a thread that ends, then hangs in another thread, or does not. A
   fork of it, which has the same sockets, lives until `end` is closed. */
static void coordinate(bool hang, const int end[2]) {
  int status = CUGEN_ERROR_INTERNAL;
  struct hanging h = {.status = CUGEN_OK};
  pthread_t thread;
  char byte;
  close(end[1]);
  compilers = open_compilers(getenv("CUGEN_WORKER"));
  in_a_thread(compile_right, &status);
  if (status) _exit(1);
  if (fork() == 0) _exit(read(end[0], &byte, 1) != 0);
  if (hang) pthread_create(&thread, NULL, compile_hanging, &h);
  for (;;) pause();
}

TEST(none_outlives_its_coordinator) {
  if (!LIMITED) skip();
  for (int hang = 0; hang < 2; hang++) {
    int end[2];
    assert_int_equal(pipe(end), 0);
    pid_t coordinator = fork();
    if (coordinator == 0) coordinate(hang, end);
    pid_t child = compiling_child(coordinator);
    assert_int_equal(parent_of(child), coordinator);
    if (hang) rest(0.1); /* by now the compiler has the source that hangs */
    kill(coordinator, SIGKILL);
    assert_true(ends_within(child, 2));
    waitpid(coordinator, NULL, 0);
    close(end[0]);
    close(end[1]);
  }
}

/* A fork of this process compiles in children of its own and leaves the parent's alone. */
TEST_WITH(a_fork_leaves_them_alone, setup, teardown) {
  expect_right();
  pid_t child = only_child(), fork_of_this = fork();
  if (fork_of_this == 0) {
    cugen_error err;
    int status = compile(right, &err);
    pid_t found[MOST_CHILDREN];
    size_t own = children_of(getpid(), found);
    compilers_close(compilers);
    _exit(status || own != 1 || parent_of(child) != getppid());
  }
  int status;
  assert_int_equal(waitpid(fork_of_this, &status, 0), fork_of_this);
  assert_int_equal(status, 0);
  assert_int_equal(parent_of(child), getpid());
  expect_right();
  assert_int_equal(only_child(), child);
}

static void reap_all(int number) {
  int code = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  errno = code;
}

TEST_WITH(whatever_becomes_of_sigchld, setup, teardown) {
  void (*const ways[])(int) = {SIG_IGN, reap_all};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    signal(SIGCHLD, ways[i]);
    expect_failure("CRASH", "the compiler crashed");
    a_hang_ends_in_time(NULL);
    a_killed_process_is_replaced(NULL);
    compilers_close(compilers);
    compilers = open_compilers(getenv("CUGEN_WORKER"));
    signal(SIGCHLD, SIG_DFL);
  }
}

/* A child that also holds another child's socket would keep that child from noticing that its
   coordinator is gone. */
TEST_WITH(none_has_anothers_socket, setup, teardown) {
  struct hanging h[3] = {0};
  pthread_t threads[3];
  pid_t found[MOST_CHILDREN];
  char path[64], name[64];
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, compile_hanging, &h[i]), 0);
  for (double end = clock_seconds() + patience; children_of(getpid(), found) < 3; rest(0.005))
    assert_true(clock_seconds() < end);
  for (int i = 0; i < 3; i++) atomic_store(&h[i].enough, i > 0);
  for (int i = 1; i < 3; i++) pthread_join(threads[i], NULL);
  expect_right();
  size_t count = children_of(getpid(), found);
  assert_int_equal(count, 2);
  for (size_t i = 0; i < count; i++) {
    int sockets = 0;
    for (int fd = 0; fd < 256; fd++) {
      snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)found[i], fd);
      sockets += readlink(path, name, sizeof name - 1) > 0 && !strncmp(name, "socket:", 7);
    }
    assert_int_equal(sockets, 1);
  }
  atomic_store(&h[0].enough, true);
  pthread_join(threads[0], NULL);
}
