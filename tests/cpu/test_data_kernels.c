/* The data kernels, run on the cpu device, compute what the host computes: the same bytes for
   fills; for outputs with planted faults the same verdict, text and error. */
#include <math.h>

#include "base/hash.h"
#include "opened.h"
#include "runtime/devices.h"
#include "runtime/plan.h"
#include "tests/testing.h"
#include "tune/data/data_proof.h"
#include "tune/data/dataset_buffers.h"
#include "tune/data/elements.h"

struct fixture {
  struct toolkit *toolkit;
  struct device *device;
  struct compiled compiled[DATA_PARTS];
  struct data_kernels *kernels;
};

static int set_up(void **state) {
  static const struct toolkit_options places;
  static struct fixture fixture;
  struct fixture *f = &fixture;
  struct kernel_spec spec;
  const char *entries[KERNEL_MAX_ENTRIES];
  WORKS(toolkit_open(&places, &f->toolkit, &err));
  WORKS(cpu_device_ops.open(&(const struct device_options){.toolkit = f->toolkit, .embedded = true},
                            &f->device, &err));
  const struct compiled *compiled[DATA_PARTS];
  for (int part = 0; part < DATA_PARTS; part++) {
    WORKS(data_kernels_spec(part, &spec, &err));
    const struct compile_request request = {.toolkit = f->toolkit,
                                            .name = spec.variant,
                                            .source = spec.source,
                                            .arch = "cpu",
                                            .entries = entries,
                                            .entry_count = plan_entries(&spec, entries)};
    WORKS(cpu_device_ops.compile(&request, &f->compiled[part], &err));
    kernel_spec_free(&spec);
    compiled[part] = &f->compiled[part];
  }
  WORKS(data_kernels_open(f->device, compiled, &f->kernels, &err));
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  data_kernels_close(f->kernels);
  for (int part = 0; part < DATA_PARTS; part++) compiled_free(&f->compiled[part]);
  f->device->ops->close(f->device);
  toolkit_close(f->toolkit);
  return 0;
}

TEST(they_prove_themselves) {
  struct fixture *f = *state;
  bool same = false;
  WORKS(data_proof(f->device, f->kernels, &same, &err));
  assert_true(same);
}

/* ---- Layouts -------------------------------------------------------------------------------- */

/* Returns an argument of up to 4 dimensions: packed, with a pitch, column-major, or column-major
   with a pitch. */
static struct kernel_argument argument_of(const struct dtype *dtype, int rank, bool column_major,
                                          int64_t pitch) {
  static const int64_t sizes[] = {7, 5, 3, 6};
  struct kernel_argument a = {
      .name = "C", .kind = CUGEN_ARGUMENT_OUTPUT, .dtype = dtype, .rank = rank};
  int64_t stride = 1;
  for (int i = 0; i < rank; i++) {
    const int at = column_major ? i : rank - 1 - i;
    a.shape[at] = sizes[at];
    a.stride[at] = stride;
    stride *= sizes[at] + (i == 0 ? pitch : 0);
  }
  a.elements = stride;
  return a;
}

/* Returns an argument with the layout: tiles, a pad or a swizzle. */
static struct kernel_argument argument_by(const struct dtype *dtype, int rank, int how) {
  static const char *const words[][KERNEL_MAX_RANK] = {
      {"row/4+3", "row/2x4:col+3", "row/4x2x2:120", "col/2x2x2x4/1x2x2x2:3120+1"},
      {"row^1,0,1", "col^1,1,2", "201^1,0,2", "row/2x2x2x2:col^2,1,2"}};
  struct kernel_argument a = argument_of(dtype, rank, false, 0);
  struct layout layout;
  strcpy(a.layout, words[how][rank - 1]);
  WORKS(layout_read(a.layout, rank, &layout, &err));
  WORKS(layout_of_shape(&layout, a.shape, dtype->bytes, &a.map, &err));
  memset(a.stride, 0, sizeof a.stride);
  a.elements = a.map.size;
  return a;
}

