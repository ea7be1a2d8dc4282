/* A pool of compile threads. Requests for equal source and entries share one compile, also a
   finished compile whose job was not freed. One thread, the coordinator of the run, calls these
   functions. Any thread may call compile_pool_note. */
#ifndef TUNE_COMPILE_POOL_H
#define TUNE_COMPILE_POOL_H

#include "runtime/device.h"

struct compile_pool;

struct compile_job {
  bool finished;  /* guarded by the pool's mutex; read with compile_job_finished */
  double seconds; /* duration of the finished compile; 0: the job needed no compile */
  int status;     /* CUGEN_OK, or the reason why there is no image */
  cugen_error error;
  struct compiled compiled;
  int references; /* number of requests that were not released yet */
  size_t bytes;   /* memory that the finished job holds */
  struct hash hash;
  /* Copies of the spec's texts and entries, so that the job outlives the spec. */
  char *source, *options, *name;
  char *entries[KERNEL_MAX_ENTRIES];
  size_t entry_count;
  struct compile_job *next; /* next in the pool's list of all jobs, newest first */
  bool taken;               /* a compile thread has begun the job, or it needs no compile */
  bool awaited;             /* compile_pool_finish or compile_pool_await was called for the job */
  bool kept;                /* bench_keep_image has succeeded, or the image needed no compile */
};

struct compile_pool_options {
  const struct device_ops *ops;
  const struct toolkit *toolkit;
  struct compilers *compilers; /* as in compile_request */
  const char *arch;
  double timeout; /* as in compile_request */
  bool keep_ptx;
  int threads;
  size_t variants; /* number of variants that may be tried; 0: not known */
  /* Deadline on clock_seconds. Only an awaited compile begins if it would end later, judged by the
     mean duration of the earlier compiles. 0: no deadline. */
  double until;
};

int compile_pool_open(const struct compile_pool_options *options, struct compile_pool **out,
                      cugen_error *err);
/* Closes the pool. All jobs must have been released before. */
void compile_pool_close(struct compile_pool *pool);
/* Begins no more compiles, and returns when the compiles under way have ended. Compiler processes
   are killed; NVRTC in this process cannot be. */
void compile_pool_stop(struct compile_pool *pool);

/* Starts to compile the spec, or joins a job of equal source and entries. The caller releases the
   job with compile_job_release. */
int compile_pool_request(struct compile_pool *pool, const struct kernel_spec *spec,
                         struct compile_job **out, cugen_error *err);
/* Like compile_pool_request, but always starts a new job, because an existing job may lack the
   PTX. */
int compile_pool_request_anew(struct compile_pool *pool, const struct kernel_spec *spec,
                              struct compile_job **out, cugen_error *err);
/* Compiles the spec at once and waits for the image, with the source's line numbers in the PTX. */
int compile_pool_with_lines(struct compile_pool *pool, const struct kernel_spec *spec,
                            struct compiled *out, cugen_error *err);
/* Like compile_pool_request for an image that needs no compile, so that the job is finished. Takes
   over *compiled, even on failure. */
int compile_pool_adopt(struct compile_pool *pool, const struct kernel_spec *spec,
                       struct compiled *compiled, struct compile_job **out, cugen_error *err);
/* Gives back a requested job (NULL allowed), which must not be used any more. */
void compile_job_release(struct compile_pool *pool, struct compile_job *job);
bool compile_job_finished(struct compile_pool *pool, const struct compile_job *job);
/* Waits until the job has finished or the pool is stopped, even after the pool's deadline. */
void compile_pool_finish(struct compile_pool *pool, struct compile_job *job);

/* Like compile_pool_finish, but waits at most `seconds`. Returns true if the job has finished. */
bool compile_pool_await(struct compile_pool *pool, struct compile_job *job, double seconds);

/* Returns when the next event occurs (compile_pool_events), or after `seconds`. */
void compile_pool_wait(struct compile_pool *pool, double seconds);
/* Returns the number of events so far: finished compiles plus calls of compile_pool_note. Pass the
   number to compile_pool_wait_beyond, so that no event in between is missed. */
size_t compile_pool_events(struct compile_pool *pool);
/* Counts an event other than a finished compile, such as the end of a worker's job, and wakes the
   coordinator. Any thread may call this. */
void compile_pool_note(struct compile_pool *pool);
/* Returns when more than `events` events have occurred, or after `seconds`. */
void compile_pool_wait_beyond(struct compile_pool *pool, size_t events, double seconds);
/* Returns true if no compile is under way, and the pool is stopped or the deadline is too near for
   a compile that is not awaited. */
bool compile_pool_over(struct compile_pool *pool);
/* Returns the number of jobs whose compile has ended. */
size_t compile_pool_count(struct compile_pool *pool);

#endif
