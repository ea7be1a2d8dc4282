/* ---- A variant's sizes for one problem ------------------------------------------------------------------------------- */

/* Values of a launch's own stand behind the arguments. */
enum { MAX_LAUNCHES = @most_launches, MAX_VALUES = BUNDLE_ARGUMENTS + @most_own, MAX_PASSED = @most_passed };
enum { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MAPPED, MEMORY_MANAGED };
enum { ROWS, COLUMNS };

struct launch_sizes {
  long long grid[3], block[3], shared;
  long long carveout; /* preferred part of what L1 and shared memory share, in percent; -1: the driver decides */
  int overlap;        /* it may begin before what stands in front of it in the stream has ended */
  int cooperative;    /* its blocks run all at once */
  int listed;         /* it passes so many of the values in sizes.passed from `first` on, not every argument */
  size_t first, count;
};

struct argument_sizes {
  const char *dtype;
  int bytes; /* of an element */
  int passed, memory, rank;
  int copied; /* a constant that the kernel reads by an address: the call's own copy */
  int symbol; /* in a __device__ variable, to or from which launches copy */
  int overwrite;
  long long shape[BUNDLE_MAX_RANK], stride[BUNDLE_MAX_RANK], elements;
  int contiguous; /* the dimension whose stride is 1 */
  int tensor;     /* reached through a tensor map */
  long long box[BUNDLE_MAX_RANK], swizzle, parts;
  unsigned char value[8]; /* of a scalar */
};

/* Filled in order by the functions below. */
struct sizes {
  struct launch_sizes launches[MAX_LAUNCHES];
  struct argument_sizes arguments[MAX_VALUES];
  unsigned short passed[MAX_PASSED];
  size_t launch_count, argument_count, passed_count;
  int wide; /* offsets need 64 bits */
  int failed;
};