/* Returns an argument that is every second element of a larger array, up to the last one. */
static struct kernel_argument every_second(const struct dtype *dtype, int rank) {
  struct kernel_argument a = argument_of(dtype, rank, true, 1);
  for (int i = 0; i < rank; i++) a.stride[i] *= 2;
  a.elements = 1;
  for (int i = 0; i < rank; i++) a.elements += (a.shape[i] - 1) * a.stride[i];
  return a;
}

typedef void each(struct fixture *f, const struct kernel_argument *a);

static void for_each_layout(struct fixture *f, each *run) {
  for (size_t t = 0; t < DTYPE_COUNT; t++)
    for (int rank = 1; rank <= KERNEL_MAX_RANK; rank++)
      for (int how = 0; how < 7; how++) {
        struct kernel_argument a =
            how < 4   ? argument_of(&dtype_table[t], rank, how / 2, rank > 1 ? how % 2 * 3 : 0)
            : how < 6 ? argument_by(&dtype_table[t], rank, how - 4)
                      : every_second(&dtype_table[t], rank);
        run(f, &a);
      }
}

/* ---- Fills ---------------------------------------------------------------------------------- */

static void fills(struct fixture *f, const struct kernel_argument *given) {
  struct kernel_argument a = *given;
  const size_t bytes = (size_t)kernel_argument_bytes(&a);
  char *here = malloc(bytes), *there = malloc(bytes);
  for (int fill = 0; fill < FILL_KIND_COUNT; fill++) {
    a.fill = (enum fill_kind)fill;
    memset(there, 0xff, bytes); /* also between the rows */
    element_fill(&a, 5, 2, here);
    WORKS(data_kernels_fill(f->kernels, &a, 5, 2, there, &err));
    if (memcmp(here, there, bytes) != 0) fail_msg("%s %s", a.dtype->name, fill_kind_names[fill]);
  }
  free(here);
  free(there);
}

TEST(fills_are_the_same_bytes) {
  for_each_layout(*state, fills);
}

/* ---- Digests -------------------------------------------------------------------------------- */

static uint64_t digest(struct fixture *f, const void *from, size_t bytes) {
  const struct data_tally *tallies;
  WORKS(data_kernels_begin(f->kernels, &err));
  WORKS(data_kernels_digest(f->kernels, from, bytes, &err));
  WORKS(data_kernels_await(f->kernels, &tallies, &err));
  return tallies[0].digest;
}

TEST(any_byte_that_changes_shows) {
  struct fixture *f = *state;
  unsigned char data[8 * 40 + 5];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7);
  for (size_t bytes = 0; bytes <= sizeof data; bytes += 13) {
    const uint64_t was = digest(f, data, bytes);
    for (size_t i = 0; i < bytes; i++) {
      data[i] ^= 0x80;
      assert_true(digest(f, data, bytes) != was);
      data[i] ^= 0x80;
    }
    assert_true(digest(f, data, bytes) == was);
  }
  memset(data, 0, sizeof data); /* zeros, for which moved or additional zeros would go unnoticed */
  assert_true(digest(f, data, 64) != digest(f, data, 72));
  data[0] = 1;
  const uint64_t first = digest(f, data, 64);
  data[0] = 0, data[8] = 1;
  assert_true(digest(f, data, 64) != first);
}

static uint64_t bits(struct fixture *f, const struct kernel_argument *a, const void *from) {
  const struct data_tally *tallies;
  WORKS(data_kernels_begin(f->kernels, &err));
  WORKS(data_kernels_bits(f->kernels, a, from, &err));
  WORKS(data_kernels_await(f->kernels, &tallies, &err));
  assert_true(tallies[0].digest == element_digest(a, from));
  return tallies[0].digest;
}

/* The digest is of the elements alone, whatever their order in memory and whatever lies between
   them. */
