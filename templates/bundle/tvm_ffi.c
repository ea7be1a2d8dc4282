/* ---- The function of TVM-FFI ----------------------------------------------------------------- */

/* A shared library of this file has the function `@symbol` of Apache TVM-FFI's ABI, so that torch,
   JAX and NumPy call the kernel with their arrays. The structures of the ABI are declared here, as
   tvm/ffi/c_api.h and dlpack/dlpack.h have them, because the bundle is built without headers.
   TVM-FFI's two functions are looked up in the process when they are needed. */
struct dl_tensor {
  void *data;
  int32_t device, ordinal; /* device: DLDeviceType */
  int32_t rank;
  unsigned char code, bits; /* code: DLDataTypeCode */
  unsigned short lanes;
  int64_t *shape, *stride; /* stride: in elements; NULL: by rows without gaps */
  uint64_t offset;         /* bytes */
};

struct ffi_value {
  int32_t type;
  uint32_t length; /* of a small string */
  union {
    int64_t whole;
    double real;
    const void *pointer;
    char small[8];
  } as;
};

enum {
  FFI_NONE = 0,
  FFI_WHOLE = 1,
  FFI_FLAG = 2,
  FFI_REAL = 3,
  FFI_TENSOR_POINTER = 7,
  FFI_RAW_STRING = 8,
  FFI_SMALL_STRING = 11,
  FFI_STRING = 65, /* a pointer and a size, behind an object's header */
  FFI_TENSOR = 70, /* a tensor, behind an object's header */
  FFI_HEADER_BYTES = 24
};
enum { ON_HOST = 1, ON_CUDA = 2, ON_PINNED_HOST = 3, ON_MANAGED = 13 };
enum { MOST_SETTINGS = 512, TENSOR_ALIGNMENT = 16 };

struct given {
  const struct dl_tensor *tensors[BUNDLE_ARGUMENTS + 1]; /* NULL: None, or no tensor */
  const struct ffi_value *numbers[BUNDLE_ARGUMENTS + 1]; /* NULL: None, or no number */
  char settings[MOST_SETTINGS];                          /* "activation=relu" */
  int on_host, ordinal;
};

/* ---- Reading the arguments ---- */

static int read_settings(const struct ffi_value *value, struct given *g, bundle_error *error) {
  const char *text = value->as.small;
  size_t length = value->length;
  if (value->type == FFI_RAW_STRING) {
    text = value->as.pointer;
    length = strlen(text);
  } else if (value->type == FFI_STRING) {
    const char *const object = value->as.pointer;
    memcpy(&text, object + FFI_HEADER_BYTES, sizeof text);
    memcpy(&length, object + FFI_HEADER_BYTES + sizeof text, sizeof length);
  }
  if (length >= sizeof g->settings)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: settings of %zu characters: at most %d are read",
                length, MOST_SETTINGS - 1);
  memcpy(g->settings, text, length);
  return BUNDLE_OK;
}

static int is_string(const struct ffi_value *value) {
  return value->type == FFI_RAW_STRING || value->type == FFI_SMALL_STRING ||
         value->type == FFI_STRING;
}

static int read_tensor(const struct ffi_value *value, size_t at, struct given *g,
                       bundle_error *error) {
  const char *name = arguments_of_kernel[at].name;
  const struct dl_tensor *t = value->as.pointer;
  if (value->type == FFI_TENSOR)
    t = (const void *)((const char *)value->as.pointer + FFI_HEADER_BYTES);
  else if (value->type != FFI_TENSOR_POINTER || !t)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: argument '%s' must be a tensor: an array that DLPack can describe", name);
  if (t->rank < 0 || t->rank > BUNDLE_MAX_RANK)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: argument '%s' has %d dimensions, at most %d are "
                "supported",
                name, (int)t->rank, (int)BUNDLE_MAX_RANK);
  g->tensors[at] = t;
  return BUNDLE_OK;
}

static int read_number(const struct ffi_value *value, size_t at, struct given *g,
                       bundle_error *error) {
  if (value->type != FFI_WHOLE && value->type != FFI_FLAG && value->type != FFI_REAL)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: argument '%s' must be a number",
                arguments_of_kernel[at].name);
  g->numbers[at] = value;
  return BUNDLE_OK;
}

/* Arguments that are left out at the end are None. */
static int read_arguments(const struct ffi_value *values, int count, struct given *g,
                          bundle_error *error) {
  int at = 0, status = BUNDLE_OK;
  if (count > 0 && is_string(&values[count - 1]))
    status = read_settings(&values[--count], g, error);
  for (size_t i = 0; i < BUNDLE_ARGUMENTS && at < count && !status; i++) {
    if (!arguments_of_kernel[i].given) continue;
    const struct ffi_value *value = &values[at++];
    if (value->type == FFI_NONE) continue;
    status = arguments_of_kernel[i].kind == BUNDLE_SCALAR ? read_number(value, i, g, error)
                                                          : read_tensor(value, i, g, error);
  }
  if (status || at == count) return status;
  return fail(error, BUNDLE_ERROR_USAGE,
              "@name takes at most %d arguments (@given) and was given %d", at, count);
}

