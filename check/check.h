/* Checks variants by watching them run on the cpu device, over several problems: sizes so chosen that edges are ragged, that
   tiles come out even, and that there is less than one of them. Runs are spread over the processors. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "instrument.h"
#include "reached.h"
#include "runtime/cpu/lines.h"

struct check_variants { /* a set of variants, by number */
  uint64_t *bits;       /* NULL: none */
  size_t count;
};

struct check_finding {
  cugen_finding_kind kind;
  struct source_place here, other; /* other.line 0: none */
  struct source_place fence;       /* where one is missing */
  struct watch_finding raw;        /* block, thread, array; all zero for those that have none */
  char *message, *variant, *problem;
  struct check_variants variants;     /* that show it; the first one is described */
  uint64_t count;                     /* how often, in all of them */
  size_t run;                         /* the described one's, in the order of the list */
  size_t places;                      /* of this cause; the first one is described */
  char *also;                         /* the others, "k.cu:9, k.cu:12"; NULL: none */
  bool on_check;                      /* the check problem shows it, or an implementation's own one */
  bool note;                          /* none that the check fails by */
  const struct config_waiver *waiver; /* the config's, by which it is a note; NULL: none */
};

struct check_traffic { /* one counter of one launch */
  char *variant, *problem;
  char *entry; /* the launch's kernel */
  int launch, launches;
  bool elsewhere; /* on a problem that differs from its family's first in more than sizes */
  struct watch_counter counter;
};

struct check_ran { /* one run */
  char *variant, *problem;
};

struct check_skip {
  char *what, *why;               /* a variant, the first of several, or an implementation */
  size_t first;                   /* its number; implementations come behind all */
  bool refused;                   /* the compiler refused it: it should have been checked */
  struct check_variants variants; /* of implementations: those */
};

struct check_kept { /* a setting of the check problem that stays, though a check { } names it */
  char *setting, *why;
};

struct check_progress {
  size_t done, planned, findings; /* runs */
  const char *variant;
};

struct check_options {
  const char *variant; /* NULL: a sample */
  bool all;
  bool strict; /* notes are findings */
  bool no_traffic;
  bool branches; /* the fewest that take every branch of the templates */
  size_t sample; /* 0: one that takes every value of every tunable */
  uint64_t seed;
  int threads;
  double timeout;
  const char *const *settings; /* "M=64": not varied */
  size_t setting_count;
  const struct problem *whole; /* without the config's check { }: the problem that is meant */
  int (*progress)(const struct check_progress *progress,
                  void *context); /* from one thread at a time; nonzero: stop */
  void *context;
};

struct check_result {
  struct check_finding *findings;
  size_t finding_count, note_count; /* notes are among the findings */
  size_t waived_count;              /* of the notes */
  bool elsewhere; /* there are others, all of them on other sizes, types or layouts than those of a check { } */
  struct check_traffic *traffic; /* of the first problem that a variant ran on; of whole tiles, if it ran on those */
  size_t traffic_count;
  struct check_skip *skips;
  size_t skip_count;
  struct check_ran *ran;
  size_t variants, problems, runs; /* that were checked; runs: of ran too */
  size_t variants_elsewhere;       /* of variants: none of variants_of */
  uint64_t variants_of;            /* in the space of the problem */
  size_t done, planned;            /* runs, also those that were skipped */
  char **problem_texts; /* of `problems`: the check problem, its other sizes, its other types and layouts */
  struct check_kept *kept;
  size_t kept_count;
  struct reached reached; /* lines that access memory, in all runs */
  char **unwatched;       /* what nobody looked at, in words */
  size_t unwatched_count;
  char *printed;                 /* by the first variant that did; NULL: none */
  struct check_variants refused; /* by the compiler, or for want of a problem's data and reference */
  int refusal;                   /* the status of the first of them */
  struct check_variants faulty;  /* that could not be tried, */
  cugen_error fault;             /* the first of them for this reason */
};

/* target: the config, the check problem and its space; its device gives the facts. *out is to be freed whatever comes
   back. CUGEN_ERROR_INTERRUPTED: progress asked to stop. A finding is no error. */
int check_run(const struct tune_target *target, const struct check_options *options, struct check_result *out,
              cugen_error *err);
void check_result_free(struct check_result *result);

#endif