static void bits_of(struct fixture *f, const struct kernel_argument *a) {
  struct kernel_argument packed = argument_of(a->dtype, a->rank, false, 0);
  const int width = a->dtype->bytes;
  char *data = calloc(1, (size_t)kernel_argument_bytes(a)),
       *same = calloc(1, (size_t)kernel_argument_bytes(&packed));
  for (int64_t i = 0; i < element_count(a); i++) {
    /* NaNs and negative zeros among them */
    const uint64_t value = (uint64_t)i * 0x9e3779b97f4a7c15u;
    memcpy(data + element_offset(a, i) * width, &value, (size_t)width);
    memcpy(same + element_offset(&packed, i) * width, &value, (size_t)width);
  }
  const uint64_t was = bits(f, a, data);
  assert_true(bits(f, &packed, same) == was);
  data[element_offset(a, element_count(a) - 1) * width + width - 1] ^= (char)0x80;
  assert_true(bits(f, a, data) != was);
  free(data);
  free(same);
}

TEST(digests_are_of_the_elements) {
  for_each_layout(*state, bits_of);
}

/* ---- What a generator writes ---------------------------------------------------------------- */

/* Returns how many elements the argument's type cannot hold, as the host counts them. */
static int narrow_here(const struct kernel_argument *a, const void *wide, void *to) {
  int wrong = 0;
  memset(to, 0xff, (size_t)kernel_argument_bytes(a));
  for (int64_t i = 0; i < element_count(a); i++) {
    const struct value value = value_float(element_load(a->dtype->wide, wide, i));
    const int64_t at = element_offset(a, i);
    if (a->dtype->bytes == 8)
      memcpy((char *)to + 8 * at, (const char *)wide + 8 * i, 8);
    else
      wrong += !element_put(a->dtype, to, at, &value);
  }
  return wrong;
}

/* Plants numbers among ordinary ones of which the argument's type cannot hold all. */
static void narrowings(struct fixture *f, const struct kernel_argument *a) {
  static const double odd[] = {0,   NAN, INFINITY, -INFINITY, -1,   0.5,   255,   256,
                               448, 449, 65504,    1e5,       1e10, 1e300, 5e-324};
  const struct dtype *wide = a->dtype->wide;
  const size_t bytes = (size_t)kernel_argument_bytes(a);
  char from[8 * 1000], *here = malloc(bytes), *there = malloc(bytes);
  for (size_t i = 0; i <= sizeof odd / sizeof *odd; i++) {
    const struct data_tally *tallies;
    const bool poisoned = i == sizeof odd / sizeof *odd;
    for (int64_t k = 0; k < element_count(a); k++) element_store(wide, from, k, (double)(k % 13));
    if (!poisoned) element_store(wide, from, 5, odd[i]);
    if (poisoned) memset(from + 40, 0x5a, 8);
    const int wrong = narrow_here(a, from, here);
    WORKS(data_kernels_begin(f->kernels, &err));
    WORKS(data_kernels_narrow(f->kernels, a, from, 0x5a, there, &err));
    WORKS(data_kernels_await(f->kernels, &tallies, &err));
    /* a number just beyond the end of a type without infinities is the host's to round */
    const bool doubtful = a->dtype->kind == DTYPE_SMALL && !a->dtype->format.infinities;
    if (poisoned   ? !tallies[0].wrong
        : doubtful ? tallies[0].wrong < (unsigned)wrong
                   : tallies[0].wrong != (unsigned)wrong)
      fail_msg("%s, odd number %zu: %d wrong, on the device %llu", a->dtype->name, i, wrong,
               tallies[0].wrong);
    if (!tallies[0].wrong && memcmp(here, there, bytes) != 0)
      fail_msg("%s, odd number %zu", a->dtype->name, i);
  }
  free(here);
  free(there);
}

TEST(numbers_become_what_the_host_makes_of_them) {
  for_each_layout(*state, narrowings);
}

/* ---- What a kernel may change --------------------------------------------------------------- */

enum { CHANGED = 100 };