/* Finds out where the tensors are: on one CUDA device, or in host memory. Constants may be in host
   memory in both cases. */
static int locate(struct given *g, bundle_error *error) {
  const char *cuda = NULL, *host = NULL;
  g->ordinal = 0;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++) {
    const struct dl_tensor *t = g->tensors[i];
    const char *name = arguments_of_kernel[i].name;
    if (!t || t->device == ON_PINNED_HOST || t->device == ON_MANAGED) continue;
    if (t->device == ON_HOST) {
      if (arguments_of_kernel[i].kind != BUNDLE_CONSTANT) host = name;
    } else if (t->device != ON_CUDA) {
      return fail(
          error, BUNDLE_ERROR_USAGE,
          "@name: argument '%s' is on a device of DLPack's type %d, which is no CUDA device", name,
          (int)t->device);
    } else if (cuda && t->ordinal != g->ordinal) {
      return fail(error, BUNDLE_ERROR_USAGE,
                  "@name: argument '%s' is on CUDA device %d, and '%s' on CUDA device %d", name,
                  (int)t->ordinal, cuda, g->ordinal);
    } else {
      cuda = name;
      g->ordinal = t->ordinal;
    }
  }
  g->on_host = !cuda;
  if (!cuda || !host) return BUNDLE_OK;
  return fail(error, BUNDLE_ERROR_USAGE,
              "@name: argument '%s' is in host memory, and '%s' on CUDA device %d", host, cuda,
              g->ordinal);
}

/* ---- Settings: values of the problem that the caller names ---- */

struct settings {
  bundle_problem values;
  unsigned char set[FIELDS + 1];
  char text[MOST_SETTINGS]; /* holds the words to which `values` points */
};

static int set_field(struct settings *s, size_t field, const char *text, bundle_error *error) {
  static const char *const expected[] = {[FIELD_SIZE] = "a whole number",
                                         [FIELD_WHOLE] = "a whole number",
                                         [FIELD_REAL] = "a number",
                                         [FIELD_FLAG] = "true or false",
                                         [FIELD_WORD] = "a word"};
  char *to = (char *)&s->values + fields[field].offset, *end = NULL;
  const int flag = strcmp(text, "true") == 0;
  int right = flag || strcmp(text, "false") == 0;
  errno = 0;
  if (fields[field].type == FIELD_WORD) {
    memcpy(to, &text, sizeof text);
    right = *text != 0;
  } else if (fields[field].type == FIELD_FLAG) {
    memcpy(to, &flag, sizeof flag);
  } else if (fields[field].type == FIELD_REAL) {
    const double real = strtod(text, &end);
    memcpy(to, &real, sizeof real);
  } else {
    const long long whole = strtoll(text, &end, 10);
    memcpy(to, &whole, sizeof whole);
  }
  if (end) right = *text && !*end && !errno;
  s->set[field] = 1;
  return right ? BUNDLE_OK
               : fail(error, BUNDLE_ERROR_USAGE, "@name: setting '%s=%s': %s is expected",
                      fields[field].name, text, expected[fields[field].type]);
}

static int parse_settings(const char *text, struct settings *s, bundle_error *error) {
  static const char between[] = " ,;";
  static const bundle_problem init = BUNDLE_PROBLEM_INIT;
  int status = BUNDLE_OK;
  memset(s, 0, sizeof *s);
  s->values = init;
  memcpy(s->text, text, strlen(text));
  for (char *word = s->text + strspn(s->text, between); *word && !status;) {
    char *const end = word + strcspn(word, between), *const next = end + (*end != 0);
    *end = 0;
    char *const value = strchr(word, '=');
    size_t field = 0;
    if (value) *value = 0;
    while (field < field_count && strcmp(fields[field].name, word) != 0) field++;
    if (!value || field == field_count)
      return fail(error, BUNDLE_ERROR_USAGE,
                  "@name: '%s' is no setting: one is written NAME=VALUE, and the names are @fields",
                  word);
    status = set_field(s, field, value + 1, error);
    word = next + strspn(next, between);
  }
  return status;
}

static int same_value(const bundle_problem *a, const bundle_problem *b, size_t field) {
  const char *x = (const char *)a + fields[field].offset,
             *y = (const char *)b + fields[field].offset;
  const char *word_x, *word_y;
  if (fields[field].type != FIELD_WORD) return memcmp(x, y, fields[field].bytes) == 0;
  memcpy(&word_x, x, sizeof word_x);
  memcpy(&word_y, y, sizeof word_y);
  return word_x && word_y && strcmp(word_x, word_y) == 0;
}

