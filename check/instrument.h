/* An instrument runs a variant, watched, on the cpu device, whatever device it is for: what comes to light of it is a finding, or
   a count of what it asks of the memory system (runtime/watch.h). It has a worker of its own, so that nothing a variant
   does harms the process. */
#ifndef CHECK_INSTRUMENT_H
#define CHECK_INSTRUMENT_H

#include "runtime/cpu/lines.h"
#include "tune/candidate.h"

struct instrument;

struct instrument_options {
  uint64_t seed;  /* of the input data */
  double timeout; /* seconds of one run */
  /* As in worker_options. */
  bool (*interrupted)(void *context);
  void *context;
};

/* target and what it points at are borrowed, but for its device, problem and space: each run has its own. Its config's
   kernel is expanded with the facts of `facts`. One thread at a time; different instruments are independent. */
int instrument_open(const struct tune_target *target, const struct device_facts *facts,
                    const struct instrument_options *options, struct instrument **out, cugen_error *err);
void instrument_close(struct instrument *instrument);

struct instrument_result {
  const char *variant; /* full text; until the next run */
  bool without_data;   /* the problem's data and reference could not be made, and reason says why: nothing ran */
  cugen_outcome outcome;
  cugen_cause cause; /* of a failure, where it has one */
  bool invalid;      /* outcome is LAUNCH: the config gives it none, on any device */
  bool
      refused; /* outcome is LAUNCH: the device that is checked for, or any GPU, refuses it; reason says why, and where */
  bool always;               /* likewise: whatever the sizes are */
  struct source_place where; /* likewise; line 0: not known */
  char reason[1024];         /* "" when ok */
  int fault;                 /* status set: it cannot be tried, as candidate.faulty has it; or why there is no data */
  double error;              /* largest, in units of the tolerance */
  const struct watch_report *report; /* until the next run */
  const char *printed;               /* likewise, by its kernels; see worker_printed */
  const struct compiled *compiled;   /* likewise: what the report's sites are places in */
  const char *source;                /* likewise */
  const struct kernel_spec *spec;    /* likewise; what was launched */
};

struct instrument_request {
  /* 0: every block runs and the result is compared. Else so many, evenly spread, to be counted; the buffers of the problem are as
     large as it says, and zero where the config fills them, since few pages are touched. */
  uint32_t count_blocks;
  int processes; /* that a launch which takes long may be spread over */
  bool traffic;  /* the report's launches are wanted, though it take a run more */
};

/* A variant that does not expand, compile or run is a result. */
int instrument_run(struct instrument *instrument, const struct problem *problem, const struct variant *variant,
                   const struct instrument_request *request, struct instrument_result *out, cugen_error *err);

#endif
