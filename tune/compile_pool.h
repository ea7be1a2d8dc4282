/* A pool of compile threads. Equal sources share one compile, also one that ended long ago; what is finished is picked up by the coordinator, the
   only thread that calls these functions. */
#ifndef TUNE_COMPILE_POOL_H
#define TUNE_COMPILE_POOL_H

#include "runtime/device.h"

struct compile_pool;

struct compile_job {
  bool finished;  /* read it through compile_job_finished */
  double seconds; /* that its compile took, once it is finished; 0: the image was here */
  int status;     /* CUGEN_OK, or why there is no image */
  cugen_error error;
  struct compiled compiled;
  int references;
  size_t bytes;     /* that it holds, once it is finished */
  struct hash hash; /* of the source */
  char *source, *options, *name;
  char *entries[KERNEL_MAX_ENTRIES];
  size_t entry_count;
  struct compile_job *next; /* in the pool's list of all, newest first */
  bool taken;               /* by a thread */
  bool awaited;             /* by compile_pool_finish */
  bool kept;                /* its image is in the cache */
};

struct compile_pool_options {
  const struct device_ops *ops;
  const struct toolkit *toolkit;
  struct compilers *compilers; /* as in compile_request */
  const char *arch;
  double timeout; /* of one compile; 0: none */
  bool keep_ptx;
  int threads;
  size_t variants; /* that may be tried; 0: not known */
  double
      until; /* of clock_seconds: no compile is begun that would take longer than this, by those before it; 0: never */
};

int compile_pool_open(const struct compile_pool_options *options, struct compile_pool **out, cugen_error *err);
/* All jobs must have been released. */
void compile_pool_close(struct compile_pool *pool);
/* Begins no more compiles, and returns when those under way have ended: compilers are killed, but for NVRTC in this process. */
void compile_pool_stop(struct compile_pool *pool);

/* Starts compiling the spec, or joins an equal source's job. Give it back with compile_job_release. */
int compile_pool_request(struct compile_pool *pool, const struct kernel_spec *spec, struct compile_job **out,
                         cugen_error *err);
/* The same, but it joins none: there may be one without PTX. */
int compile_pool_request_anew(struct compile_pool *pool, const struct kernel_spec *spec, struct compile_job **out,
                              cugen_error *err);
/* Compiles the spec at once, in this thread, with the source's lines in the PTX. */
int compile_pool_with_lines(struct compile_pool *pool, const struct kernel_spec *spec, struct compiled *out,
                            cugen_error *err);
/* The same for an image that is in the cache; takes over *compiled. */
int compile_pool_adopt(struct compile_pool *pool, const struct kernel_spec *spec, struct compiled *compiled,
                       struct compile_job **out, cugen_error *err);
void compile_job_release(struct compile_pool *pool, struct compile_job *job);
bool compile_job_finished(struct compile_pool *pool, const struct compile_job *job);
/* Whether its compile was begun. */
bool compile_job_begun(struct compile_pool *pool, const struct compile_job *job);
/* Returns when it is finished, however late that is. */
void compile_pool_finish(struct compile_pool *pool, struct compile_job *job);

/* The same for so many seconds at most; whether it is finished. */
bool compile_pool_await(struct compile_pool *pool, struct compile_job *job, double seconds);

/* Returns when any job finishes, or after that many seconds. */
void compile_pool_wait(struct compile_pool *pool, double seconds);
/* How many jobs have finished, and calls of compile_pool_note were made: what a look at them now has seen. */
size_t compile_pool_events(struct compile_pool *pool);
/* Something else happened for which somebody waits here. From any thread. */
void compile_pool_note(struct compile_pool *pool);
/* Returns when there are more events than those, or after that many seconds. */
void compile_pool_wait_beyond(struct compile_pool *pool, size_t events, double seconds);
/* Nothing is under way, and nothing will be: the time is too short. */
bool compile_pool_over(struct compile_pool *pool);
/* Compiles carried out so far. */
size_t compile_pool_count(struct compile_pool *pool);

#endif
