/* An instrument runs a variant under observation on the cpu device, whatever device the variant is
   for. The results are findings, and counts of the load on the memory system (runtime/watch.h). An
   instrument has a worker process of its own. */
#ifndef EMULATOR_CHECK_INSTRUMENT_H
#define EMULATOR_CHECK_INSTRUMENT_H

#include "emulator/lines.h"
#include "tune/candidate.h"

struct instrument;

struct instrument_options {
  uint64_t seed;  /* of the input data */
  double timeout; /* limit of one run in seconds */
  /* As in worker_options. */
  bool (*interrupted)(void *context);
  void *context;
};

/* The objects that target points to are borrowed: the problem only until the call returns, the
   space not at all. The config's kernel is expanded with the facts of the target's device. One
   thread at a time may use an instrument; different instruments are independent. */
int instrument_open(const struct tune_target *target, const struct instrument_options *options,
                    struct instrument **out, cugen_error *err);
void instrument_close(struct instrument *instrument);

struct instrument_result {
  const char *variant; /* full text; valid until the next run */
  /* Nothing ran, because the problem's data and reference could not be made; reason says why. */
  bool without_data;
  cugen_outcome outcome;
  cugen_cause cause; /* the cause of a failure, if it has one */
  /* With outcome LAUNCH: the config has no valid launch for the variant, on any device. */
  bool invalid;
  /* With outcome LAUNCH: the device that is checked for, or every GPU, refuses the launch; reason
     and where describe the refusal. */
  bool refused;
  bool always;               /* the launch is refused for all sizes */
  struct source_place where; /* the place that reason is about; line 0: not known */
  char reason[1024];         /* "" when ok */
  /* A status other than CUGEN_OK: the variant cannot be tried, as in candidate.faulty, or there are
     no data. */
  int fault;
  const struct watch_report *report; /* valid until the next run */
  /* the output of the kernels, valid until the next run; see worker_printed */
  const char *printed;
  /* the image that the report's sites are in; valid until the next run; NULL: none was compiled */
  const struct compiled *compiled;
  const char *source;             /* valid until the next run */
  const struct kernel_spec *spec; /* the launched kernels; valid until the next run */
};

struct instrument_request {
  int processes; /* processes that a long launch may be spread over */
  bool traffic;  /* the traffic of the launches is wanted, even if that takes another run */
};

/* Runs a variant. Returns CUGEN_OK also if the variant does not expand, compile or run; *out then
   says so. */
int instrument_run(struct instrument *instrument, const struct problem *problem,
                   const struct variant *variant, const struct instrument_request *request,
                   struct instrument_result *out, cugen_error *err);

#endif