/* Prints the sizes, and the other values that are not the default ones. */
static void print_unusual(const bundle_problem *p, char *out, size_t size) {
  static const bundle_problem init = BUNDLE_PROBLEM_INIT;
  char all[512];
  size_t length = 0, at = 0;
  print_problem(p, all, sizeof all);
  *out = 0;
  for (size_t f = 0; f < field_count && length < size; f++) {
    const char *const word = all + at;
    const size_t letters = strcspn(word, " ");
    at += letters + (word[letters] != 0);
    if (fields[f].type != FIELD_SIZE && same_value(p, &init, f)) continue;
    length += (size_t)snprintf(out + length, size - length, "%s%.*s", length ? " " : "",
                               (int)letters, word);
  }
}

static void copy_value(bundle_problem *to, const bundle_problem *from, size_t field) {
  memcpy((char *)to + fields[field].offset, (const char *)from + fields[field].offset,
         fields[field].bytes);
}

static long long *size_of(bundle_problem *p, size_t field) {
  return (long long *)(void *)((char *)p + fields[field].offset);
}

/* ---- Whether tensors are what a problem needs ---- */

struct tensor_type {
  const char *dtype;
  unsigned char code, bits;
};
/* Types that NumPy lacks may be passed as unsigned integers of their width. */
static const struct tensor_type tensor_types[] = {
    {"f64", 2, 64},  {"f32", 2, 32}, {"f16", 2, 16},  {"bf16", 4, 16}, {"bf16", 1, 16},
    {"e4m3", 10, 8}, {"e4m3", 1, 8}, {"e5m2", 12, 8}, {"e5m2", 1, 8},  {"i8", 0, 8},
    {"i16", 0, 16},  {"i32", 0, 32}, {"i64", 0, 64},  {"u8", 1, 8},    {"u8", 6, 8},
    {"u16", 1, 16},  {"u32", 1, 32}, {"u64", 1, 64}};

static int has_type(const struct dl_tensor *t, const char *dtype) {
  for (size_t i = 0; i < COUNT(tensor_types); i++)
    if (strcmp(tensor_types[i].dtype, dtype) == 0 && tensor_types[i].code == t->code &&
        tensor_types[i].bits == t->bits && t->lanes == 1)
      return 1;
  return 0;
}

static void name_type(const struct dl_tensor *t, char *out, size_t size) {
  static const char *const kinds[] = {"int",    "uint",    "float", "opaque",
                                      "bfloat", "complex", "bool"};
  const char *known = NULL;
  for (size_t i = 0; i < COUNT(tensor_types) && !known; i++)
    if (tensor_types[i].code == t->code && tensor_types[i].bits == t->bits)
      known = tensor_types[i].dtype;
  if (t->code < COUNT(kinds))
    snprintf(out, size, t->lanes == 1 ? "%s%d" : "%s%dx%d", kinds[t->code], t->bits, t->lanes);
  else
    snprintf(out, size, "%s", known ? known : "unknown");
}

static void print_numbers(int count, const long long *numbers, char *out, size_t size) {
  size_t length = (size_t)snprintf(out, size, "(");
  for (int i = 0; i < count && length < size; i++)
    length += (size_t)snprintf(out + length, size - length, i ? ", %lld" : "%lld", numbers[i]);
  if (length < size) snprintf(out + length, size - length, count == 1 ? ",)" : ")");
}

static void strides_of(const struct dl_tensor *t, long long *out) {
  long long apart = 1;
  for (int i = t->rank - 1; i >= 0; i--) {
    out[i] = t->stride ? t->stride[i] : apart;
    apart *= t->shape[i];
  }
}

/* Returns an extent of the argument. A tensor with fewer dimensions has ones in front. */
static long long shape_at(const struct dl_tensor *t, int rank, int dimension) {
  const int missing = rank - t->rank;
  return dimension < missing ? 1 : t->shape[dimension - missing];
}

static int is_empty(const struct dl_tensor *t) {
  for (int i = 0; i < t->rank; i++)
    if (t->shape[i] == 0) return 1;
  return 0;
}

/* Stages of a comparison, in this order. The further a comparison gets, the nearer the problem
   is. */
enum { WRONG_TYPE, WRONG_SHAPE, WRONG_STRIDE, ALL_RIGHT };

