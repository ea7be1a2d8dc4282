/* ---- The types of the tables ----------------------------------------------------------------- */

struct image {
  const void *data;
  size_t bytes;
};

struct argument {
  const char *name;
  bundle_argument_kind kind;
  int given; /* an argument of TVM-FFI's function; other arguments follow from the problem */
};

/* A value of the problem. FIELD_SIZE: a whole number that may follow from the arguments' shapes. */
enum field_type { FIELD_SIZE, FIELD_WHOLE, FIELD_REAL, FIELD_FLAG, FIELD_WORD };
struct field {
  const char *name;
  enum field_type type;
  size_t offset, bytes; /* in bundle_problem */
};

/* name NULL: any device of that compute capability; ptx: PTX, for that compute capability or a
   later one. */
struct device {
  const char *name;
  int capability, multiprocessors, ptx, max_threads;
  const char *text, *arch;
};

enum { MOST_KERNELS = 8 };

/* A variant as compiled for one device: which problems the code serves, and its sizes for them. */
struct code {
  const char *variant;
  size_t image;
  bundle_problem fixed; /* the values that the code is compiled for; 0 for sizes that may differ */
  int wide;             /* compiled with 64-bit offsets */
  int (*serves)(const bundle_problem *p);
  void (*sizes)(const bundle_problem *p, struct sizes *s);
  /* the code serves only sizes for which a loop of its launches has so many rounds; 0: any */
  long long rounds;
  size_t kernel_count;
  const char *kernels[MOST_KERNELS]; /* names in the image */
};

/* A problem that was tuned on a device, with its variants in `measurements`, the best first. */
struct tuned {
  size_t device;
  bundle_problem problem;
  const char *text;
  size_t first, count;
};

struct measured {
  size_t code;
  /* cost: the value of the config's objective, by which variants are ranked; least is best */
  double seconds, cost;
  unsigned long long order; /* decides between almost equal costs: the least is taken */
};

/* Codes to take where nothing measured serves, in this order. */
struct fallback {
  size_t device, code;
};

/* The time of a member whose time is not known. */
#define NO_TIME 1.7976931348623157e308
enum { MOST_MEMBERS = 64 };

/* Returns the computed time; NO_TIME if computing it failed (*wrong, which is reset). */
MAYBE_UNUSED static double told(double time, int *wrong) {
  const int known = !*wrong && time < NO_TIME;
  *wrong = 0;
  return known ? time : NO_TIME;
}

/* Returns the index of the least time; `count` if no time is known. */
MAYBE_UNUSED static long long least_of(const double *times, size_t count) {
  size_t best = count;
  for (size_t i = 0; i < count; i++)
    if (times[i] < (best < count ? times[best] : NO_TIME)) best = i;
  return (long long)best;
}

/* A portfolio: a few variants, its members, and a rule that returns the index of the member to
   use, or any other number for none; all for problems of the class of `class`. A shipped
   portfolio came with cugen and serves where nothing measured does; its rule names no member for
   problems beyond those that the portfolio was learnt from. */
struct portfolio {
  size_t device;
  bundle_problem class;
  /* also sets the predicted time of each member */
  long long (*rule)(const bundle_problem *p, double *times);
  size_t first, count; /* in members; MOST_MEMBERS at most */
  int shipped;
  /* the member that the rule names may take so many times the least time; 0: any time */
  double doubted;
};

/* A variant of a portfolio: its codes, each for other sizes. */
struct member {
  size_t first, count; /* in member_codes */
};

/* The bounds to which the policy of buckets rounds a size, in rising order; count 0: the size is
   not rounded. */
struct bucket {
  const long long *bounds;
  size_t count;
};

/* The functions in the tables use this name. */
typedef bundle_problem problem_values;
#define KIND(kind) BUNDLE_##kind

/* @tables */
