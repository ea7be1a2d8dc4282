/* The trace of tuning: which variant was measured when, and which was the best then. It is made
   from the records, so that it needs no measurement and no device. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "api/records.h"
#include "cli.h"
#include "print.h"

/* One record at the time when it was made. */
struct trace_point {
  const cugen_record *record;
  double spent; /* seconds of tuning until then, without the pauses between runs */
  size_t run;   /* number of the run, from 0 on, in the order in which runs began */
  bool right;
  const cugen_record *best; /* api_best_of up to and including this record; NULL: none was right */
  bool changed;             /* the best, or its time, differs from that before this record */
};

struct trace {
  struct trace_point *points; /* sorted by time */
  size_t count, right, runs;
  size_t unknown;   /* number of records without a known time */
  double seconds;   /* duration of all runs, each until its last record */
  double *run_ends; /* by run: value of `spent` at its end */
};

/* Makes a trace from the result of api_kernel_stored with history: the current records of the
   kernel, and those that later ones replaced. Returns false if there is no memory. The records must
   outlive the trace. */
bool trace_open(const cugen_stored_record *all, size_t count, struct trace *out);
void trace_close(struct trace *trace);

json_t *trace_json(const struct trace *trace);
/* Adds the trace of all records of cli->kernel to the object, as "trace". */
int trace_into_json(struct cli *cli, json_t *object);

/* Returns the value that is drawn of a record: its time, or its rate if the config ranks by a
   rate. */
double trace_value(const cugen_kernel *kernel, const cugen_record *record);

/* ---- trace_show.c --------------------------------------------------------------------------- */

/* The command cugen show CONFIG --trace. */
int trace_show(struct cli *cli);

#endif