static int compare_shape(const struct dl_tensor *t, const struct argument_sizes *a,
                         const char *name, const char *problem, bundle_error *error) {
  enum { TEXT = 128 };
  char has[TEXT], wants[TEXT];
  long long shape[BUNDLE_MAX_RANK] = {0};
  int same = t->rank <= a->rank;
  for (int i = 0; i < t->rank; i++) shape[i] = t->shape[i];
  for (int i = 0; i < a->rank && same; i++) same = shape_at(t, a->rank, i) == a->shape[i];
  if (same) return ALL_RIGHT;
  print_numbers(t->rank, shape, has, sizeof has);
  if (t->rank > a->rank) {
    fail(error, BUNDLE_ERROR_USAGE, "@name: argument '%s' has shape %s, and at most %d dimension%s",
         name, has, a->rank, a->rank == 1 ? "" : "s");
    return WRONG_SHAPE;
  }
  print_numbers(a->rank, a->shape, wants, sizeof wants);
  fail(error, BUNDLE_ERROR_USAGE,
       *problem ? "@name: argument '%s' has shape %s, and must have %s for %s"
                : "@name: argument '%s' has shape %s, and must have %s%s",
       name, has, wants, problem);
  return WRONG_SHAPE;
}

/* An argument that is tiled or swizzled has no strides: its memory must be without gaps. */
static int compare_strides(const struct dl_tensor *t, const struct argument_sizes *a,
                           const char *name, bundle_error *error) {
  enum { TEXT = 128 };
  char has[TEXT], wants[TEXT];
  long long stride[BUNDLE_MAX_RANK], packed[BUNDLE_MAX_RANK];
  struct dl_tensor without = *t;
  int same = 1;
  without.stride = NULL;
  strides_of(t, stride);
  strides_of(&without, packed);
  const long long *wanted = a->stride[0] ? a->stride + (a->rank - t->rank) : packed;
  if (is_empty(t)) return ALL_RIGHT; /* choose() refuses a size of 0 */
  for (int i = 0; i < t->rank; i++) same &= t->shape[i] == 1 || stride[i] == wanted[i];
  if (!a->stride[0] && same) {
    long long elements = 1;
    for (int i = 0; i < t->rank; i++) elements *= t->shape[i];
    if (elements < a->elements) {
      fail(error, BUNDLE_ERROR_USAGE,
           "@name: argument '%s' is laid out in tiles, which need %lld elements: a tensor of its "
           "shape has %lld, and the C functions take a larger buffer",
           name, a->elements, elements);
      return WRONG_STRIDE;
    }
  }
  if (same) return ALL_RIGHT;
  print_numbers(t->rank, stride, has, sizeof has);
  print_numbers(t->rank, wanted, wants, sizeof wants);
  fail(error, BUNDLE_ERROR_USAGE,
       "@name: argument '%s' has strides %s, and must have %s elements: pass a copy with that "
       "layout",
       name, has, wants);
  return WRONG_STRIDE;
}

static int compare_presence(const struct given *g, size_t at, const struct argument_sizes *a,
                            bundle_error *error) {
  const int is_scalar = arguments_of_kernel[at].kind == BUNDLE_SCALAR;
  const int given = is_scalar ? g->numbers[at] != NULL : g->tensors[at] != NULL;
  if (a->passed && !given && !a->symbol)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: argument '%s' is missing",
                arguments_of_kernel[at].name);
  if (!a->passed && given && !is_scalar)
    return fail(
        error, BUNDLE_ERROR_USAGE,
        "@name: argument '%s' must be None: this bundle has no code for that combination of "
        "arguments",
        arguments_of_kernel[at].name);
  return BUNDLE_OK;
}

/* Returns how far the tensors agree with the sizes, and describes the first difference. */
static int compare(const struct given *g, const bundle_problem *p, const struct sizes *s,
                   bundle_error *error) {
  enum { TEXT = 32 };
  char problem[256], type[TEXT];
  int least = ALL_RIGHT;
  print_unusual(p, problem, sizeof problem);
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++)
    if (arguments_of_kernel[i].given && compare_presence(g, i, &s->arguments[i], error))
      return WRONG_TYPE;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++) {
    if (!g->tensors[i] || has_type(g->tensors[i], s->arguments[i].dtype)) continue;
    name_type(g->tensors[i], type, sizeof type);
    fail(error, BUNDLE_ERROR_USAGE,
         "@name: argument '%s' has elements of type %s, and this bundle has code for %s",
         arguments_of_kernel[i].name, type, s->arguments[i].dtype);
    return WRONG_TYPE;
  }
  for (size_t i = 0; i < BUNDLE_ARGUMENTS && least == ALL_RIGHT; i++)
    if (g->tensors[i])
      least = compare_shape(g->tensors[i], &s->arguments[i], arguments_of_kernel[i].name, problem,
                            error);
  for (size_t i = 0; i < BUNDLE_ARGUMENTS && least == ALL_RIGHT; i++)
    if (g->tensors[i])
      least = compare_strides(g->tensors[i], &s->arguments[i], arguments_of_kernel[i].name, error);
  return least;
}

