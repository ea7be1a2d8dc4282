/* The trace of tuning, made from the records: which variant was measured when, and which was the
   best then. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "api/records.h"
#include "cli.h"
#include "print.h"

/* One record, and the best when it was made. */
struct trace_point {
  const cugen_record *record;
  double spent; /* seconds of tuning until the record, without the pauses between runs */
  size_t run;   /* number of the run, from 0 on, in the order in which runs began */
  bool right;
  const cugen_record *best; /* api_best_of the variants' latest records; NULL: none is right */
  bool changed;             /* `best` is another record than at the point before */
};

struct trace {
  struct trace_point *points; /* sorted by time */
  size_t count, right, runs;
  size_t unknown;   /* number of current records without a known time */
  double seconds;   /* duration of all runs, each until its last record */
  double *run_ends; /* by run: value of `spent` at its last record */
};

/* Makes a trace from the records that api_kernel_stored returned with history, without those that
   are not current or have no plausible time. Returns false if there is no memory. The records must
   outlive the trace. */
bool trace_open(const cugen_stored_record *all, size_t count, struct trace *out);
void trace_close(struct trace *trace);

json_t *trace_json(const struct trace *trace);
/* Adds the trace of all records of cli->kernel to the object, as "trace". */
int trace_into_json(struct cli *cli, json_t *object);

/* Returns the value that the picture shows of a record: its seconds, or 1 / cost if variants are
   ranked by a rate. */
double trace_value(const cugen_kernel *kernel, const cugen_record *record);

/* ---- trace_show.c --------------------------------------------------------------------------- */

/* The command cugen show CONFIG --trace. */
int trace_show(struct cli *cli);

#endif