static bool holds(const struct memory *memory, const float *wanted) {
  return memcmp(memory->device, wanted, CHANGED * sizeof *wanted) == 0;
}

/* Each buffer set is restored by itself, and never copied from a set that a kernel has written
   to. */
TEST(what_a_kernel_changes_is_written_anew) {
  struct fixture *f = *state;
  struct kernel_argument a = argument_of(&dtype_table[DTYPE_f32], 1, false, 0);
  a.kind = CUGEN_ARGUMENT_INOUT, a.data = DATA_FILE;
  a.shape[0] = a.elements = CHANGED;
  struct memory sets[2] = {{0}}, kept = {.device = NULL};
  struct dataset d = {
      .spec = {.arguments = &a, .argument_count = 1}, .seed = 1, .sets = {&sets[0], &sets[1]}};
  uint64_t digests[1];
  float values[CHANGED];
  for (int i = 0; i < CHANGED; i++) values[i] = (float)i;
  const size_t offset = dataset_data_offset(&d.spec, 0);
  d.set_count = 2, d.kept = &kept, d.digests = digests, d.kernels = f->kernels;
  d.shared = calloc(1, offset + sizeof values);
  memcpy(d.shared + offset, values, sizeof values);
  digests[0] = digest(f, values, sizeof values);
  for (int s = 0; s < 2; s++) {
    sets[s].device = malloc(sizeof values);
    memset(sets[s].device, 0x55 + s, sizeof values);
  }
  WORKS(dataset_keep(f->device, &d, &err));
  assert_true(holds(&kept, values));
  WORKS(dataset_renew(f->device, &d, 1, &err));
  assert_true(holds(&sets[1], values));
  assert_int_equal(*(unsigned char *)sets[0].device, 0x55);
  memset(kept.device, 0x77, 4);
  WORKS(dataset_write_input(f->device, &d, 0, &sets[0], &err));
  assert_true(holds(&sets[0], values));
  assert_true(holds(&kept, values));
  f->device->ops->free(f->device, &kept);
  for (int s = 0; s < 2; s++) free(sets[s].device);
  free(d.shared);
}

/* The changed input is named, whatever arguments precede it, and is restored. */
TEST(changed_inputs_are_told_apart) {
  struct fixture *f = *state;
  const struct kernel_argument output = argument_of(&dtype_table[DTYPE_f32], 1, false, 0);
  struct kernel_argument arguments[] = {output, output, output};
  struct memory set[3] = {{0}};
  uint64_t digests[3] = {0};
  struct dataset d = {.spec = {.arguments = arguments, .argument_count = 3},
                      .seed = 1,
                      .sets = {set},
                      .set_count = 1,
                      .digests = digests,
                      .kernels = f->kernels};
  arguments[1].name = "A", arguments[2].name = "B";
  for (size_t i = 0; i < 3; i++) {
    const size_t bytes = (size_t)kernel_argument_bytes(&arguments[i]);
    arguments[i].kind = i ? CUGEN_ARGUMENT_INPUT : CUGEN_ARGUMENT_OUTPUT;
    set[i].device = malloc(bytes);
    element_fill(&arguments[i], d.seed, i, set[i].device);
    digests[i] = digest(f, set[i].device, bytes);
  }
  WORKS(dataset_restore(f->device, &d, &err));
  ((float *)set[2].device)[3] = 7;
  FAILS(dataset_restore(f->device, &d, &err), CUGEN_ERROR_WRONG, "wrote to input B: B[3] is 7");
  WORKS(dataset_restore(f->device, &d, &err));
  for (size_t i = 0; i < 3; i++) free(set[i].device);
}

/* ---- Comparisons ---------------------------------------------------------------------------- */

struct verdict {
  int status;
  double error;
  cugen_error why;
};

static struct verdict judge_here(const struct kernel_argument *a, const void *got, const void *want,
                                 const struct samples *samples) {
  struct verdict v = {.error = 0};
  v.status = verify_output(a, got, want, samples, &v.error, &v.why);
  return v;
}