/* ---- The problem that tensors have ---- */

/* Returns the extent of a dimension for the problem. The sizes are marked as failed from the start,
   so that loops of launches, which would cost time, are left out. */
static long long extent(const struct code *code, const bundle_problem *p, struct sizes *s,
                        size_t argument, int dimension) {
  sizes_restart(s);
  s->failed = 1;
  code->sizes(p, s);
  return s->arguments[argument].rank > dimension ? s->arguments[argument].shape[dimension] : 0;
}

struct unknown {
  const struct code *code;
  struct sizes *sizes;
  size_t argument;
  int dimension;
};

static long long extent_at(const struct unknown *u, bundle_problem *p, size_t field, long long at) {
  long long *const size = size_of(p, field), before = *size;
  *size = at;
  const long long found = extent(u->code, p, u->sizes, u->argument, u->dimension);
  *size = before;
  return found;
}

/* Finds the only size for which the dimension, which grows with the size, has the extent `wanted`;
   returns 0 if there is no such size, or more than one. */
static int invert(const struct unknown *u, bundle_problem *p, size_t field, long long wanted) {
  long long low = 1, high = 1LL << 40;
  if (extent_at(u, p, field, wanted) == wanted) {
    low = high = wanted;
  }
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (extent_at(u, p, field, middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  if (extent_at(u, p, field, low) != wanted || extent_at(u, p, field, low + 1) == wanted ||
      (low > 1 && extent_at(u, p, field, low - 1) == wanted))
    return 0;
  *size_of(p, field) = low;
  return 1;
}

/* Solves the sizes one after the other: each from a dimension that depends on no other unknown
   size. The sizes that cannot be solved keep the values that the problem has. */
static void solve(const struct code *code, const struct given *g, unsigned char *known,
                  bundle_problem *p, struct sizes *s) {
  enum { SMALL = 1 << 10, LARGE = 1 << 20 };
  bundle_problem probe = *p;
  int progress = 1;
  for (size_t f = 0; f < field_count; f++)
    if (!known[f]) *size_of(&probe, f) = SMALL;
  extent(code, &probe, s, 0, 0); /* for the ranks */
  while (progress) {
    progress = 0;
    for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++)
      for (int d = 0; g->tensors[i] && d < s->arguments[i].rank; d++) {
        const struct unknown u = {code, s, i, d};
        size_t count = 0, field = 0;
        for (size_t f = 0; f < field_count; f++)
          if (!known[f] && extent_at(&u, &probe, f, SMALL) != extent_at(&u, &probe, f, LARGE))
            field = f, count++;
        if (count != 1 ||
            !invert(&u, &probe, field, shape_at(g->tensors[i], s->arguments[i].rank, d)))
          continue;
        *size_of(p, field) = *size_of(&probe, field);
        known[field] = 1;
        progress = 1;
      }
  }
}

/* Makes the problem that the code would serve, from the code's fixed values, the settings, and the
   shapes. Returns 0 if a setting differs from a fixed value. */
static int propose(const struct code *code, const struct given *g, const struct settings *set,
                   bundle_problem *out, struct sizes *s) {
  unsigned char known[FIELDS + 1] = {0};
  *out = set->values;
  for (size_t f = 0; f < field_count; f++) {
    bundle_problem fixed = code->fixed;
    const int is_fixed = fields[f].type != FIELD_SIZE || *size_of(&fixed, f) != 0;
    if (is_fixed && set->set[f] && !same_value(&fixed, &set->values, f)) return 0;
    if (is_fixed) copy_value(out, &fixed, f);
    known[f] = is_fixed || set->set[f];
  }
  solve(code, g, known, out, s);
  sizes_restart(s);
  s->failed = 1;
  code->sizes(out, s);
  return 1;
}

/* Returns how many values, sizes aside, differ from the settings, or the default values. */
static int count_unusual(const bundle_problem *p, const struct settings *set) {
  int count = 0;
  for (size_t f = 0; f < field_count; f++)
    count += fields[f].type != FIELD_SIZE && !same_value(p, &set->values, f);
  return count;
}

static int same_problem(const bundle_problem *a, const bundle_problem *b) {
  for (size_t f = 0; f < field_count; f++)
    if (!same_value(a, b, f)) return 0;
  return 1;
}

static int seen_before(size_t code) {
  size_t first = 0;
  while (codes[first].sizes != codes[code].sizes ||
         !same_problem(&codes[first].fixed, &codes[code].fixed))
    first++;
  return first < code;
}

/* Finds the problem that the arguments have. Values that the arguments do not show, such as an
   activation, are the default ones where the bundle has code for the default. */
static int find_problem(const struct given *g, const struct settings *set, bundle_problem *out,
                        bundle_error *error) {
  struct sizes s = {.launches = NULL};
  int least = INT_MAX, furthest = -1, ties = 0;
  char first[256], second[256];
  bundle_error difference = {BUNDLE_OK, ""};
  bundle_problem p;
  for (size_t i = 0; i < COUNT(codes); i++) {
    if (seen_before(i) || !propose(&codes[i], g, set, &p, &s)) continue;
    const int unusual = count_unusual(&p, set), right = compare(g, &p, &s, &difference);
    if (right < furthest || (right == furthest && unusual > least)) continue;
    if (right == furthest && unusual == least) {
      ties += right == ALL_RIGHT && !same_problem(&p, out);
      if (ties == 1) print_unusual(&p, second, sizeof second);
      continue;
    }
    *out = p;
    ties = 0;
    least = unusual;
    furthest = right;
    if (error && right != ALL_RIGHT) *error = difference;
  }
  sizes_free(&s);
  if (furthest < 0)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: this bundle has no code for the settings '%s'",
                g->settings);
  if (furthest < ALL_RIGHT) return BUNDLE_ERROR_USAGE;
  print_unusual(out, first, sizeof first);
  return !ties ? BUNDLE_OK
               : fail(error, BUNDLE_ERROR_USAGE,
                      "@name: these arguments fit '%s' as well as '%s': add a last argument with "
                      "the values that differ, such as 'NAME=VALUE'",
                      first, second);
}

