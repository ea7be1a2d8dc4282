/* A pool of compile threads. Equal sources share one compile; what is finished is picked up by the coordinator, the
   only thread that calls these functions. */
#ifndef TUNE_BUILDS_H
#define TUNE_BUILDS_H

#include "runtime/device.h"

struct builds;

struct build {
  bool finished;  /* read it through build_finished */
  double seconds; /* that its compile took, once it is finished; 0: the image was here */
  int status;     /* CUGEN_OK, or why there is no image */
  cugen_error error;
  struct compiled compiled;
  int references;
  struct hash hash; /* of the source */
  char *source, *options, *name;
  char *entries[KERNEL_MAX_ENTRIES];
  size_t entry_count;
  struct build *next; /* in the pool's list of all, newest first */
  bool taken;         /* by a thread */
  bool awaited;       /* by builds_finish */
};

struct builds_options {
  const struct device_ops *ops;
  const struct toolkit *toolkit;
  struct compilers *compilers; /* as in compile_request */
  const char *arch;
  double timeout; /* of one compile; 0: none */
  bool keep_ptx;
  int threads;
  double
      until; /* of clock_seconds: no compile is begun that would take longer than this, by those before it; 0: never */
};

int builds_open(const struct builds_options *options, struct builds **out, cugen_error *err);
/* All builds must have been released. */
void builds_close(struct builds *builds);
/* Begins no more compiles, and returns when those under way have ended: compilers are killed, but for NVRTC in this process. */
void builds_stop(struct builds *builds);

/* Starts compiling the spec, or joins an equal source's build. Give it back with build_release. */
int builds_request(struct builds *builds, const struct kernel_spec *spec, struct build **out, cugen_error *err);
/* The same for an image that is here already; takes over *compiled. */
int builds_adopt(struct builds *builds, const struct kernel_spec *spec, struct compiled *compiled, struct build **out,
                 cugen_error *err);
void build_release(struct builds *builds, struct build *build);
bool build_finished(struct builds *builds, const struct build *build);
/* Whether its compile was begun. */
bool build_begun(struct builds *builds, const struct build *build);
/* Returns when it is finished, however late that is. */
void builds_finish(struct builds *builds, struct build *build);

/* The same for so many seconds at most; whether it is finished. */
bool builds_await(struct builds *builds, struct build *build, double seconds);

/* Returns when any build finishes, or after that many seconds. */
void builds_wait(struct builds *builds, double seconds);
/* Nothing is under way, and nothing will be: the time is too short. */
bool builds_over(struct builds *builds);
/* Compiles carried out so far. */
size_t builds_count(struct builds *builds);

#endif