MAYBE_UNUSED static void launch(struct sizes *s, long long grid_x, long long grid_y, long long grid_z,
                                long long block_x, long long block_y, long long block_z, long long shared) {
  s->launches[s->launch_count++] =
      (struct launch_sizes){{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, -1, 0, 0, 0, 0, 0};
}

/* Of the launch before. */
MAYBE_UNUSED static void carveout(struct sizes *s, long long percent) {
  s->launches[s->launch_count - 1].carveout = percent;
}

MAYBE_UNUSED static void overlap(struct sizes *s) {
  s->launches[s->launch_count - 1].overlap = 1;
}

MAYBE_UNUSED static void cooperative(struct sizes *s) {
  s->launches[s->launch_count - 1].cooperative = 1;
}

/* One launch after the other, each from its first parameter to its last. */
MAYBE_UNUSED static void pass(struct sizes *s, size_t launch_index, size_t value) {
  struct launch_sizes *l = &s->launches[launch_index];
  if (!l->listed) l->first = s->passed_count;
  l->listed = 1;
  l->count++;
  s->passed[s->passed_count++] = (unsigned short)value;
}

MAYBE_UNUSED static void pass_nothing(struct sizes *s, size_t launch_index) {
  s->launches[launch_index].listed = 1;
}

/* Outwards from the contiguous dimension: 1, the pitch, and each times the extent of the one before. */
MAYBE_UNUSED static void buffer(struct sizes *s, const char *dtype, int bytes, int memory, int order, long long pitch,
                                int rank, const long long *shape) {
  struct argument_sizes *a = &s->arguments[s->argument_count++];
  int at = order == COLUMNS ? 0 : rank - 1, step = order == COLUMNS ? 1 : -1;
  *a = (struct argument_sizes){
      .dtype = dtype, .bytes = bytes, .passed = 1, .memory = memory, .rank = rank, .contiguous = at};
  for (int i = 0; i < rank; i++) {
    a->shape[i] = shape[i];
    s->failed |= shape[i] < 1;
  }
  s->failed |= pitch < a->shape[at];
  a->stride[at] = 1;
  a->elements = pitch;
  for (int i = 1; i < rank; i++) {
    at += step;
    a->stride[at] = a->elements;
    a->elements = multiply(&s->failed, a->elements, a->shape[at]);
  }
  s->failed |= a->elements > (1LL << 62) / bytes;
  s->wide |= a->elements > (1LL << 31) - (1LL << 24);
}

/* Of the input that was described last. */
MAYBE_UNUSED static void overwrites(struct sizes *s) {
  s->arguments[s->argument_count - 1].overwrite = 1;
}

/* Of the constant that was described last. */
MAYBE_UNUSED static void by_address(struct sizes *s) {
  s->arguments[s->argument_count - 1].copied = 1;
}

/* Of the buffer that was described last. */
MAYBE_UNUSED static void in_symbol(struct sizes *s) {
  s->arguments[s->argument_count - 1].symbol = 1;
}

/* Of the buffer that was described last: it is reached through a tensor map of such a box. The rules are
   cuTensorMapEncodeTiled's (CUDA Driver API, "Tensor Map Object Management"). */
MAYBE_UNUSED static void tensor(struct sizes *s, long long swizzle, long long parts, const long long *box) {
  struct argument_sizes *a = &s->arguments[s->argument_count - 1];
  int outermost = a->contiguous ? 0 : a->rank - 1;
  a->tensor = 1, a->swizzle = swizzle, a->parts = parts;
  for (int i = 0; i < a->rank; i++) {
    long long apart = a->stride[i] * a->bytes;
    a->box[i] = box[i];
    s->failed |= box[i] < 1 || box[i] > 256 || a->shape[i] > 1LL << 32;
    s->failed |= i != a->contiguous && (apart % 16 || apart >= 1LL << 40);
  }
  long long inner = box[a->contiguous] * a->bytes;
  s->failed |= inner % 16 || (swizzle && inner > swizzle);
  s->failed |= parts < 1 || a->shape[outermost] % (parts < 1 ? 1 : parts) || (parts > 1 && a->rank == 1);
}

static struct argument_sizes *scalar(struct sizes *s, const char *dtype, int bytes, int passed) {
  struct argument_sizes *a = &s->arguments[s->argument_count++];
  *a = (struct argument_sizes){.dtype = dtype, .bytes = bytes, .passed = passed};
  return a;
}

/* A value known when the bundle was made, as the bytes of its type. */
MAYBE_UNUSED static void bits(struct sizes *s, const char *dtype, int bytes, int passed, unsigned long long value) {
  memcpy(scalar(s, dtype, bytes, passed)->value, &value, (size_t)bytes); /* CUDA's machines are little-endian */
}

MAYBE_UNUSED static void whole(struct sizes *s, const char *dtype, int bytes, int passed, long long value) {
  int narrow = 8 * bytes - (dtype[0] == 'i');
  memcpy(scalar(s, dtype, bytes, passed)->value, &value, (size_t)bytes);
  if (dtype[0] == 'u' ? value < 0 : narrow < 63 && value < -(1LL << narrow)) s->failed = 1;
  if (narrow < 63 && value >= 1LL << narrow) s->failed = 1;
}

/* A size that is passed as the type of offsets is: 32 or 64 bits. */
MAYBE_UNUSED static void offset(struct sizes *s, const char *dtype, int bytes, int passed, long long value) {
  memcpy(scalar(s, dtype, bytes, passed)->value, &value, (size_t)bytes);
  s->wide |= value < INT_MIN || value > INT_MAX;
}

MAYBE_UNUSED static void real(struct sizes *s, const char *dtype, int bytes, int passed, double value) {
  struct argument_sizes *a = scalar(s, dtype, bytes, passed);
  float single = (float)value;
  s->failed |= !(value - value == 0);
  if (bytes == sizeof value) memcpy(a->value, &value, sizeof value);
  if (bytes == sizeof single) memcpy(a->value, &single, sizeof single);
}
