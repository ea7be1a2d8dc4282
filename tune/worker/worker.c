/* The coordinator's side of a worker: starts, asks and replaces it; see worker.h, and worker_main.c
   for the worker's side.

   The two sides exchange messages over a socket pair (runtime/wire.h): a dataset, then jobs, each a
   question with one answer. Images are sent, sources never. The reference's results and the inputs'
   data are in memory that both sides map, so that they need not be computed again after a worker
   died. Another mapping (struct worker_shared) holds what a signal handler can still write, and can
   be read here after the worker's death.

   Invariants:
   - A question is answered within its timeout, or the process is killed. A thread in place of a
     process cannot be killed; it is asked to end, and left alone if it does not.
   - A worker that died is replaced at the next question. `known` says which datasets the running
     process has; a new process has none.
   - Answers are not trusted: results are judged as records are (claim.h), and shared memory is
     copied before it is inspected. */
#include "worker.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system.h"
#include "claim.h"
#include "runtime/compile/toolkit.h"
#include "runtime/devices.h"
#include "runtime/wire.h"
#include "tune/data/results.h"
#include "worker_thread.h"

/* Timeouts in seconds. Making a dataset may take dataset_limit times the timeout of a job that is
   not watched, because it fills buffers and computes the reference. */
static const double open_timeout = 60, dataset_limit = 10, poll_interval = 0.1;
/* Seconds that a thread is given to end after it was asked to stop. */
static const double thread_patience = 2;

struct worker {
  struct worker_options options;
  pid_t pid;                    /* 0: no process */
  struct worker_thread *thread; /* NULL: no thread */
  int socket;
  int shared_descriptor;
  struct worker_shared *shared;
  int signal;             /* signal that ended the last process; 0: none */
  atomic_bool makes_data; /* the worker makes data or computes its reference */
  bool greeted;           /* the process has proved to be of this build */
  bool looked;            /* the process has listed the GPUs and was not given a device yet */
  bool begun;             /* the process was asked to open the device and has not answered yet */
  /* Ids of the datasets that the running process has, indexed by `timed`: of the check problem and
     of the real problem; -1: none. */
  _Atomic int64_t known[2];
  struct text message;
  char doing[DATASET_DOING_BYTES]; /* private copy of shared->doing */
  cugen_error lost;                /* if its status is set: the error that worker_usable returns */
};

#define WAYS_OUT                                                                                   \
  "Install cugen whole (cmake --install), name the worker in cugen_options.worker or "             \
  "$CUGEN_WORKER, or tune with CUGEN_TUNE_IN_PROCESS, which needs none."

int worker_open(const struct worker_options *options, struct worker **out, cugen_error *err) {
  *out = NULL;
  if (!options->program && !options->in_process)
    return error_set(err, CUGEN_ERROR_MISSING,
                     "the worker program, which verifies and times kernels, was not found; looked "
                     "at %s\n" WAYS_OUT,
                     options->places ? options->places : "nothing");
  struct worker *w = calloc(1, sizeof *w);
  if (!w) return error_memory(err);
  w->options = *options;
  w->socket = -1;
  w->known[0] = -1;
  w->known[1] = -1;
  w->shared_descriptor = memfd_create("cugen-fault", MFD_CLOEXEC);
  void *shared = MAP_FAILED;
  if (w->shared_descriptor >= 0 && ftruncate(w->shared_descriptor, sizeof *w->shared) == 0)
    shared =
        mmap(NULL, sizeof *w->shared, PROT_READ | PROT_WRITE, MAP_SHARED, w->shared_descriptor, 0);
  w->shared = shared == MAP_FAILED ? NULL : shared;
  if (!w->shared) {
    int status =
        error_set(err, CUGEN_ERROR_MEMORY, "shared memory for the worker: %s", strerror(errno));
    worker_close(w);
    return status;
  }
  *out = w;
  return CUGEN_OK;
}

/* Ends the worker. A process is killed at once. Returns false if a thread did not end within
   `patience` seconds. */
