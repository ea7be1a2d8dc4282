/* ---- A variant's sizes for one problem ------------------------------------------------------- */

/* the most launches of one bundle_launch; the most elements of a list in struct sizes */
enum { MOST_LAUNCHES = 1 << 20, MOST_LISTED = 1 << 24 };
enum { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MAPPED, MEMORY_MANAGED };
enum { ROWS, COLUMNS };
enum { MOST_VALUE_BYTES = 256 }; /* of a struct */

struct launch_sizes {
  size_t kernel; /* index in code.kernels */
  long long grid[3], block[3], shared;
  /* preferred part of what L1 and shared memory share, in percent; -1: the driver decides */
  long long carveout;
  int overlap;     /* this launch may begin before the previous one in the stream has ended */
  int cooperative; /* a cooperative launch: all of its blocks run at once */
  /* this launch passes sizes.passed[first .. first + count - 1], not bundle_call.parameters */
  int listed;
  size_t first, count;
  /* The loop that ends here: the last `back` launches, up to this one, are made `times` times in
     all. */
  size_t back;
  long long times;
};

struct argument_sizes {
  const char *dtype;
  int bytes; /* of an element */
  int passed, memory, rank;
  int copied;  /* a constant that the kernel reads by its address, from a copy that the call owns */
  int symbol;  /* kept in a __device__ variable, to or from which launches copy */
  int pointer; /* with symbol: the variable holds the buffer's address */
  size_t holder; /* 1 + index of the struct with a field for the address, at `offset`; 0: none */
  int offset;
  int overwrite;
  long long shape[BUNDLE_MAX_RANK], stride[BUNDLE_MAX_RANK], elements;
  int order[BUNDLE_MAX_RANK]; /* the dimensions from the outermost to the contiguous one */
  int tensor;                 /* reached through a tensor map */
  /* of the tensor map: swizzle in bytes; parts: equal parts of the outermost dimension */
  long long box[BUNDLE_MAX_RANK], swizzle, parts;
  unsigned char value[MOST_VALUE_BYTES]; /* of a scalar */
};

/* A value that a launch passes instead of an argument. */
struct own_value {
  unsigned char bytes[8];
};

/* Filled in order by the functions below: arguments, then launches, whose number the problem's
   sizes decide. */
struct sizes {
  struct argument_sizes arguments[BUNDLE_ARGUMENTS], spare; /* spare: for building an own_value */
  struct launch_sizes *launches;
  struct own_value *own;
  size_t *passed; /* indices of arguments; from BUNDLE_ARGUMENTS on, of own values */
  size_t argument_count, launch_count, own_count, passed_count;
  size_t launch_room, own_room, passed_room;
  int field; /* 1 + offset of the next scalar in the latest struct; 0: the scalar is no field */
  int wide;  /* offsets need 64 bits */
  int failed;
};

static void sizes_free(struct sizes *s) {
  free(s->launches);
  free(s->own);
  free(s->passed);
  memset(s, 0, sizeof *s);
}

/* Empties the sizes for another problem, and keeps their memory. */
static void sizes_restart(struct sizes *s) {
  memset(s->arguments, 0, sizeof s->arguments);
  s->argument_count = s->launch_count = s->own_count = s->passed_count = 0;
  s->wide = s->failed = 0;
}

/* Makes room for one more element; returns 0, and marks the sizes as failed, if there is none. */
static int has_room(struct sizes *s, void *list, size_t *room, size_t count, size_t size) {
  void *old, *grown;
  if (count < *room) return 1;
  memcpy(&old, list, sizeof old); /* a pointer to elements of any type */
  grown = count < MOST_LISTED ? realloc(old, (*room ? 2 * *room : 8) * size) : NULL;
  if (!grown) return s->failed = 1, 0;
  memcpy(list, &grown, sizeof grown);
  *room = *room ? 2 * *room : 8;
  return 1;
}

