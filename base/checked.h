/* What a check of variants reports. */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>

#include "results.h"

/* A defect, which may show in several variants and runs. */
typedef struct cugen_check_finding {
  cugen_finding_kind kind;
  char *message;    /* a sentence: what a thread did, and where the other thread was */
  const char *file; /* file of the template, from the source's #line; "": unknown */
  int line;
  const char *user_file; /* where inlined code is used: its first caller in another file, or else
                            the kernel; "": the code is not inlined */
  int user_line;
  const char *other_file; /* place of the other access or barrier; "": none */
  int other_line;
  const char *array; /* name of the array of shared memory, or of the buffer; "": none */
  int shared;
  uint32_t block[3], thread[3];             /* block and thread of the access */
  uint32_t other_block[3], other_thread[3]; /* block and thread of the other access; zero if there
                                               is none */
  char *variant, *problem; /* variant and problem of the run that `message` describes */
  size_t variants;         /* number of variants that show the defect */
  uint64_t count;          /* number of occurrences in all runs */
  /* lines, or pairs of lines, with this cause; `file` and `line` are of the first */
  size_t places;
  char *also;         /* up to eight of the other places: "k.cu:9, k.cu:12"; NULL: none */
  int note;           /* not an error: a defect that counts only with options.strict, or that is
                         waived */
  const char *waived; /* reason of the config's waive that makes it a note; "": none */
  struct check_detail *detail; /* for emulator/check alone */
} cugen_check_finding;

/* A waive of the config, and the number of findings that it makes notes. */
typedef struct cugen_check_waiver {
  const char *file;
  int line; /* line in the config */
  cugen_finding_kind kind;
  const char *at, *reason;
  size_t findings;
} cugen_check_waiver;

/* The memory traffic of a variant with one array of shared or constant memory, or one buffer of
   global memory, in one launch. The traffic is measured at sizes that are whole tiles, if the
   variant ran at such sizes. */
typedef struct cugen_check_traffic {
  char *variant, *problem;
  int launch;
  char *array;
  cugen_memory memory;
  int write;
  double requests; /* requests of warps; a request is the accesses of a warp's lanes at one place of
                      the program */
  double bytes;
  /* passes over the banks (shared memory), sectors of 32 bytes (global memory), or distinct words
     (constant memory) */
  double needed;
  double ideal; /* the smallest possible `needed` for the number of bytes */
  int launches; /* number of the variant's launches; `launch` is below it */
  char *entry;  /* the kernel of the launch */
  double lines; /* cache lines of 128 bytes touched by requests; of global memory alone */
  /* bytes of the requests, in which bytes that several lanes request count once; of global memory
     alone */
  double touched;
  int elsewhere; /* the problem differs from its check problem in more than sizes */
} cugen_check_traffic;

/* Something that was not checked. */
typedef struct cugen_check_skip {
  char *what, *why; /* what: a variant, an implementation, or "index arithmetic in 32 bits" */
  /* the compiler refused the variant, or the problem's data or reference could not be made; 0:
     another reason, such as that the config excludes the device */
  int refused;
  size_t variants;             /* number of variants that are skipped for this reason */
  struct check_detail *detail; /* for emulator/check alone */
} cugen_check_skip;

/* One run: a variant on a problem. */
typedef struct cugen_check_ran {
  char *variant, *problem;
} cugen_check_ran;

/* A setting of a check { } of the config ("log2n=10") that has this value in every problem derived
   from the check { }, and the reason. */
typedef struct cugen_check_kept {
  char *setting, *why;
} cugen_check_kept;

/* A line of a template that accesses memory. */
typedef struct cugen_check_line {
  char *file;
  int line;
  bool ran;
} cugen_check_line;

/* The progress of a check; valid during the callback. */
typedef struct cugen_check_progress {
  size_t done, planned; /* runs of a variant on a problem */
  size_t findings;
} cugen_check_progress;

/* Called at least ten times a second from the thread that called the check; return nonzero to
   stop. */
typedef int (*cugen_check_callback)(const cugen_check_progress *progress, void *context);

typedef struct cugen_check_options {
  const char *variant;           /* check only this variant; a text as for cugen_kernel_source */
  int all;                       /* check every variant of the kernel's problem */
  int branches;                  /* check few variants that together take every branch of the
                                    templates that a large sample takes */
  size_t sample;                 /* check this many variants, drawn at random */
  uint64_t seed;                 /* seed of the sample and of the input data; 0: 1 */
  int threads;                   /* number of simultaneous runs, at most 64; 0: the number of
                                    processors */
  double timeout;                /* seconds for one run, and for making the data and reference of
                                    one problem; 0: 60 */
  cugen_check_callback progress; /* NULL: none */
  void *context;
  int strict;     /* count CUGEN_FINDING_SAME_VALUE as an error */
  int no_traffic; /* look for findings only, which takes fewer compiles and runs */
} cugen_check_options;

/* The results of a check. Everything lives until the kernel is checked again or closed. */
typedef struct cugen_check {
  cugen_check_finding *findings; /* likely causes first, then by file and line */
  size_t finding_count, note_count;
  cugen_check_traffic *traffic;
  size_t traffic_count;
  cugen_check_skip *skips;
  size_t skip_count;
  cugen_check_ran *ran;            /* in the order in which the runs ended */
  size_t variants, problems, runs; /* numbers of variants, problems and runs that were checked */
  uint64_t variants_of; /* number of variants that are valid on their implementation's check
                           problem */
  /* how many of `variants` only other problems have (with another size, type or layout) */
  size_t variants_elsewhere;
  /* runs_done includes runs that ended as a skip, and is smaller than runs_planned if the check was
     interrupted */
  size_t runs_done, runs_planned;
  char **problem_texts; /* problems that were checked: the check problem, those that differ from it
                           in sizes alone, and then the others */
  cugen_check_kept *kept;
  size_t kept_count;
  /* The coverage: how many lines of the templates access memory, and how many of these ran;
     `unwatched`, in words: memory used unobserved, findings and traffic for which there was no
     room. Lines are known on x86-64 and aarch64, with addr2line. */
  size_t lines, lines_reached;
  cugen_check_line *unreached; /* all `lines`: first those that did not run, then those that ran */
  char **unwatched;
  size_t unwatched_count;
  /* there are findings that are no notes, none of them on a check problem */
  int elsewhere;
  int compared; /* results were compared; 0: the config has reference "none" */
  /* the config has a check { }; 0: only the kernel's own sizes were checked */
  int has_check;
  cugen_check_waiver *waivers;
  size_t waiver_count, waived_count; /* waivers of the config, and findings that are notes because
                                        of a waiver */
} cugen_check;

#endif