static bool worker_stop(struct worker *w, double patience, struct text *how) {
  bool ended = true;
  if (w->socket >= 0) close(w->socket);
  w->signal = w->pid > 0 ? process_end(w->pid, how) : 0;
  if (w->thread) ended = worker_thread_end(w->thread, patience);
  w->socket = -1;
  w->pid = 0;
  w->thread = NULL;
  w->greeted = w->looked = false;
  w->known[0] = -1;
  w->known[1] = -1;
  return ended;
}

void worker_close(struct worker *w) {
  if (!w) return;
  worker_stop(w, open_timeout, NULL); /* a thread, which has no question to answer, ends at once */
  if (w->shared) munmap(w->shared, sizeof *w->shared);
  if (w->shared_descriptor >= 0) close(w->shared_descriptor);
  text_free(&w->message);
  free(w);
}

/* ---- Asking --------------------------------------------------------------------------------- */

enum answer { ANSWER_DONE, ANSWER_ERROR, ANSWER_DIED, ANSWER_TIMEOUT, ANSWER_NONSENSE };

/* Checks the answer's type, because a kernel on the cpu device can overwrite anything, including
   the worker's answer. */
static enum answer worker_read_answer(const struct worker *w, enum message_type type) {
  struct wire_reader reader = wire_read(&w->message);
  if (type == MESSAGE_DONE) return ANSWER_DONE;
  if (type != MESSAGE_ERROR) return ANSWER_NONSENSE;
  return wire_get_error(&reader, NULL) ? ANSWER_ERROR : ANSWER_NONSENSE;
}

static void clear_fault(struct worker *w) {
  w->shared->fault = (struct fault){0};
  w->shared->doing[0] = '\0';
  w->shared->on_check = false;
}

/* Returns the name of the generator, reference or verify kernel that runs; "": none runs. Valid
   until the next call. */
static const char *doing(struct worker *w) {
  memcpy(w->doing, w->shared->doing, sizeof w->doing - 1);
  return w->doing;
}

/* Returns a copy of the fault that the process reported as it died; only the cpu device reports
   one. */
static struct fault read_fault(const struct worker *w) {
  struct fault fault = w->shared->fault;
  fault.text[FAULT_TEXT - 1] = '\0';
  fault.cause = fault.text[0] ? claim_cause(fault.cause) : CUGEN_CAUSE_NONE;
  return fault;
}

static bool has_fault(const struct fault *fault) {
  return fault->text[0];
}

/* Waits for the answer for at most `timeout` seconds, and not beyond `until` (0: no deadline).
   Returns an error if there is no memory, if the wait was interrupted, or at `until`. */
static int worker_await(struct worker *w, double timeout, double until, enum answer *answer,
                        cugen_error *err) {
  double end = clock_seconds() + timeout;
  for (;;) {
    enum message_type type;
    cugen_error why;
    int status = wire_receive(w->socket, poll_interval, &type, &w->message, NULL, &why);
    if (status == CUGEN_ERROR_MEMORY) {
      worker_stop(w, thread_patience, NULL); /* part of its answer may not be read yet */
      return error_memory(err);
    }
    if (status != CUGEN_ERROR_INTERRUPTED) {
      *answer = status == CUGEN_OK               ? worker_read_answer(w, type)
                : status == CUGEN_ERROR_INTERNAL ? ANSWER_NONSENSE
                                                 : ANSWER_DIED;
      return CUGEN_OK;
    }
    if (w->options.interrupted && w->options.interrupted(w->options.context)) {
      worker_stop(w, end - clock_seconds() + thread_patience, NULL);
      return error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request");
    }
    if (until > 0 && clock_seconds() > until) {
      const char *step = doing(w);
      error_set(err, CUGEN_ERROR_INTERRUPTED, "%s was still %s",
                *step ? step : "the data and the reference", *step ? "running" : "being made");
      worker_stop(w, thread_patience, NULL);
      return CUGEN_ERROR_INTERRUPTED;
    }
    *answer = ANSWER_TIMEOUT;
    if (clock_seconds() > end) return CUGEN_OK;
  }
}

static int answered_error(struct worker *w, cugen_error *err) {
  struct wire_reader reader = wire_read(&w->message);
  return wire_get_error(&reader, err);
}