MAYBE_UNUSED static void launch(struct sizes *s, size_t kernel, long long grid_x, long long grid_y,
                                long long grid_z, long long block_x, long long block_y,
                                long long block_z, long long shared) {
  if (!has_room(s, &s->launches, &s->launch_room, s->launch_count, sizeof *s->launches)) return;
  s->launches[s->launch_count++] = (struct launch_sizes){
      kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, -1, 0, 0, 0, 0, 0, 0,
      1};
}

/* The functions from here to `repeat` describe the latest launch. */
MAYBE_UNUSED static void carveout(struct sizes *s, long long percent) {
  if (s->launch_count) s->launches[s->launch_count - 1].carveout = percent;
}

MAYBE_UNUSED static void overlap(struct sizes *s) {
  if (s->launch_count) s->launches[s->launch_count - 1].overlap = 1;
}

MAYBE_UNUSED static void cooperative(struct sizes *s) {
  if (s->launch_count) s->launches[s->launch_count - 1].cooperative = 1;
}

/* Adds an argument to the launch's list, in the order of the kernel's parameters. value: index of
   the argument, or BUNDLE_ARGUMENTS + index of an own value. */
MAYBE_UNUSED static void pass(struct sizes *s, long long value) {
  struct launch_sizes *l = s->launch_count ? &s->launches[s->launch_count - 1] : NULL;
  if (!l || s->failed ||
      !has_room(s, &s->passed, &s->passed_room, s->passed_count, sizeof *s->passed))
    return;
  if (!l->listed) l->first = s->passed_count;
  l->listed = 1;
  l->count++;
  s->passed[s->passed_count++] = (size_t)value;
}

/* Adds the latest own value to the launch's list. */
MAYBE_UNUSED static void pass_own(struct sizes *s) {
  pass(s, BUNDLE_ARGUMENTS + (long long)s->own_count - 1);
}

MAYBE_UNUSED static void pass_nothing(struct sizes *s) {
  if (s->launch_count) s->launches[s->launch_count - 1].listed = 1;
}

/* Has the last `back` launches made `times` times in all. */
MAYBE_UNUSED static void repeat(struct sizes *s, size_t back, long long times) {
  if (s->failed || back > s->launch_count) return;
  if (times < 0 || times > MOST_LAUNCHES) s->failed = 1;
  if (times < 1) {
    s->launch_count -= back;
    return;
  }
  s->launches[s->launch_count - 1].back = back;
  s->launches[s->launch_count - 1].times = times;
}

/* Returns the number of launches that one call makes. */
static long long count_launches(const struct sizes *s) {
  long long count = 0;
  for (size_t i = 0; i < s->launch_count; i++)
    count += 1 + (long long)s->launches[i].back * (s->launches[i].times - 1);
  return count;
}

static void check_elements(struct sizes *s, const struct argument_sizes *a) {
  s->failed |= a->elements > (1LL << 62) / a->bytes;
  s->wide |= a->elements > (1LL << 31) - (1LL << 24);
}

/* Lays out the latest buffer (described last) by an order of its dimensions, the outermost first.
   The contiguous dimension has stride 1, the next dimension the pitch, and each further dimension
   the previous stride times the previous dimension's extent. */
MAYBE_UNUSED static void in_order(struct sizes *s, long long pitch, const int *order) {
  struct argument_sizes *a = &s->arguments[s->argument_count - 1];
  int at = order[a->rank - 1];
  s->failed |= pitch < a->shape[at];
  a->stride[at] = 1;
  a->elements = pitch;
  for (int i = 0; i < a->rank; i++) a->order[i] = order[i];
  for (int i = a->rank - 2; i >= 0; i--) {
    at = order[i];
    a->stride[at] = a->elements;
    a->elements = multiply(&s->failed, a->elements, a->shape[at]);
  }
  check_elements(s, a);
}

/* Describes the next argument, a buffer. */
MAYBE_UNUSED static void buffer(struct sizes *s, const char *dtype, int bytes, int memory,
                                int order, long long pitch, int rank, const long long *shape) {
  struct argument_sizes *a = &s->arguments[s->argument_count++];
  int dimensions[BUNDLE_MAX_RANK] = {0};
  *a = (struct argument_sizes){
      .dtype = dtype, .bytes = bytes, .passed = 1, .memory = memory, .rank = rank};
  for (int i = 0; i < rank; i++) {
    a->shape[i] = shape[i];
    s->failed |= shape[i] < 1;
    dimensions[i] = order == COLUMNS ? rank - 1 - i : i;
  }
  in_order(s, pitch, dimensions);
}