static struct verdict judge_there(struct fixture *f, const struct kernel_argument *a,
                                  const char *got, const char *want,
                                  const struct samples *samples) {
  struct verdict v = {.error = 0};
  const struct data_tally *tallies;
  WORKS(data_kernels_begin(f->kernels, &err));
  WORKS(data_kernels_compare(f->kernels, a, got, want, samples->flat, samples->count, &err));
  WORKS(data_kernels_await(f->kernels, &tallies, &err));
  const struct verify_tally tally = data_tally_read(&tallies[0]);
  const int64_t first = tally.wrong ? tally.first : 0;
  v.status = verify_judge(a, &tally, samples,
                          got + element_offset(a, samples_flat(samples, first)) * a->dtype->bytes,
                          want + first * a->dtype->wide->bytes, &v.error, &v.why);
  return v;
}

static bool same_error(double x, double y, bool norm) {
  /* the data kernels add up in another order */
  if (norm && isfinite(x) && isfinite(y)) return fabs(x - y) <= 1e-12 * fmax(fabs(x), fabs(y));
  return x == y;
}

static void compare(struct fixture *f, const struct kernel_argument *a, const void *got,
                    const void *want, const struct samples *samples) {
  const struct verdict here = judge_here(a, got, want, samples),
                       there = judge_there(f, a, got, want, samples);
  if (here.status != there.status || !same_error(here.error, there.error, a->norm > 0) ||
      (here.status && strcmp(here.why.message, there.why.message) != 0))
    fail_msg("%s, tolerance %g, norm %g: %d %.17g '%s', on the device %d %.17g '%s'",
             a->dtype->name, a->tolerance, a->norm, here.status, here.error,
             here.status ? here.why.message : "", there.status, there.error,
             there.status ? there.why.message : "");
}

/* Plants numbers that are hard to compare. */
static void plant(const struct kernel_argument *a, void *got, void *want, uint64_t *seed) {
  static const double odd[] = {NAN,   INFINITY, -INFINITY, 0.0,   -0.0,
                               1e300, 5e-324,   3.0,       -1e10, 1e-3};
  const int64_t flat = (int64_t)(random_next(seed) % (uint64_t)element_count(a));
  const double number = odd[random_next(seed) % (sizeof odd / sizeof *odd)];
  if (!a->dtype->floating && isnan(number)) return;
  if (random_next(seed) % 3) element_store(a->dtype, got, element_offset(a, flat), number);
  if (random_next(seed) % 3 == 0) element_store(a->dtype->wide, want, flat, number);
}

static void comparisons(struct fixture *f, const struct kernel_argument *given) {
  static const double tolerances[] = {0, 1e-3, 0.1, 1e300}, norms[] = {0, 1e-4};
  struct kernel_argument a = *given;
  const int64_t count = element_count(&a);
  const size_t bytes = (size_t)kernel_argument_bytes(&a);
  uint64_t seed = 17;
  char *got = malloc(bytes), *want = malloc((size_t)count * 8);
  int64_t *flat = malloc((size_t)count * sizeof *flat);
  for (int round = 0; round < 24; round++) {
    struct samples samples = {.count = count};
    a.tolerance = tolerances[round % 4];
    a.norm = norms[round / 4 % 2];
    element_fill(&a, (uint64_t)round, 0, got);
    for (int64_t i = 0; i < count; i++) {
      element_widen(a.dtype, got, element_offset(&a, i), want, i);
      if (a.dtype->floating) ((double *)want)[i] *= 1 + 1e-4 * (double)(random_next(&seed) % 8);
    }
    for (int i = 0; i < round % 5; i++) plant(&a, got, want, &seed);
    compare(f, &a, got, want, &samples);
    for (samples.count = 0; samples.count < count / 2; samples.count++)
      flat[samples.count] = samples.count * 3; /* some samples lie beyond the output */
    samples.flat = flat;
    compare(f, &a, got, want, &samples);
  }
  free(got);
  free(want);
  free(flat);
}