/* Sends without waiting for an answer, and frees the payload. Returns an error if there is no
   memory. A worker that does not receive any more is noticed when its answer is awaited. */
static int post(struct worker *w, enum message_type type, struct text *payload, int fd,
                cugen_error *err) {
  cugen_error why;
  int status = wire_send(w->socket, type, payload, fd, &why);
  text_free(payload);
  return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
}

/* Sends, and waits for the answer. Returns an error like worker_await. */
static int send_and_await(struct worker *w, enum message_type type, const struct text *payload,
                          int fd, double timeout, enum answer *answer, cugen_error *err) {
  const double until = type == MESSAGE_DATASET && w->options.until ? *w->options.until : 0;
  cugen_error why;
  int status = wire_send(w->socket, type, payload, fd, &why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  *answer = status == CUGEN_ERROR_INTERNAL ? ANSWER_TIMEOUT : ANSWER_DIED;
  return status ? CUGEN_OK : worker_await(w, timeout, until, answer, err);
}

/* Ends a worker that did not answer as it should, and returns the reason as the error. */
static int bury(struct worker *w, enum answer answer, enum message_type type, const char *what,
                double timeout, cugen_error *err) {
  static const char *const did[] = {[ANSWER_DIED] = "died during",
                                    [ANSWER_TIMEOUT] = "did not finish",
                                    [ANSWER_NONSENSE] = "no longer made sense during"};
  struct text how = {0};
  const char *place = w->thread ? "thread" : "process";
  if (w->thread) text_add(&how, "in this process");
  worker_stop(w, thread_patience, &how);
  const struct fault fault = read_fault(w);
  int status = CUGEN_ERROR_DEVICE;
  if (answer == ANSWER_TIMEOUT)
    error_set(err, status, "the worker %s %s %s within %g s%s", place, did[answer], what, timeout,
              type == MESSAGE_DATASET ? "; a longer timeout or a smaller problem may help" : "");
  else
    error_set(err, status, "the worker %s %s %s (%s)", place, did[answer], what, text_get(&how));
  if (answer != ANSWER_TIMEOUT && has_fault(&fault))
    error_append(err, ": %s%s", cause_prefix(fault.cause), fault.text);
  text_free(&how);
  return status;
}

/* Returns true if nothing can be read. A worker sends nothing unasked, so that anything readable is
   the end of a process that died. */
static bool is_idle(const struct worker *w) {
  struct pollfd item = {.fd = w->socket, .events = POLLIN};
  return poll(&item, 1, 0) == 0;
}

static int start_worker(struct worker *w, cugen_error *err) {
  const char *argv[] = {w->options.program, "worker", NULL};
  clear_fault(w);
  if (w->options.in_process)
    return worker_thread_start(w->options.cuda_context, &w->thread, &w->socket, err);
  int status = process_spawn(argv, &w->pid, &w->socket, err);
  if (status) w->pid = 0, w->socket = -1;
  if (status == CUGEN_ERROR_MISSING)
    error_append(err, "; the worker is named by cugen_options.worker or CUGEN_WORKER");
  return status;
}

static void put_toolkit(const struct worker *w, struct text *payload) {
  wire_put_string(payload, w->options.toolkit.toolkit ? w->options.toolkit.toolkit : "");
  wire_put_string(payload, w->options.toolkit.compiler ? w->options.toolkit.compiler : "");
}

static int check_identity(struct worker *w, enum answer answer, cugen_error *err) {
  struct text identity = {0}, how = {0};
  struct wire_reader reader = wire_read(&w->message);
  const char *theirs = answer == ANSWER_DONE ? wire_get_string(&reader) : "";
  int status = CUGEN_OK;
  wire_identity(&identity);
  if (answer != ANSWER_DONE) {
    if (answer == ANSWER_TIMEOUT) text_addf(&how, "silent for %g s", open_timeout);
    worker_stop(w, thread_patience, how.length ? NULL : &how);
    status = error_set(err, CUGEN_ERROR_MISSING,
                       "%s does not answer as the worker of this %s (%s)\n" WAYS_OUT,
                       w->options.program, text_get(&identity), text_get(&how));
  } else if (strcmp(theirs, text_get(&identity)) != 0) {
    status = error_set(
        err, CUGEN_ERROR_MISSING,
        "%s is a worker of another build: it is of '%s', this program of '%s'. They share memory "
        "layouts, so both must be of one build\n" WAYS_OUT,
        w->options.program, theirs, text_get(&identity));
  }
  text_free(&identity);
  text_free(&how);
  return status;
}

static int worker_launch(struct worker *w, cugen_error *err) {
  struct text identity = {0}, payload = {0};
  worker_stop(w, thread_patience, NULL);
  int status = start_worker(w, err);
  if (!status) status = wire_limit(w->socket, err);
  if (status) return status;
  wire_identity(&identity);
  wire_put_string(&payload, text_get(&identity));
  text_free(&identity);
  return post(w, MESSAGE_HELLO, &payload, -1, err);
}

/* Starts to open the device, which takes some tenths of a second for a GPU. The answers are awaited
   when the worker is needed. */
static int tune_worker_begin(struct worker *w, cugen_error *err) {
  struct text payload = {0};
  int status = w->looked && is_idle(w) ? CUGEN_OK : worker_launch(w, err);
  w->looked = false;
  if (!status) {
    put_toolkit(w, &payload);
    wire_put_string(&payload, w->options.device);
    status = post(w, MESSAGE_OPEN, &payload, w->shared_descriptor, err);
  }
  w->begun = !status;
  if (status) worker_stop(w, thread_patience, NULL);
  return status;
}

static int worker_await_identity(struct worker *w, cugen_error *err) {
  enum answer answer = ANSWER_DIED;
  if (w->greeted) return CUGEN_OK;
  int status = worker_await(w, open_timeout, 0, &answer, err);
  if (!status) status = check_identity(w, answer, err);
  w->greeted = !status;
  return status;
}

/* Starts the worker unless it runs, and waits until its device is open. */
static int worker_start(struct worker *w, cugen_error *err) {
  enum answer answer = ANSWER_DIED;
  if ((w->pid || w->thread) && !w->begun && is_idle(w)) return CUGEN_OK;
  int status = w->begun ? CUGEN_OK : tune_worker_begin(w, err);
  if (!status) status = worker_await_identity(w, err);
  if (!status) status = worker_await(w, open_timeout, 0, &answer, err);
  if (!status && answer != ANSWER_DONE)
    status = answer == ANSWER_ERROR
                 ? answered_error(w, err)
                 : bury(w, answer, MESSAGE_OPEN, "opening the device", open_timeout, err);
  w->begun = false;
  if (status) worker_stop(w, thread_patience, NULL);
  return status;
}

void worker_begin(struct worker *w) {
  cugen_error ignored; /* the error comes again when the worker is needed */
  if (!w->options.in_process) tune_worker_begin(w, &ignored);
}

void worker_ask_gpus(struct worker *w) {
  /* The error comes again when the worker is needed, or when this process looks for GPUs. */
  cugen_error ignored;
  struct text payload = {0};
  put_toolkit(w, &payload);
  int status = worker_launch(w, &ignored);
  if (!status) status = post(w, MESSAGE_GPUS, &payload, -1, &ignored);
  text_free(&payload);
  if (status) worker_stop(w, thread_patience, NULL);
}

int worker_take_gpus(struct worker *w, struct device_description **out) {
  enum answer answer = ANSWER_DIED;
  cugen_error ignored;
  *out = NULL;
  if (!w->pid) return 0;
  int status = worker_await_identity(w, &ignored);
  if (!status) status = worker_await(w, open_timeout, 0, &answer, &ignored);
  w->looked = !status && answer == ANSWER_DONE;
  if (!w->looked) {
    worker_stop(w, thread_patience, NULL);
    return 0;
  }
  struct wire_reader reader = wire_read(&w->message);
  const int64_t count = wire_get_int(&reader);
  const size_t bytes = sizeof **out;
  if (count < 1 || (size_t)(reader.end - reader.at) / bytes < (size_t)count) return 0;
  *out = calloc((size_t)count, bytes);
  if (*out) memcpy(*out, wire_get(&reader, (size_t)count * bytes), (size_t)count * bytes);
  return *out ? (int)count : 0;
}

void worker_go_on(struct worker *w, const struct worker_options *options) {
  w->options = *options;
}

static void put_kernel(struct text *payload, const struct dataset_kernel *k) {
  wire_put_int(payload, k->spec != NULL);
  if (!k->spec) return;
  wire_put_string(payload, k->name);
  wire_put_spec(payload, k->spec);
  wire_put_compiled(payload, k->compiled);
  wire_put_int(payload, (int64_t)k->argument);
}

static void put_dataset(struct text *payload, const struct dataset_request *d) {
  wire_put_int(payload, d->id);
  wire_put_int(payload, (int64_t)d->seed);
  wire_put_int(payload, d->timed);
  wire_put_int(payload, d->answered);
  wire_put_float(payload, d->spec->flops);
  wire_put(payload, &d->spec->buffers_hash, sizeof d->spec->buffers_hash);
  wire_put_spec(payload, d->spec);
  put_kernel(payload, &d->reference);
  put_kernel(payload, &d->verify);
  wire_put_int(payload, d->has_kernels);
  for (int part = 0; part < DATA_PARTS && d->has_kernels; part++)
    wire_put_compiled(payload, d->kernels_compiled[part]);
  wire_put_int(payload, (int64_t)d->generator_count);
  for (size_t i = 0; i < d->generator_count; i++) put_kernel(payload, &d->generators[i]);
}

/* Returns true if a refused system call ended the process, which had no handler for the signal or
   blocked it. */
static bool was_refused(const struct worker *w) {
  return w->signal == SIGSYS;
}

/* Reports a generator or a reference that broke the worker, which is not a variant's fault. */
static int blame(struct worker *w, const struct dataset_request *d, enum answer answer,
                 double limit, cugen_error *err) {
  struct text who = {0}, how = {0};
  text_add(&who, doing(w));
  bool ended = worker_stop(w, thread_patience, &how);
  const struct fault fault = read_fault(w);
  const bool reference =
      d->reference.spec && strncmp(text_get(&who), d->reference.name, sizeof w->doing - 1) == 0;
  int status = CUGEN_ERROR_DEVICE;
  if (answer == ANSWER_TIMEOUT)
    error_set(err, status,
              "%s did not end within %g s, which is no variant's fault. Give a longer timeout or a "
              "smaller problem",
              text_get(&who), limit);
  else
    error_set(err, status, "%s failed, which is no variant's fault: %s%s; correct it%s",
              text_get(&who), cause_prefix(fault.cause),
              has_fault(&fault) ? fault.text : text_get(&how),
              reference && fault.beside ? RESULTS_ADVICE : "");
  if (answer != ANSWER_TIMEOUT && !has_fault(&fault) && was_refused(w))
    error_append(err, "; it called the system, which no kernel can do on a GPU");
  if (!ended) w->lost = *err;
  text_free(&who);
  text_free(&how);
  return status;
}

/* Reports that the worker could not make the data, and ends the worker, because its device may be
   in any state. A process is replaced; a thread is not usable any more if the device failed.
   Damaged guards or inputs get the status of a worker that died. */
static int refuse_data(struct worker *w, cugen_error *err) {
  int status = answered_error(w, err);
  if (w->thread && status == CUGEN_ERROR_DEVICE) w->lost = *err;
  worker_stop(w, thread_patience, NULL);
  if (status == CUGEN_ERROR_WRONG) status = err->status = CUGEN_ERROR_DEVICE;
  return status;
}

static int send_dataset(struct worker *w, const struct dataset_request *d, double limit,
                        cugen_error *err) {
  struct text payload = {0};
  enum answer answer;
  put_dataset(&payload, d);
  w->makes_data = true;
  int status = send_and_await(w, MESSAGE_DATASET, &payload, d->shared, limit, &answer, err);
  w->makes_data = false;
  text_free(&payload);
  if (status || answer == ANSWER_DONE) return status;
  if (answer == ANSWER_ERROR) return refuse_data(w, err);
  if (*doing(w) && answer != ANSWER_NONSENSE) return blame(w, d, answer, limit, err);
  return bury(w, answer, MESSAGE_DATASET, "making the data and the reference", limit, err);
}

/* Returns true if the error concerns only the dataset that was sent, so that the worker can go on
   with other datasets. */
static bool is_its_own(int status, const cugen_error *err) {
  return status && status != CUGEN_ERROR_INTERRUPTED && status != CUGEN_ERROR_INTERNAL &&
         err->cause != CUGEN_CAUSE_DEVICE_LOST;
}

static int give_dataset(struct worker *w, const struct dataset_request *d, double limit,
                        const struct dataset_request **failed, cugen_error *err) {
  if (w->known[d->timed] == d->id) return CUGEN_OK;
  int status = send_dataset(w, d, limit, err);
  /* After a failure `known` needs no change: the worker has ended, which cleared it, or it was sent
     nothing. */
  if (!status) w->known[d->timed] = d->id;
  if (is_its_own(status, err)) *failed = d;
  return status;
}

static int give_datasets(struct worker *w, const struct worker_job *job,
                         const struct dataset_request **failed, cugen_error *err) {
  const double limit = job->watched ? job->timeout : job->timeout * dataset_limit;
  int status =
      job->check && job->verify ? give_dataset(w, job->check, limit, failed, err) : CUGEN_OK;
  return status ? status : give_dataset(w, job->real, limit, failed, err);
}

/* ---- One variant ---------------------------------------------------------------------------- */

/* Returns true if blocks may read what other blocks of their launch write, judging by words in the
   source; without a source nothing is known. */
static bool may_communicate(const struct kernel_spec *spec) {
  static const char *const words[] = {"atomic", "volatile", "__threadfence", "asm"};
  for (size_t i = 0; spec->source && i < sizeof words / sizeof *words; i++)
    if (strstr(spec->source, words[i])) return true;
  return false;
}

static void put_job(struct text *payload, const struct worker_job *job) {
  bool shared = job->check && job->check_compiled == job->real_compiled;
  wire_put_int(payload, job->verify);
  wire_put_int(payload, job->watched);
  wire_put_int(payload, may_communicate(job->real_spec));
  wire_put(payload, &job->measure, sizeof job->measure);
  wire_put_int(payload, job->real->id);
  wire_put_spec(payload, job->real_spec);
  wire_put_compiled(payload, job->real_compiled);
  wire_put_int(payload, job->check ? job->check->id : -1);
  wire_put_int(payload, shared);
  if (!job->check) return;
  wire_put_spec(payload, job->check_spec);
  if (!shared) wire_put_compiled(payload, job->check_compiled);
}

static bool is_gpu(const struct worker *w) {
  const struct device_ops *ops;
  cugen_error ignored;
  int ordinal;
  return device_find(w->options.device, &ops, &ordinal, &ignored) == CUGEN_OK &&
         ops->capabilities & DEVICE_EXECUTES_ON_GPU;
}

/* Reads a result. Returns false if the message is no result. A result that cannot be true becomes a
   failure of the variant. *dying becomes true if the worker has to be replaced. */
static bool read_result(const struct worker *w, const struct worker_job *job,
                        struct worker_result *out, bool *dying) {
  const struct claim_bounds bounds = {
      .on_gpu = is_gpu(w), .timed = !job->watched, .seconds = (double)INFINITY};
  struct wire_reader reader = wire_read(&w->message);
  char why[160];
  *dying = wire_get_int(&reader) != 0;
  const void *plain = wire_get(&reader, sizeof *out);
  if (!plain) return false;
  memcpy(out, plain, sizeof *out);
  if (claim_is_possible(out, &bounds, why, sizeof why)) return true;
  claim_refuse(why, out);
  return *dying = true;
}

/* Marks a thread as unusable where a process would be replaced. */
static void worker_lose(struct worker *w, const struct worker_job *job, const char *why,
                        const char *left) {
  error_set(
      &w->lost, CUGEN_ERROR_DEVICE,
      "tuning in this process ended at '%s': %s; %s. It is remembered as failed, and what was "
      "measured before it is kept. A worker process (without CUGEN_TUNE_IN_PROCESS) goes on after "
      "such a variant",
      job->real_spec->variant, why, left);
}

/* Explains why the process died under the variant, by the fault that it reported or by how it
   ended. If a verify kernel was running, a wrong result may have caused its crash, so that the
   outcome is a wrong result; otherwise the fault's cause decides the outcome. */
static void read_death(struct worker *w, struct worker_result *out) {
  struct text how = {0}, reason = {0};
  if (w->thread) text_add(&how, "the worker thread gave up");
  worker_stop(w, thread_patience, &how);
  const struct fault fault = read_fault(w);
  out->cause = fault.cause;
  out->outcome = *doing(w) ? CUGEN_OUTCOME_WRONG : cause_outcome(fault.cause);
  if (!has_fault(&fault) && was_refused(w))
    text_add(&how, ": a system call that no kernel can do on a GPU,");
  if (!has_fault(&fault)) text_add(&how, " while running the variant");
  if (*doing(w)) text_addf(&reason, "%s: %s", doing(w), cause_prefix(fault.cause));
  text_add(&reason, has_fault(&fault) ? fault.text : text_get(&how));
  snprintf(out->reason, sizeof out->reason, "%s", text_get(&reason));
  text_free(&reason);
  text_free(&how);
}

static void read_timeout(struct worker *w, const struct worker_job *job,
                         struct worker_result *out) {
  bool ended = worker_stop(w, thread_patience, NULL);
  out->outcome = CUGEN_OUTCOME_TIMEOUT;
  snprintf(out->reason, sizeof out->reason, "%s%sdid not end within %g s", doing(w),
           *doing(w) ? " " : "", job->timeout);
  if (!ended) worker_lose(w, job, out->reason, "its thread and the device stay busy until it does");
}

/* Additional seconds for a watched run: when its time is up, the process reports where it stands
   and ends, which may take long on a busy machine. After these seconds it is killed. */
static const double last_words = 10;

bool worker_makes_data(const struct worker *w) {
  return w->makes_data;
}

bool worker_has_data(const struct worker *w, const struct dataset_request *data) {
  return w->known[data->timed] == data->id;
}

const struct watch_report *worker_report(const struct worker *w) {
  return &w->shared->report;
}

void worker_printed(const struct worker *w, bool all, struct text *out) {
  const struct isolate_output output = w->shared->output; /* a copy, which no kernel overwrites */
  const uint64_t bytes = output.marked && !all ? output.first : output.bytes;
  const size_t shown = bytes < sizeof output.text ? (size_t)bytes : sizeof output.text;
  text_add_clean(out, output.text, shown);
  if (bytes > shown) text_addf(out, "...\n%llu bytes in all", (unsigned long long)bytes);
}

/* Appends the printed text to the reason, on one line. */
static void add_printed(const struct worker *w, struct worker_result *out) {
  enum { MOST = 200 };
  struct text printed = {0}, reason = {0};
  worker_printed(w, true, &printed);
  for (size_t i = 0; i < printed.length; i++)
    if (printed.data[i] == '\n' || printed.data[i] == '\t') printed.data[i] = ' ';
  while (printed.length && printed.data[printed.length - 1] == ' ') printed.length--;
  size_t length = printed.length < MOST ? printed.length : MOST; /* up to the end of a character */
  while (length < printed.length && (printed.data[length] & 0xc0) == 0x80) length--;
  text_addf(&reason, "%.700s", out->reason);
  if (length) {
    text_add(&reason, "; it printed: ");
    text_add_n(&reason, text_get(&printed), length);
    text_add(&reason, length < printed.length ? "..." : "");
    memcpy(out->reason, text_get(&reason), reason.failed ? 0 : reason.length + 1);
  }
  text_free(&printed);
  text_free(&reason);
}

/* ---- The report, which any kernel may have overwritten -------------------------------------- */

/* Ends the text, and replaces all characters that are not printable ASCII. */
static void worker_make_plain(char *text, size_t size) {
  text[size - 1] = '\0';
  for (; *text; text++)
    if (*text < ' ' || *text > '~') *text = '?';
}

/* Makes all counts, kinds and texts of the report valid. */
static void make_sense(struct watch_report *report) {
  if (report->finding_count > WATCH_MOST_FINDINGS) report->finding_count = WATCH_MOST_FINDINGS;
  if (report->launch_count > WATCH_MOST_LAUNCHES + 1)
    report->launch_count = WATCH_MOST_LAUNCHES + 1;
  for (uint32_t i = 0; i < report->finding_count; i++) {
    struct watch_finding *f = &report->findings[i];
    /* A watching device reports every kind up to CUGEN_FINDING_SHARED_LIMIT but wrong results. */
    const bool told =
        (unsigned)f->kind <= CUGEN_FINDING_SHARED_LIMIT && f->kind != CUGEN_FINDING_WRONG;
    if (!told) f->kind = CUGEN_FINDING_TRAP;
    if (f->element < 0) f->element = 0;
    worker_make_plain(f->array, sizeof f->array);
    worker_make_plain(f->text, sizeof f->text);
  }
  for (uint32_t i = 0; i < report->launch_count; i++) {
    struct launch_counters *launch = &report->launches[i];
    if (launch->count > WATCH_MOST_COUNTERS) launch->count = WATCH_MOST_COUNTERS;
    for (size_t k = 0; k < launch->count; k++)
      worker_make_plain(launch->counters[k].array, WATCH_NAME);
  }
}

static int worker_run_job(struct worker *w, const struct worker_job *job, struct worker_result *out,
                          cugen_error *err) {
  struct text payload = {0};
  enum answer answer;
  bool dying = false;
  put_job(&payload, job);
  clear_fault(w);
  w->shared->output.bytes = w->shared->output.marked = 0;
  if (job->watched)
    w->shared->report =
        (struct watch_report){.limit = job->timeout,
                              .count_blocks = job->count_blocks,
                              .mode = job->mode,
                              .processes = w->options.in_process ? 0 : job->processes};
  /* Running blocks in several processes may fail; the blocks are then run again, in turn. */
  const double attempts = job->processes > 1 ? 2 : 1;
  const double wait = job->timeout * attempts + (job->watched ? last_words : 0);
  int status = send_and_await(w, MESSAGE_VARIANT, &payload, -1, wait, &answer, err);
  text_free(&payload);
  if (status) return status;
  if (answer == ANSWER_DONE && !read_result(w, job, out, &dying)) answer = ANSWER_NONSENSE;
  switch (answer) {
  case ANSWER_DONE: break;
  case ANSWER_ERROR: return answered_error(w, err);
  case ANSWER_DIED: read_death(w, out); break;
  case ANSWER_TIMEOUT: read_timeout(w, job, out); break;
  case ANSWER_NONSENSE:
    worker_stop(w, thread_patience, NULL);
    *out = (struct worker_result){
        .outcome = CUGEN_OUTCOME_TRAP,
        .reason = "the worker process no longer made sense after running the variant"};
    break;
  }
  if (dying && w->thread)
    worker_lose(w, job, out->reason, "the CUDA context is broken, whatever else was in it");
  if (dying) worker_stop(w, thread_patience, NULL);
  if (job->watched) make_sense(&w->shared->report); /* the process does not write to it any more */
  if (out->outcome) add_printed(w, out);
  out->on_check = out->outcome && job->check && w->shared->on_check;
  return CUGEN_OK;
}

int worker_run(struct worker *w, const struct worker_job *job, struct worker_result *out,
               const struct dataset_request **failed, cugen_error *err) {
  *out = (struct worker_result){0};
  *failed = NULL;
  int status = worker_usable(w, err);
  if (!status) status = worker_start(w, err);
  if (!status) status = give_datasets(w, job, failed, err);
  double begin = clock_seconds();
  if (!status) status = worker_run_job(w, job, out, err);
  out->seconds = clock_seconds() - begin;
  return status;
}

int worker_usable(const struct worker *w, cugen_error *err) {
  return w->lost.status ? error_copy(err, &w->lost) : CUGEN_OK;
}
