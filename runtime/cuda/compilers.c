/* Compiler processes; see compilers.h. */
#include "compilers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/sanitizers.h"
#include "base/system.h"
#include "nvrtc.h"
#include "precompiled.h"
#include "runtime/compile/toolkit.h"

/* Seconds. A process that compiles checks its own deadline, and gets `last_words` more to report
   that its time is up. */
static const double start_limit = 60, last_words = 2, poll_interval = 0.02;

struct child {
  pid_t pid, parent; /* parent: a fork of the parent inherits the socket but must not use it */
  int socket;
  int compiles; /* compiles that the child has carried out */
  int unread;   /* answers that are still to be read, to the messages sent when the child was
                   started ahead */
  struct child *next;
};

struct compilers {
  struct compilers_options options;
  struct text folder; /* where children write precompiled headers; "": nowhere */
  int hold;           /* lock on the folder; -1: none */
  pthread_mutex_t mutex;
  struct child *idle;
};

int compilers_open(const struct compilers_options *options, struct compilers **out,
                   cugen_error *err) {
  *out = calloc(1, sizeof **out);
  if (!*out) return error_memory(err);
  (*out)->options = *options;
  if (options->idle_seconds <= 0) (*out)->options.idle_seconds = COMPILER_IDLE_SECONDS;
  pthread_mutex_init(&(*out)->mutex, NULL);
  cugen_error ignored;
  const bool made = folder_temporary(&(*out)->folder, &ignored) == CUGEN_OK;
  if (!made) text_restart(&(*out)->folder);
  (*out)->hold = made ? folder_hold(text_get(&(*out)->folder)) : -1;
  return CUGEN_OK;
}

/* Frees a child, and ends its process if the calling process started it. Returns the signal that
   ended the child's process; 0: none. */
static int child_end(struct child *child, struct text *how) {
  int signal = 0;
  if (child->socket >= 0) close(child->socket);
  if (child->pid > 0 && child->parent == getpid()) signal = process_end(child->pid, how);
  free(child);
  return signal;
}

static void end_all(struct child *list) {
  while (list) {
    struct child *next = list->next;
    child_end(list, NULL);
    list = next;
  }
}

void compilers_close(struct compilers *c) {
  if (!c) return;
  end_all(c->idle);
  if (c->folder.length) folder_remove(text_get(&c->folder));
  if (c->hold >= 0) close(c->hold);
  text_free(&c->folder);
  pthread_mutex_destroy(&c->mutex);
  free(c);
}

/* ---- A child -------------------------------------------------------------------------------- */

/* Takes the most recently used child, so that superfluous children stay idle until they end; NULL:
   there is none. Reaps children that have ended. */
static struct child *take_idle(struct compilers *c) {
  struct child *found = NULL, *gone = NULL;
  pthread_mutex_lock(&c->mutex);
  for (struct child **at = &c->idle; *at;) {
    struct child *child = *at;
    /* A usable child is of this process, and seems to live: a child that owes no answer sends
       nothing, so that readable data mean its end. */
    struct pollfd item = {.fd = child->socket, .events = POLLIN};
    const bool usable = child->parent == getpid() && (child->unread || poll(&item, 1, 0) == 0);
    struct child **list = !usable ? &gone : found ? NULL : &found;
    if (!list) {
      at = &child->next;
      continue;
    }
    *at = child->next;
    child->next = *list;
    *list = child;
  }
  pthread_mutex_unlock(&c->mutex);
  end_all(gone);
  return found;
}

/* The number of sources with the same beginning after which headers are precompiled, see
   precompiled.h. */
enum { PATIENCE = 3 };

/* A child is replaced after so many compiles, because NVRTC does not free all its memory. */
enum { MOST_COMPILES = 100 };

static void add_idle(struct compilers *c, struct child *child) {
  pthread_mutex_lock(&c->mutex);
  child->next = c->idle;
  c->idle = child;
  pthread_mutex_unlock(&c->mutex);
}

/* ANSWER_UNASKED: the child did not receive the whole message. */
enum answer { ANSWER_DONE, ANSWER_ERROR, ANSWER_UNASKED, ANSWER_GONE, ANSWER_LATE, ANSWER_STOPPED };