/* ---- Plans that stay, one for each kind of arguments ---- */

struct shown_tensor {
  int32_t present, rank, code, bits, lanes;
  long long shape[BUNDLE_MAX_RANK], stride[BUNDLE_MAX_RANK];
};

/* Everything that the choice of a plan depends on, and nothing else: compared as bytes. */
struct shown {
  struct shown_tensor tensors[BUNDLE_ARGUMENTS + 1];
  long long ordinal;
  char settings[MOST_SETTINGS];
};

struct kept_plan {
  struct kept_plan *next;
  struct shown shown;
  bundle_plan *plan;
  bundle_call *owner; /* if keeps_data: the first call, which owns the scratch; NULL before it */
  void *stream;
  /* keeps_data: the plan serves only `stream`, because of scratch, symbols or constants; waits:
     calls wait for the kernel, because they copy a constant or an address */
  int keeps_data, waits;
};

struct kept_library {
  struct kept_library *next;
  int ordinal;
  bundle_library *library;
};

/* Kept libraries and plans live as long as the process. */
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_library *kept_libraries;
static struct kept_plan *kept_plans;

static void show(const struct given *g, struct shown *out) {
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++) {
    const struct dl_tensor *t = g->tensors[i];
    struct shown_tensor *shown = &out->tensors[i];
    shown->present = t || g->numbers[i];
    if (!t) continue;
    shown->rank = t->rank, shown->code = t->code, shown->bits = t->bits, shown->lanes = t->lanes;
    for (int d = 0; d < t->rank; d++) shown->shape[d] = t->shape[d];
    strides_of(t, shown->stride);
  }
  out->ordinal = g->ordinal;
  memcpy(out->settings, g->settings, sizeof out->settings);
}

static int keep_library(int ordinal, bundle_library **out, bundle_error *error) {
  for (struct kept_library *k = kept_libraries; k; k = k->next)
    if (k->ordinal == ordinal) return *out = k->library, BUNDLE_OK;
  struct kept_library *k = calloc(1, sizeof *k);
  if (!k) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  k->ordinal = ordinal;
  int status = bundle_open_device(ordinal, &k->library, error);
  if (status) return free(k), status;
  k->next = kept_libraries;
  kept_libraries = k;
  *out = k->library;
  return BUNDLE_OK;
}

static int make_plan(const struct given *g, struct kept_plan *k, bundle_error *error) {
  struct settings set;
  bundle_problem problem = BUNDLE_PROBLEM_INIT;
  bundle_library *library = NULL;
  int status = parse_settings(g->settings, &set, error);
  if (!status) status = find_problem(g, &set, &problem, error);
  if (!status) status = keep_library(g->ordinal, &library, error);
  if (!status) status = bundle_pick(library, &problem, &k->plan, error);
  if (!status && compare(g, &problem, &k->plan->sizes, error) != ALL_RIGHT)
    status = BUNDLE_ERROR_USAGE;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS && !status; i++) {
    const struct argument_sizes *a = &k->plan->sizes.arguments[i];
    const bundle_argument_kind kind = arguments_of_kernel[i].kind;
    const int copied = a->passed && (a->pointer || kind == BUNDLE_CONSTANT);
    k->waits |= copied;
    k->keeps_data |= copied || (a->passed && (a->symbol || kind == BUNDLE_SCRATCH));
  }
  return status;
}

