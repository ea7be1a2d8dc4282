/* Checks variants by observing their runs on the cpu device, on several problems: sizes are
   chosen so that tiles are partly filled at the edges, exactly filled, or larger than the whole
   problem. Runs are spread over the processors. */
#ifndef EMULATOR_CHECK_CHECK_H
#define EMULATOR_CHECK_CHECK_H

#include "emulator/lines.h"
#include "instrument.h"
#include "reached.h"

struct check_variants { /* a set of variants, by number */
  uint64_t *bits;       /* NULL: the empty set */
  size_t count;
};

struct check_finding {
  cugen_finding_kind kind;
  struct source_place here, other; /* other.line 0: no second place */
  struct source_place fence;       /* the place of a missing fence */
  /* block, thread, array; all zero for kinds of findings without them */
  struct watch_finding raw;
  char *message, *variant, *problem;
  struct check_variants variants; /* variants that show the finding; the first one is described */
  uint64_t count;                 /* occurrences in all these variants */
  size_t run;                     /* index of the described run in the list of runs */
  size_t places;                  /* number of places with this cause; the first one is described */
  char *also;                     /* all places but the first, "k.cu:9, k.cu:12"; NULL: none */
  /* the kernel's check problem, or an implementation's own one, shows the finding */
  bool on_check;
  bool note;                          /* the finding does not make the check fail */
  const struct config_waiver *waiver; /* the config's waiver that makes the finding a note; NULL:
                                         none */
};

struct check_traffic { /* one counter of one launch */
  char *variant, *problem;
  char *entry; /* the launch's kernel */
  int launch, launches;
  bool elsewhere; /* counted on a problem that differs from its family's first in more than sizes */
  struct watch_counter counter;
};

struct check_ran { /* one run */
  char *variant, *problem;
};

struct check_skip {
  char *what, *why; /* what: a variant (the first of several) or an implementation */
  /* the number of the variant in `what`; implementations come after all variants */
  size_t first;
  bool refused;              /* the compiler refused a variant that should have been checked */
  struct source_place where; /* line of the config that gives no launch; line 0: another reason */
  struct check_variants variants; /* of skipped implementations: their variants */
};

struct check_kept { /* a setting that all checked problems keep, though a check { } names it */
  char *setting, *why;
};

struct check_progress {
  size_t done, planned, findings; /* numbers of runs, and of findings */
  const char *variant;
};

struct check_options {
  const char *variant; /* NULL: check a sample */
  bool all;
  bool strict; /* notes count as findings */
  bool no_traffic;
  bool branches; /* the fewest variants that take every branch of the templates */
  size_t sample; /* 0: a sample that takes every value of every tunable */
  uint64_t seed;
  int threads;
  double timeout;
  const char *const *settings; /* "M=64": settings that are not varied */
  size_t setting_count;
  /* the problem as the user gave it, without the config's check { } */
  const struct problem *whole;
  int (*progress)(const struct check_progress *progress,
                  void *context); /* called from one thread at a time; nonzero: stop */
  void *context;
};

struct check_result {
  struct check_finding *findings;
  size_t finding_count, note_count; /* notes are among the findings */
  size_t waived_count;              /* notes that the config waives */
  /* there are findings, and none of them on a check { } problem: all are on other sizes, types or
     layouts */
  bool elsewhere;
  /* traffic of each variant on the first problem that it ran on, or on whole tiles if it ran on
     those */
  struct check_traffic *traffic;
  size_t traffic_count;
  struct check_skip *skips;
  size_t skip_count;
  struct check_ran *ran;
  /* numbers of checked variants, problems and runs; runs: also the length of `ran` */
  size_t variants, problems, runs;
  size_t variants_elsewhere; /* of `variants`, those that are not among variants_of */
  uint64_t variants_of;      /* number of variants in the space of the problem */
  size_t done, planned;      /* runs, including skipped ones */
  /* The texts of `problems`: the check problem, its other sizes, its other types and layouts. */
  char **problem_texts;
  struct check_kept *kept;
  size_t kept_count;
  struct reached reached; /* lines that access memory, with the lines that some run has reached */
  char **unwatched;       /* descriptions of what no run observed */
  size_t unwatched_count;
  /* output of the first variant that printed something; NULL: none */
  char *printed;
  /* variants that the compiler refused, or whose problem's data and reference could not be made */
  struct check_variants refused;
  int refusal;                  /* status of the first refused variant */
  struct check_variants faulty; /* variants that could not be tried */
  cugen_error fault;            /* the error of the first of these variants */
};

/* target: the config, the check problem and its space; its device provides the facts. The caller
   frees *out in any case. CUGEN_ERROR_INTERRUPTED: progress asked to stop. A finding is not an
   error. */
int check_run(const struct tune_target *target, const struct check_options *options,
              struct check_result *out, cugen_error *err);
void check_result_free(struct check_result *result);

#endif