/* Makes the latest buffer a view with these strides. Each stride must reach beyond the elements of
   the dimensions with smaller strides. */
MAYBE_UNUSED static void strided(struct sizes *s, const long long *stride) {
  struct argument_sizes *a = &s->arguments[s->argument_count - 1];
  long long span = 1;
  int done = 0;
  for (int turn = 0; turn < a->rank; turn++) {
    int next = -1;
    for (int i = a->rank - 1; i >= 0; i--)
      if (!(done >> i & 1) && (next < 0 || stride[i] < stride[next])) next = i;
    done |= 1 << next;
    a->stride[next] = a->shape[next] == 1 && stride[next] < 1 ? 1 : stride[next];
    a->order[a->rank - 1 - turn] = next;
    if (a->shape[next] == 1) continue;
    s->failed |= stride[next] < span;
    span = add(&s->failed, span, multiply(&s->failed, stride[next], a->shape[next] - 1));
  }
  a->elements = span;
  check_elements(s, a);
}

/* Makes the latest buffer swizzled within blocks of so many elements, without
   strides. */
MAYBE_UNUSED static void swizzled(struct sizes *s, long long block) {
  struct argument_sizes *a = &s->arguments[s->argument_count - 1];
  /* of an array without tiles: no block goes beyond a line */
  if (a->stride[0])
    s->failed |= block > (a->rank > 1 ? a->stride[a->order[a->rank - 2]] : a->elements);
  memset(a->stride, 0, sizeof a->stride);
  a->elements = multiply(&s->failed, ceil_div(&s->failed, a->elements, block), block);
  check_elements(s, a);
}

/* Makes the latest buffer consist of tiles. tile[i]: a tile's extent; elements: of
   a tile in memory; block: as in swizzled(). */
MAYBE_UNUSED static void tiled(struct sizes *s, const long long *tile, long long elements,
                               long long block) {
  struct argument_sizes *a = &s->arguments[s->argument_count - 1];
  a->elements = elements;
  memset(a->stride, 0, sizeof a->stride);
  for (int i = 0; i < a->rank; i++)
    a->elements = multiply(&s->failed, a->elements, ceil_div(&s->failed, a->shape[i], tile[i]));
  swizzled(s, block);
}

/* The kernel may write to the latest input. */
MAYBE_UNUSED static void overwrites(struct sizes *s) {
  s->arguments[s->argument_count - 1].overwrite = 1;
}

/* The kernel reads the latest constant by its address. */
MAYBE_UNUSED static void by_address(struct sizes *s) {
  s->arguments[s->argument_count - 1].copied = 1;
}

/* The variant keeps the latest buffer in a __device__ variable. */
MAYBE_UNUSED static void in_symbol(struct sizes *s) {
  s->arguments[s->argument_count - 1].symbol = 1;
}

/* A __device__ or __constant__ variable holds the address of the latest buffer. */
MAYBE_UNUSED static void in_pointer(struct sizes *s) {
  in_symbol(s);
  s->arguments[s->argument_count - 1].pointer = 1;
}

/* The kernel finds the address of the latest buffer in a struct, an argument that follows. */
MAYBE_UNUSED static void in_field(struct sizes *s, size_t holder, int offset) {
  s->arguments[s->argument_count - 1].holder = 1 + holder;
  s->arguments[s->argument_count - 1].offset = offset;
}

/* The kernel reaches the latest buffer through a tensor map with this box. The rules are
   cuTensorMapEncodeTiled's (CUDA Driver API, "Tensor Map Object Management"), except those of
   `parts`. */
