/* The trace of tuning: which variant was measured when, and the best by then. It is made of the records, so it needs no
   measurement and no device. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "cli.h"
#include "print.h"

/* One record, as it was made. */
struct trace_point {
  const cugen_record *record;
  double spent; /* seconds of tuning until then; pauses between runs are left out */
  size_t run;   /* from 0 on, in the order in which they began */
  bool right;
  const cugen_record *best; /* api_best_of by then, this record included; NULL: none was right */
  bool changed;             /* it is another than before this record, or it has another time */
};

struct trace {
  struct trace_point *points; /* by time */
  size_t count, right, runs;
  size_t unknown;   /* records of which it is not known when they were made */
  double seconds;   /* of all runs together, each until its last record */
  double *run_ends; /* by run: spent when it ended */
};

/* Of what api_kernel_stored gives with history: the current records, and those of the same kernels that later ones replaced.
   False: out of memory. The records must outlive the trace. */
bool trace_open(const cugen_stored_record *all, size_t count, struct trace *out);
void trace_close(struct trace *trace);

json_t *trace_json(const struct trace *trace);
/* That of all that is remembered of cli->kernel, as "trace". */
int trace_into_json(struct cli *cli, json_t *object);

/* What is drawn of a record: its time, or where the config ranks by a rate that rate. */
double trace_value(const cugen_kernel *kernel, const cugen_record *record);
struct shown trace_label(const cugen_kernel *kernel, double value);

/* The edges of a picture: seconds spent from 0 on, and the logarithms of values. Most that is tried is far slower than the best,
   and would leave no room for it: the slowest tenth may lie beyond, and is drawn on the edge. */
struct trace_edges {
  double spent, low, high;
  bool beyond; /* some do */
};
/* Of a trace with right records. False: out of memory. */
bool trace_edges(const cugen_kernel *kernel, const struct trace *trace, struct trace_edges *out);

/* ---- trace_show.c ---- */

/* cugen show CONFIG --trace. */
int trace_show(struct cli *cli);

#endif
