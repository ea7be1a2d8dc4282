/* Checks variants by observing their runs on the cpu device, on several problems: sizes are chosen
   so that tiles are partly filled at the edges, exactly filled, or larger than the whole problem.
   Runs are spread over threads. */
#ifndef EMULATOR_CHECK_CHECK_H
#define EMULATOR_CHECK_CHECK_H

#include "base/checked.h"
#include "emulator/lines.h"
#include "instrument.h"

struct check_variants { /* a set of variants, by number */
  uint64_t *bits;       /* NULL: the empty set, or only `count` is known */
  size_t count;
};

/* What a check knows about a finding or a skip beyond cugen_check_finding and cugen_check_skip. */
struct check_detail {
  struct source_place here, other; /* other.line 0: no second place */
  struct source_place fence;       /* the flag's access that lacks a fence; line 0: none */
  /* as the watch reported it; all zero for findings that are not the watch's */
  struct watch_finding raw;
  struct check_variants variants; /* variants that show the finding or are skipped */
  /* Of a finding: the index of the described run in the list of runs. Of a skip: the variant's
     number; skips by left_out.c have numbers above those of all variants. */
  size_t number;
  /* the kernel's check problem, or an implementation's own one, shows the finding */
  bool on_check;
  const struct config_waiver *waiver; /* the config's waiver that makes the finding a note; NULL:
                                         none */
};

struct check_options {
  cugen_check_options wanted;  /* seed must be set; for check_run also threads and timeout */
  const char *const *settings; /* "M=64": settings that are not varied */
  size_t setting_count;
  /* the problem as the user gave it, without the config's check { } */
  const struct problem *whole;
};

struct check_result {
  cugen_check check;
  /* "VARIANT; PROBLEM:" and what the first run that printed something printed; NULL: none. A run
     that waits for a later block does not count. */
  char *printed;
  /* variants that the compiler refused, or whose problem's data and reference could not be made */
  struct check_variants refused;
  int refusal;                  /* status of the first run in the list with a refused variant */
  struct check_variants faulty; /* variants that could not be tried */
  cugen_error fault;            /* the error of one of the faulty variants */
};

/* target: the config, the check problem and its space; target->device provides the facts. The
   caller frees *out in any case. CUGEN_ERROR_INTERRUPTED: progress or target->stop asked to stop. A
   finding is not an error. */
int check_run(const struct tune_target *target, const struct check_options *options,
              struct check_result *out, cugen_error *err);
void check_result_free(struct check_result *result);

#endif