/* A plan that keeps data between launches, such as scratch, serves one stream. */
static int find_plan(const struct given *g, void *stream, struct kept_plan **out,
                     bundle_error *error) {
  struct shown shown;
  show(g, &shown);
  for (struct kept_plan *k = kept_plans; k; k = k->next)
    if (memcmp(&k->shown, &shown, sizeof shown) == 0 && (!k->keeps_data || k->stream == stream))
      return *out = k, BUNDLE_OK;
  struct kept_plan *k = calloc(1, sizeof *k);
  if (!k) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  k->shown = shown;
  k->stream = stream;
  int status = make_plan(g, k, error);
  if (status) {
    bundle_drop(k->plan);
    free(k);
    return status;
  }
  k->next = kept_plans;
  kept_plans = k;
  *out = k;
  return BUNDLE_OK;
}

/* ---- The call ---- */

struct number {
  _Alignas(8) unsigned char bytes[8];
};

static int put_number(const struct ffi_value *value, const struct argument_sizes *a,
                      const char *name, struct number *out, bundle_error *error) {
  const double real = value->type == FFI_REAL ? value->as.real : (double)value->as.whole;
  const float single = (float)real;
  const int bits = 8 * a->bytes - (a->dtype[0] == 'i');
  const int64_t whole = value->as.whole;
  if (strcmp(a->dtype, "f64") == 0) return memcpy(out->bytes, &real, sizeof real), BUNDLE_OK;
  if (strcmp(a->dtype, "f32") == 0) return memcpy(out->bytes, &single, sizeof single), BUNDLE_OK;
  if (a->dtype[0] != 'i' && a->dtype[0] != 'u')
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: argument '%s' has the type %s, which only the C functions can pass: pass "
                "None for the value of the config",
                name, a->dtype);
  if (value->type == FFI_REAL ||
      (a->dtype[0] == 'u' ? whole < 0 : bits < 63 && whole < -((int64_t)1 << bits)) ||
      (bits < 63 && whole >= (int64_t)1 << bits))
    return fail(error, BUNDLE_ERROR_USAGE, "@name: argument '%s' must be a whole number of type %s",
                name, a->dtype);
  memcpy(out->bytes, &whole, sizeof whole);
  return BUNDLE_OK;
}

static int address_of(const struct dl_tensor *t, const char *name, void **out,
                      bundle_error *error) {
  *out = (char *)t->data + t->offset;
  if (t->data && ((uintptr_t)*out % TENSOR_ALIGNMENT == 0 || t->device == ON_HOST))
    return BUNDLE_OK;
  return fail(error, BUNDLE_ERROR_USAGE,
              t->data ? "@name: argument '%s' begins at %p, which is no multiple of 16 bytes: pass "
                        "a copy"
                      : "@name: argument '%s' has no memory (%p)",
              name, *out);
}

struct prepared {
  void *arguments[BUNDLE_ARGUMENTS + 1];
  struct number numbers[BUNDLE_ARGUMENTS + 1];
  address staged[BUNDLE_ARGUMENTS + 1]; /* device memory in place of the host's; 0: none */
  size_t bytes[BUNDLE_ARGUMENTS + 1];
};

static size_t bytes_of(const struct dl_tensor *t, const struct argument_sizes *a) {
  long long stride[BUNDLE_MAX_RANK], last = 0;
  strides_of(t, stride);
  for (int i = 0; i < t->rank; i++) last += (t->shape[i] - 1) * stride[i];
  return (size_t)((last + 1) * a->bytes);
}

/* Copies a tensor of the host to the device; an output too, because it may have gaps. */
static int stage(const struct kept_plan *k, const struct dl_tensor *t, size_t at,
                 struct prepared *out, bundle_error *error) {
  const struct driver *driver = &k->plan->library->driver;
  const address from = (address)(uintptr_t)out->arguments[at];
  out->bytes[at] = bytes_of(t, &k->plan->sizes.arguments[at]);
  int status = CALL(driver, allocate, (&out->staged[at], out->bytes[at]), error);
  if (!status) status = CALL(driver, copy, (out->staged[at], from, out->bytes[at], NULL), error);
  out->arguments[at] = (void *)(uintptr_t)out->staged[at];
  return status;
}