TEST(verdicts_are_the_same) {
  for_each_layout(*state, comparisons);
}

/* ---- Padding -------------------------------------------------------------------------------- */

static void paddings(struct fixture *f, const struct kernel_argument *a) {
  const size_t bytes = (size_t)kernel_argument_bytes(a);
  unsigned char *got = malloc(bytes);
  uint64_t seed = 3;
  for (int round = 0; round < 20; round++) {
    const struct data_tally *tallies;
    cugen_error err = {0}, there = {0}, here = {0};
    memset(got, 0x5a, bytes);
    for (int i = 0; i < round % 3; i++) got[random_next(&seed) % bytes] = 1;
    check(data_kernels_begin(f->kernels, &err), &err);
    check(data_kernels_gaps(f->kernels, a, got, 0x5a, &err), &err);
    check(data_kernels_await(f->kernels, &tallies, &err), &err);
    int status = tallies[0].first == UINT64_MAX
                     ? CUGEN_OK
                     : verify_gap_written(a, (int64_t)tallies[0].first, &there);
    assert_int_equal(status, verify_padding(a, got, 0x5a, &here));
    if (status) assert_string_equal(there.message, here.message);
  }
  free(got);
}

TEST(writes_into_padding_are_found) {
  for_each_layout(*state, paddings);
}

TEST(any_byte_of_a_range_is_found) {
  struct fixture *f = *state;
  unsigned char data[100];
  memset(data, 0, sizeof data);
  for (int64_t begin = 0; begin < 9; begin++)
    for (int64_t at = begin; at < 90; at++) {
      const struct verify_gaps where = {.rows = 1, .width = 90 - begin, .limit = 90 - begin};
      const struct data_tally *tallies;
      cugen_error err = {0};
      data[at] = 1;
      data[95] = 1;
      check(data_kernels_begin(f->kernels, &err), &err);
      check(data_kernels_find(f->kernels, data + begin, where, 0, &err), &err);
      data[at] = 0;
      check(data_kernels_await(f->kernels, &tallies, &err), &err);
      assert_int_equal(tallies[0].first, at - begin);
    }
  const struct verify_gaps cut = {.rows = 2, .pitch = 50, .skip = 40, .width = 10, .limit = 94};
  const struct data_tally *tallies;
  cugen_error err = {0};
  check(data_kernels_begin(f->kernels, &err), &err);
  /* byte 95 lies behind the limit */
  check(data_kernels_find(f->kernels, data, cut, 0, &err), &err);
  data[93] = 1;
  check(data_kernels_find(f->kernels, data, cut, 0, &err), &err);
  check(data_kernels_await(f->kernels, &tallies, &err), &err);
  assert_true(tallies[0].first == UINT64_MAX);
  assert_int_equal(tallies[1].first, 93);
}

/* ---- Errors --------------------------------------------------------------------------------- */

TEST(errors_are_summarised) {
  struct fixture *f = *state;
  const double errors[] = {0.5, -1, 0, -1.5, NAN, 2, INFINITY};
  const struct data_tally *tallies;
  WORKS(data_kernels_begin(f->kernels, &err));
  for (int64_t count = 0; count <= 7; count++)
    WORKS(data_kernels_errors(f->kernels, errors, count, &err));
  WORKS(data_kernels_await(f->kernels, &tallies, &err));
  const double worst[] = {0, 0.5, 1, 1, 1.5, INFINITY, INFINITY, INFINITY};
  const int64_t wrong[] = {0, 0, 0, 0, 1, 2, 3, 4};
  for (int i = 0; i < 8; i++) {
    const struct verify_tally tally = data_tally_read(&tallies[i]);
    assert_true(tally.worst == worst[i]);
    assert_int_equal(tally.wrong, wrong[i]);
    assert_int_equal(tally.first, wrong[i] ? 3 : -1);
  }
}

/* ---- What a reference leaves ---------------------------------------------------------------- */