/* Waits for a child's answer. The only error is a lack of memory. */
static int compilers_await(const struct child *child, struct text *message, double timeout,
                           struct process_stop stop, enum answer *answer, cugen_error *err) {
  cugen_error why;
  double end = clock_seconds() + timeout;
  int status = CUGEN_OK;
  while (!status) {
    enum message_type type;
    status = wire_receive(child->socket, poll_interval, &type, message, NULL, &why);
    if (status == CUGEN_ERROR_INTERRUPTED) {
      bool stopped = stop.asked && stop.asked(stop.context);
      *answer = stopped ? ANSWER_STOPPED : ANSWER_LATE;
      if (stopped || clock_seconds() > end) return CUGEN_OK;
      status = CUGEN_OK;
    } else if (!status) {
      *answer = type == MESSAGE_DONE    ? ANSWER_DONE
                : type == MESSAGE_ERROR ? ANSWER_ERROR
                                        : ANSWER_GONE;
      return CUGEN_OK;
    }
  }
  *answer = ANSWER_GONE;
  return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
}

/* Sends a message and waits for the answer. The only error is a lack of memory. */
static int compilers_ask(const struct child *child, enum message_type type, struct text *message,
                         double timeout, struct process_stop stop, enum answer *answer,
                         cugen_error *err) {
  cugen_error why;
  int status = wire_send(child->socket, type, message, -1, &why);
  *answer = ANSWER_UNASKED;
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  return compilers_await(child, message, timeout, stop, answer, err);
}

static const struct process_stop never = {.asked = NULL};

static int compilers_send_identity(const struct child *child, cugen_error *err) {
  struct text identity = {0}, message = {0};
  wire_identity(&identity);
  wire_put_string(&message, text_get(&identity));
  int status = wire_send(child->socket, MESSAGE_HELLO, &message, -1, err);
  text_free(&identity);
  text_free(&message);
  return status;
}

static int compilers_await_identity(const struct compilers *c, const struct child *child,
                                    cugen_error *err) {
  struct text identity = {0}, message = {0};
  enum answer answer = ANSWER_GONE;
  wire_identity(&identity);
  int status = compilers_await(child, &message, start_limit, never, &answer, err);
  struct wire_reader reader = wire_read(&message);
  if (!status &&
      (answer != ANSWER_DONE || strcmp(wire_get_string(&reader), text_get(&identity)) != 0))
    status = error_set(err, CUGEN_ERROR_MISSING,
                       "%s does not answer as the worker of this %s, so that nothing can be "
                       "compiled in a process of its own\nInstall cugen whole (cmake --install), "
                       "or name the worker in cugen_options.worker or $CUGEN_WORKER.",
                       c->options.program, text_get(&identity));
  text_free(&identity);
  text_free(&message);
  return status;
}

static int spawn(struct compilers *c, struct child **out, cugen_error *err) {
  const char *argv[] = {c->options.program, "worker", NULL};
  struct child *child = calloc(1, sizeof *child);
  cugen_error why;
  if (!child) return error_memory(err);
  child->parent = getpid();
  child->socket = -1;
  int status = process_spawn(argv, &child->pid, &child->socket, err);
  if (status == CUGEN_ERROR_MISSING)
    error_append(err, "; the worker is named by cugen_options.worker or CUGEN_WORKER");
  if (!status) status = wire_limit(child->socket, err);
  /* Any other failure to send shows when the identity is awaited. */
  if (!status && compilers_send_identity(child, &why) == CUGEN_ERROR_MEMORY)
    status = error_memory(err);
  if (status)
    child_end(child, NULL);
  else
    *out = child;
  return status;
}

/* ---- A compile ------------------------------------------------------------------------------ */

static double seconds_of(const struct compile_request *request) {
  return request->timeout > 0 ? request->timeout : COMPILER_SECONDS;
}

static void put_optional(struct text *out, const char *string) {
  wire_put_string(out, string ? string : "");
}

/* Writes the fields that MESSAGE_PREPARE and MESSAGE_COMPILE begin with. */
static void put_places(const struct compilers *c, struct text *out) {
  text_restart(out);
  put_optional(out, c->options.toolkit.toolkit);
  put_optional(out, c->options.toolkit.compiler);
  wire_put_string(out, text_get(&c->folder));
  wire_put_float(out, c->options.idle_seconds);
}

static void put_request(const struct compilers *c, const struct compile_request *request,
                        struct text *out) {
  put_places(c, out);
  wire_put_string(out, request->name);
  wire_put_string(out, request->source);
  put_optional(out, request->options);
  put_optional(out, request->arch);
  wire_put_float(out, seconds_of(request));
  wire_put_int(out, request->keep_ptx);
  wire_put_int(out, (int64_t)request->entry_count);
  for (size_t i = 0; i < request->entry_count; i++) wire_put_string(out, request->entries[i]);
}