static int prepare(const struct kept_plan *k, const struct given *g, struct prepared *out,
                   bundle_error *error) {
  int status = BUNDLE_OK;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS && !status; i++) {
    const struct argument_sizes *a = &k->plan->sizes.arguments[i];
    const bundle_argument_kind kind = arguments_of_kernel[i].kind;
    const char *name = arguments_of_kernel[i].name;
    if (g->tensors[i]) status = address_of(g->tensors[i], name, &out->arguments[i], error);
    if (!status && g->tensors[i] && g->on_host && kind != BUNDLE_CONSTANT)
      status = stage(k, g->tensors[i], i, out, error);
    if (g->numbers[i]) {
      status = put_number(g->numbers[i], a, name, &out->numbers[i], error);
      out->arguments[i] = out->numbers[i].bytes;
    }
    if (kind == BUNDLE_SCRATCH && k->owner)
      out->arguments[i] = (void *)(uintptr_t)k->owner->owned[i].device;
  }
  return status;
}

static int fetch_outputs(const struct kept_plan *k, const struct given *g,
                         const struct prepared *prepared, bundle_error *error) {
  const struct driver *driver = &k->plan->library->driver;
  int status = BUNDLE_OK;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS && !status; i++) {
    const bundle_argument_kind kind = arguments_of_kernel[i].kind;
    void *to = NULL;
    if (!prepared->staged[i] || (kind != BUNDLE_OUTPUT && kind != BUNDLE_INOUT)) continue;
    status = address_of(g->tensors[i], "", &to, error);
    if (!status)
      status = CALL(driver, copy,
                    ((address)(uintptr_t)to, prepared->staged[i], prepared->bytes[i], NULL), error);
  }
  return status ? status : CALL(driver, synchronize, (), error);
}

/* The caller has entered the library's context. */
static int run_plan(struct kept_plan *k, const struct given *g, void *stream, bundle_error *error) {
  const struct driver *driver = &k->plan->library->driver;
  struct prepared prepared;
  bundle_call *call = NULL;
  memset(&prepared, 0, sizeof prepared);
  int status = prepare(k, g, &prepared, error);
  if (!status) status = bundle_bind(k->plan, prepared.arguments, BUNDLE_ARGUMENTS, &call, error);
  if (!status) status = bundle_launch(call, stream, error);
  if (!status && k->waits) status = CALL(driver, synchronize, (), error);
  if (!status && g->on_host) status = fetch_outputs(k, g, &prepared, error);
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++)
    if (prepared.staged[i]) driver->free(prepared.staged[i]);
  if (!status && k->keeps_data && !k->owner)
    k->owner = call;
  else
    bundle_release(call);
  return status;
}

/* ---- The functions of TVM-FFI that are used ---- */

static void *find_function(const char *name) {
  void *const all = dlopen(NULL, RTLD_LAZY), *found = all ? dlsym(all, name) : NULL;
  if (all) dlclose(all);
#ifdef RTLD_NOLOAD
  if (!found) {
    void *const library = dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD);
    found = library ? dlsym(library, name) : NULL;
    if (library) dlclose(library);
  }
#endif
  return found;
}

/* Returns the caller's current stream of the device. The function is searched for once, because a
   search takes longer than a launch. */
static void *current_stream(int ordinal) {
  static void *found;
  static int searched;
  void *(*function)(int32_t device, int32_t ordinal);
  if (!searched) found = find_function("TVMFFIEnvGetStream");
  searched = 1;
  if (!found) return NULL;
  memcpy(&function, &found, sizeof found);
  return function(ON_CUDA, ordinal);
}

static void raise_error(const bundle_error *error) {
  void (*function)(const char *kind, const char *message);
  void *const found = find_function("TVMFFIErrorSetRaisedFromCStr");
  if (!found) return;
  memcpy(&function, &found, sizeof found);
  function(error->status == BUNDLE_ERROR_USAGE    ? "ValueError"
           : error->status == BUNDLE_ERROR_MEMORY ? "MemoryError"
                                                  : "RuntimeError",
           error->message);
}

static int call_kernel(const struct given *g, bundle_error *error) {
  struct kept_plan *k = NULL;
  void *const stream = g->on_host ? NULL : current_stream(g->ordinal);
  int status = find_plan(g, stream, &k, error);
  if (!status) status = enter(k->plan->library, error);
  return status ? status : leave(k->plan->library, run_plan(k, g, stream, error));
}

int __tvm_ffi_bundle(void *self, const struct ffi_value *values, int32_t count,
                     struct ffi_value *result);

/* Returns 0, or -1 after raising an error. */
int __tvm_ffi_bundle(void *self, const struct ffi_value *values, int32_t count,
                     struct ffi_value *result) {
  bundle_error error = {BUNDLE_OK, ""};
  struct given given;
  (void)self;
  memset(&given, 0, sizeof given);
  memset(result, 0, sizeof *result);
  int status = read_arguments(values, count, &given, &error);
  if (!status) status = locate(&given, &error);
  if (!status) {
    pthread_mutex_lock(&kept_lock);
    status = call_kernel(&given, &error);
    pthread_mutex_unlock(&kept_lock);
  }
  if (!status) return 0;
  raise_error(&error);
  return -1;
}