MAYBE_UNUSED static void tensor(struct sizes *s, long long swizzle, long long parts,
                                const long long *box) {
  struct argument_sizes *a = &s->arguments[s->argument_count - 1];
  int outermost = a->order[0], contiguous = a->order[a->rank - 1];
  a->tensor = 1, a->swizzle = swizzle, a->parts = parts;
  for (int i = 0; i < a->rank; i++) {
    long long apart = a->stride[i] * a->bytes;
    a->box[i] = box[i];
    s->failed |= box[i] < 1 || box[i] > 256 || a->shape[i] > 1LL << 32;
    s->failed |= i != contiguous && (apart % 16 || apart >= 1LL << 40);
  }
  long long inner = box[contiguous] * a->bytes;
  s->failed |= inner % 16 || (swizzle && inner > swizzle);
  s->failed |=
      parts < 1 || a->shape[outermost] % (parts < 1 ? 1 : parts) || (parts > 1 && a->rank == 1);
}

/* Describes the next argument, a struct. A scalar that follows field() is a field of the struct. */
MAYBE_UNUSED static void structure(struct sizes *s, int bytes) {
  s->arguments[s->argument_count++] =
      (struct argument_sizes){.dtype = "struct", .bytes = bytes, .passed = 1};
}

MAYBE_UNUSED static void field(struct sizes *s, int offset) {
  s->field = 1 + offset;
}

/* Returns the place for a scalar's value: after field(), in the latest struct; else in the next
   argument or, once all arguments are described, in a new own value. */
static unsigned char *scalar(struct sizes *s, const char *dtype, int bytes, int passed) {
  if (s->field) {
    unsigned char *to = s->arguments[s->argument_count - 1].value + s->field - 1;
    s->field = 0;
    return to;
  }
  const int own = s->argument_count == BUNDLE_ARGUMENTS;
  struct argument_sizes *a = own ? &s->spare : &s->arguments[s->argument_count++];
  *a = (struct argument_sizes){.dtype = dtype, .bytes = bytes, .passed = passed};
  if (!own || !has_room(s, &s->own, &s->own_room, s->own_count, sizeof *s->own)) return a->value;
  memset(&s->own[s->own_count], 0, sizeof *s->own);
  return s->own[s->own_count++].bytes;
}

/* Sets a scalar whose value was known when the bundle was made, by its bytes. */
MAYBE_UNUSED static void bits(struct sizes *s, const char *dtype, int bytes, int passed,
                              unsigned long long value) {
  /* CUDA's machines are little-endian */
  memcpy(scalar(s, dtype, bytes, passed), &value, (size_t)bytes);
}

MAYBE_UNUSED static void whole(struct sizes *s, const char *dtype, int bytes, int passed,
                               long long value) {
  int narrow = 8 * bytes - (dtype[0] == 'i');
  memcpy(scalar(s, dtype, bytes, passed), &value, (size_t)bytes);
  if (dtype[0] == 'u' ? value < 0 : narrow < 63 && value < -(1LL << narrow)) s->failed = 1;
  if (narrow < 63 && value >= 1LL << narrow) s->failed = 1;
}

/* Sets a scalar to the number of elements from one line of an earlier buffer to the next line. */
MAYBE_UNUSED static void pitch(struct sizes *s, const char *dtype, int bytes, size_t buffer) {
  const struct argument_sizes *a = &s->arguments[buffer];
  whole(s, dtype, bytes, 1, a->stride[a->order[a->rank - 2]]);
}

/* Sets a scalar of the type of offsets, which has 32 or 64 bits. */
MAYBE_UNUSED static void offset(struct sizes *s, const char *dtype, int bytes, int passed,
                                long long value) {
  memcpy(scalar(s, dtype, bytes, passed), &value, (size_t)bytes);
  s->wide |= value < INT_MIN || value > INT_MAX;
}

MAYBE_UNUSED static void real(struct sizes *s, const char *dtype, int bytes, int passed,
                              double value) {
  unsigned char *to = scalar(s, dtype, bytes, passed);
  float single = (float)value;
  s->failed |= !(value - value == 0);
  if (bytes == sizeof value) memcpy(to, &value, sizeof value);
  if (bytes == sizeof single) memcpy(to, &single, sizeof single);
}