static int compilers_crashed(const struct compile_request *request, struct child *child,
                             cugen_error *err) {
  struct text how = {0};
  /* A source cannot cause SIGKILL: memory has run out, or a user killed the process. */
  const bool killed = child_end(child, &how) == SIGKILL;
  int status =
      killed
          ? error_set(err, CUGEN_ERROR_MEMORY,
                      "%s: the compiler was killed, as the system does where memory runs out; "
                      "leave more of it, or use fewer compile threads",
                      request->name)
          : error_set(err, CUGEN_ERROR_COMPILE,
                      "%s: the compiler crashed: %s; it may use %d MB of memory and %d MB of stack",
                      request->name, text_get(&how), COMPILER_MEMORY_MB, COMPILER_STACK_MB);
  text_free(&how);
  return status;
}

static int end_compile(struct compilers *c, struct child *child,
                       const struct compile_request *request, enum answer answer,
                       const struct text *message, struct compiled *out, cugen_error *err) {
  struct wire_reader reader = wire_read(message);
  int status = CUGEN_OK;
  switch (answer) {
  case ANSWER_DONE: status = wire_get_compiled(&reader, out, err); break;
  case ANSWER_ERROR:
    status = wire_get_error(&reader, err);
    if (!status)
      status = error_set(err, CUGEN_ERROR_INTERNAL, "a compiler's answer makes no sense");
    break;
  case ANSWER_UNASKED:
  case ANSWER_GONE: return compilers_crashed(request, child, err);
  case ANSWER_LATE:
    child_end(child, NULL);
    return error_set_cause(err, CUGEN_ERROR_COMPILE, CUGEN_CAUSE_COMPILE_TIME,
                           "%s: " COMPILE_LATE "%g s", request->name, seconds_of(request));
  case ANSWER_STOPPED:
    child_end(child, NULL);
    return error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request");
  }
  if (++child->compiles == MOST_COMPILES)
    child_end(child, NULL);
  else
    add_idle(c, child);
  return status;
}

/* The answers of a child that is started ahead, to MESSAGE_HELLO and MESSAGE_PREPARE, are read when
   the child gets its first compile. */
void compilers_prepare(struct compilers *c, int count) {
  for (bool sent = true; sent && count > 0; count--) {
    struct text message = {0};
    struct child *child;
    cugen_error ignored;
    if (spawn(c, &child, &ignored)) return;
    put_places(c, &message);
    child->unread = 2;
    sent = wire_send(child->socket, MESSAGE_PREPARE, &message, -1, &ignored) == CUGEN_OK;
    text_free(&message);
    if (sent)
      add_idle(c, child);
    else
      child_end(child, NULL);
  }
}

/* Reads the answers of a child that was started ahead. Returns false if the child is unusable; a
   child that only failed to load NVRTC is usable, and its compile reports that. */
static bool read_unread(const struct compilers *c, struct child *child) {
  struct text message = {0};
  enum answer answer = ANSWER_DONE;
  cugen_error ignored;
  int status = child->unread ? compilers_await_identity(c, child, &ignored) : CUGEN_OK;
  if (!status && child->unread)
    status = compilers_await(child, &message, start_limit, never, &answer, &ignored);
  child->unread = 0;
  text_free(&message);
  return !status && (answer == ANSWER_DONE || answer == ANSWER_ERROR);
}

/* Asks an idle child, or a new child if there is none or the idle child is unusable. The caller
   ends *child, if it is not NULL, after an error. */
static int ask_any(struct compilers *c, const struct compile_request *request, struct child **child,
                   struct text *message, enum answer *answer, cugen_error *err) {
  const double limit = seconds_of(request) + last_words;
  int status = CUGEN_OK;
  put_request(c, request, message);
  if ((*child = take_idle(c))) {
    *answer = ANSWER_UNASKED;
    if (read_unread(c, *child))
      status = compilers_ask(*child, MESSAGE_COMPILE, message, limit, request->stop, answer, err);
    if (status || *answer != ANSWER_UNASKED) return status;
    child_end(*child, NULL);
    *child = NULL;
  }
  status = spawn(c, child, err);
  if (!status) status = compilers_await_identity(c, *child, err);
  if (!status)
    status = compilers_ask(*child, MESSAGE_COMPILE, message, limit, request->stop, answer, err);
  return status;
}

int compilers_compile(struct compilers *c, const struct compile_request *request,
                      struct compiled *out, cugen_error *err) {
  struct text message = {0};
  struct child *child = NULL;
  enum answer answer = ANSWER_GONE;
  *out = (struct compiled){0};
  int status = ask_any(c, request, &child, &message, &answer, err);
  if (!status)
    status = end_compile(c, child, request, answer, &message, out, err);
  else if (child)
    child_end(child, NULL);
  text_free(&message);
  return status;
}

/* ---- The child's side ----------------------------------------------------------------------- */

