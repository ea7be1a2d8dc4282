/* ---- What is in the tables ------------------------------------------------------------------------------------------- */

struct image {
  const void *data;
  size_t bytes;
};

struct argument {
  const char *name;
  bundle_argument_kind kind;
};

/* name NULL: any device of that compute capability; ptx: of that one or a later. */
struct device {
  const char *name;
  int capability, multiprocessors, ptx, max_threads;
  const char *text, *arch;
};

enum { MOST_KERNELS = 8 };

/* A variant as compiled for one device: the problems that it serves, and its sizes for them. */
struct code {
  const char *variant;
  size_t image;
  int wide; /* compiled with 64-bit offsets */
  int (*serves)(const bundle_problem *p);
  void (*sizes)(const bundle_problem *p, struct sizes *s);
  long long rounds; /* it serves sizes for which a loop of its launches has so many rounds; 0: any number */
  size_t kernel_count;
  const char *kernels[MOST_KERNELS]; /* names in the image */
};

/* A problem that was tuned on a device: its variants from `first` on, the best first. */
struct tuned {
  size_t device;
  bundle_problem problem;
  const char *text;
  size_t first, count;
};

struct measured {
  size_t code;
  double seconds, cost; /* what is ranked by: seconds, for each unit of work where the config's objective is a rate */
  unsigned long long order; /* in the space: settles ties */
};

/* What is taken where nothing measured serves, in this order. */
struct fallback {
  size_t device, code;
};

/* Of a member whose time is not known. */
#define NO_TIME 1.7976931348623157e308
enum { MOST_MEMBERS = 64 };

/* A time as it was computed; *wrong: it could not be, which is forgotten. */
MAYBE_UNUSED static double told(double time, int *wrong) {
  const int known = !*wrong && time < NO_TIME;
  *wrong = 0;
  return known ? time : NO_TIME;
}

/* The first of the least time; count: none has one. */
MAYBE_UNUSED static long long least_of(const double *times, size_t count) {
  size_t best = count;
  for (size_t i = 0; i < count; i++)
    if (times[i] < (best < count ? times[best] : NO_TIME)) best = i;
  return (long long)best;
}

/* The rule gives an index of its members; below 0 it says nothing. class: a problem of the class that it is for. shipped:
   it came with cugen, serves where nothing measured does, and beyond what it was learnt from its rule gives `count`. */
struct portfolio {
  size_t device;
  bundle_problem class;
  long long (*rule)(const bundle_problem *p, double *times); /* sets the time of each member, too */
  size_t first, count; /* of members, MOST_MEMBERS at most */
  int shipped;
  double doubted; /* what the rule names does not serve where its time is more than so many times another's; 0: it does */
};

/* One variant: its codes, each for other sizes. */
struct member {
  size_t first, count; /* of member_codes */
};

struct bucket {
  const long long *bounds;
  size_t count;
};

/* What the tables call it. */
typedef bundle_problem problem_values;
#define KIND(kind) BUNDLE_##kind

/* @tables */