TEST(unwritten_results_are_found) {
  struct fixture *f = *state;
  /* 35 elements */
  const struct kernel_argument a = argument_of(&dtype_table[DTYPE_f32], 2, false, 0);
  uint64_t results[40] = {0};
  int64_t flat[40];
  for (int64_t i = 0; i < 40; i++) flat[i] = 39 - i; /* the first five samples lie beyond it */
  for (size_t at = 0; at < 40; at++) {
    const struct data_tally *tallies;
    results[at] = UINT64_MAX;
    WORKS(data_kernels_begin(f->kernels, &err));
    WORKS(data_kernels_unwritten(f->kernels, &a, results, NULL, 35, 0xff, &err));
    WORKS(data_kernels_unwritten(f->kernels, &a, results, flat, 40, 0xff, &err));
    WORKS(data_kernels_unwritten(f->kernels, &a, results, NULL, 35, 0x5a, &err));
    WORKS(data_kernels_await(f->kernels, &tallies, &err));
    assert_true(tallies[0].first == (at < 35 ? at : UINT64_MAX));
    assert_true(tallies[1].first == (at >= 5 ? at : UINT64_MAX));
    assert_true(tallies[2].first == UINT64_MAX);
    results[at] = 0;
  }
}

/* ---- Guards --------------------------------------------------------------------------------- */

enum { GUARD = 64, GUARDED = 4, SCALAR = 1 };

static const uint64_t guard_pattern = UINT64_C(0x7fff7fff7fff7fff);

static bool guards_beside(const struct memory *memory, struct memory_guards *out) {
  char *const at = memory->device;
  *out = (struct memory_guards){.before = at - GUARD,
                                .after = at + memory->bytes,
                                .before_bytes = GUARD,
                                .after_bytes = GUARD,
                                .pattern = guard_pattern};
  return true;
}

/* Returns whether the device finds the guards of all arguments intact. */
static bool are_whole(struct fixture *f, struct dataset *d) {
  const struct data_tally *tallies;
  size_t asked;
  WORKS(data_kernels_begin(f->kernels, &err));
  WORKS(dataset_ask_guards(d, &asked, &err));
  WORKS(data_kernels_await(f->kernels, &tallies, &err));
  assert_int_equal(asked, 2 * (GUARDED - 1)); /* a scalar has no buffer */
  return dataset_are_whole(tallies, asked);
}

/* A byte that changes beside any argument's buffer, on either side, is found there. */
TEST(each_guard_of_each_argument_is_asked) {
  struct fixture *f = *state;
  const struct device_ops *const shipped = f->device->ops;
  static struct device_ops ops; /* outlives a failure */
  struct kernel_argument arguments[GUARDED];
  struct memory set[GUARDED] = {{0}};
  struct dataset d = {.spec = {.arguments = arguments, .argument_count = GUARDED},
                      .sets = {set},
                      .set_count = 1,
                      .kernels = f->kernels};
  uint64_t room[GUARDED][3 * GUARD / 8];
  ops = *shipped;
  ops.guards = guards_beside;
  f->device->ops = &ops;
  for (size_t i = 0; i < GUARDED; i++) {
    arguments[i] = argument_of(&dtype_table[DTYPE_f32], i == SCALAR ? 0 : 1, false, 0);
    for (size_t word = 0; word < 3 * GUARD / 8; word++) room[i][word] = guard_pattern;
    set[i] = (struct memory){.device = (char *)room[i] + GUARD, .bytes = GUARD};
  }
  assert_true(are_whole(f, &d));
  for (size_t i = 0; i < GUARDED; i++)
    for (int at = -1; at <= GUARD && i != SCALAR; at += GUARD + 1) {
      unsigned char *byte = (unsigned char *)set[i].device + at;
      *byte ^= 0x55;
      assert_false(are_whole(f, &d));
      *byte ^= 0x55;
    }
  f->device->ops = shipped;
}

ALL_TESTS_WITH(set_up, tear_down);