/* Limits the process, and discards what a dying compiler prints. Does nothing under a sanitizer. */
static void limit_process(void) {
  if (SANITIZED) return;
  resource_limit(RLIMIT_AS, COMPILER_MEMORY_MB);
  resource_limit(RLIMIT_STACK, COMPILER_STACK_MB);
  setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0) return;
  dup2(null, STDERR_FILENO);
  close(null);
}

/* Where the kernel has Landlock, the process can from here on only read the toolkit's folders and
   write to the folder of precompiled headers. The libraries of NVRTC are loaded before. */
static int enter_jail(const struct toolkit *toolkit, const char *headers, cugen_error *err) {
  const struct nvrtc *nvrtc;
  struct text folder = {0};
  int status = nvrtc_open(toolkit, &nvrtc, err);
  if (status) return status;
  if (strchr(text_get(&toolkit->nvrtc), '/')) path_folder(text_get(&toolkit->nvrtc), &folder);
  const struct jail_place places[] = {{text_get(&toolkit->include), JAIL_READ},
                                      {text_get(&toolkit->core), JAIL_READ},
                                      {headers, JAIL_WRITE},
                                      {text_get(&folder), JAIL_READ | JAIL_EXECUTE}};
  int jail = folder.failed ? -1 : jail_make(places, sizeof places / sizeof *places);
  if (folder.failed)
    status = error_memory(err);
  else if (!jail_enter(jail))
    status = error_set(err, CUGEN_ERROR_IO, "the compiler process cannot close itself off: %s",
                       strerror(errno));
  if (jail >= 0) close(jail);
  /* NVRTC also looks for a quoted include in the current folder. */
  if (!status && *text_get(&toolkit->include) == '/' && chdir(text_get(&toolkit->include)))
    status = error_set(err, CUGEN_ERROR_IO, "%s: %s", text_get(&toolkit->include), strerror(errno));
  text_free(&folder);
  return status;
}

void compilers_child_close(struct compilers_child *child) {
  precompiled_close(child->precompiled);
  toolkit_close(child->toolkit);
  *child = (struct compilers_child){.idle = child->idle};
}

int compilers_serve_prepare(struct wire_reader *reader, struct compilers_child *child,
                            cugen_error *err) {
  const char *folder = wire_get_string(reader), *compiler = wire_get_string(reader),
             *headers = wire_get_string(reader);
  child->idle = wire_get_float(reader);
  if (reader->failed)
    return error_set(err, CUGEN_ERROR_INTERNAL, "what was sent to the compiler makes no sense");
  if (child->open) return CUGEN_OK;
  process_outlive_thread();
  limit_process();
  compilers_child_close(child); /* an earlier attempt may have failed halfway */
  const struct toolkit_options options = {*folder ? folder : NULL, *compiler ? compiler : NULL};
  int status = toolkit_open(&options, &child->toolkit, err);
  if (!status) status = precompiled_open(headers, PATIENCE, &child->precompiled, err);
  if (*headers) setenv("TMPDIR", headers, 1); /* NVRTC writes a temporary file there */
  if (!status) status = enter_jail(child->toolkit, headers, err);
  child->open = !status;
  return status;
}

int compilers_serve(struct wire_reader *reader, struct compilers_child *child, struct text *answer,
                    cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  struct compile_request request = {.entries = entries};
  const struct nvrtc *nvrtc;
  struct compiled compiled = {0};
  int status = compilers_serve_prepare(reader, child, err);
  if (status) return status;
  request.name = wire_get_string(reader);
  request.source = wire_get_string(reader);
  request.options = wire_get_string(reader);
  request.arch = wire_get_string(reader);
  request.timeout = wire_get_float(reader);
  request.keep_ptx = wire_get_int(reader) != 0;
  int64_t count = wire_get_int(reader);
  for (int64_t i = 0; i < count && i < KERNEL_MAX_ENTRIES; i++)
    entries[i] = wire_get_string(reader);
  if (reader->failed || count < 1 || count > KERNEL_MAX_ENTRIES)
    return error_set(err, CUGEN_ERROR_INTERNAL, "what was sent to the compiler makes no sense");
  request.entry_count = (size_t)count;
  request.toolkit = child->toolkit;
  status = nvrtc_open(child->toolkit, &nvrtc, err);
  if (!status) status = precompiled_compile(child->precompiled, nvrtc, &request, &compiled, err);
  if (status == CUGEN_ERROR_MEMORY)
    status = error_set(err, CUGEN_ERROR_COMPILE, "%s: the compiler ran out of its %d MB of memory",
                       request.name, COMPILER_MEMORY_MB);
  if (!status) wire_put_compiled(answer, &compiled);
  compiled_free(&compiled);
  return status;
}
