/* Compares outputs with the reference; see verify.h. An element g is right for the reference's w if

     |g - w| <= tolerance * max(1, |w|),

   which is relative for large numbers and absolute for small ones. The reported error is the
   largest quotient of the two sides. If the config asks for a norm, the output must also satisfy
   ||g - w|| <= norm * ||w|| in the Euclidean norm, as bounds of numerical linear algebra are
   written (Higham, "Accuracy and Stability of Numerical Algorithms", chapter 3).

   Invariants:
   - A NaN on either side is wrong, whatever the tolerance: comparisons are written so that they
     fail for a NaN.
   - Integers are compared exactly, up to 64 bits; f64 holds only 53.
   - Every element is compared unless that costs too much. Then samples are compared: up to
     MOST_EDGE_SAMPLES elements at the first or last index of a dimension, where tiles end, and
     RANDOM_SAMPLES elements chosen by the seed. Outputs of one shape are compared at the same
     places. */
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "parallel_for.h"

/* ---- Samples -------------------------------------------------------------------------------- */

enum { RANDOM_SAMPLES = 1 << 14, MOST_EDGE_SAMPLES = 1 << 20 };

/* Adds the flat indices of the first `most` elements whose coordinate in dimension d is `at`. */
static void add_side(const struct kernel_argument *output, int d, int64_t at, int64_t most,
                     struct samples *out) {
  const int64_t shape = output->shape[d], count = element_count(output) / shape;
  int64_t inner = 1;
  for (int i = d + 1; i < output->rank; i++) inner *= output->shape[i];
  for (int64_t i = 0; i < count && i < most; i++)
    out->flat[out->count++] = (i / inner * shape + at) * inner + i % inner;
}

/* Adds the flat indices whose coordinate in some dimension is the first or the last, until `out`
   has `most` indices. The longest dimensions come first, because their sides have the fewest
   elements: what a side leaves of its share is shared by the others. */
static void add_edges(const struct kernel_argument *output, int64_t most, struct samples *out) {
  bool done[KERNEL_MAX_RANK] = {false};
  for (int left = 2 * output->rank; left > 0; left -= 2) {
    int longest = -1;
    for (int d = 0; d < output->rank; d++)
      if (!done[d] && (longest < 0 || output->shape[d] > output->shape[longest])) longest = d;
    done[longest] = true;
    add_side(output, longest, 0, (most - out->count) / left, out);
    add_side(output, longest, output->shape[longest] - 1, (most - out->count) / (left - 1), out);
  }
}

static bool same_shape(const struct kernel_argument *a, const struct kernel_argument *b) {
  return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* Adds an output's samples: all elements of a small output, otherwise edges and random elements. */
static void add_output(const struct kernel_argument *output, uint64_t *seed, struct samples *out) {
  const int64_t count = element_count(output);
  if (count <= RANDOM_SAMPLES) {
    for (int64_t i = 0; i < count; i++) out->flat[out->count++] = i;
    return;
  }
  int64_t most = out->count + MOST_EDGE_SAMPLES;
  add_edges(output, most, out);
  for (int i = 0; i < RANDOM_SAMPLES; i++)
    out->flat[out->count++] = (int64_t)(random_next(seed) % (uint64_t)count);
}

static int by_index(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int samples_choose(const struct kernel_argument *const *outputs, size_t count, double flops,
                   uint64_t seed, struct samples *out, cugen_error *err) {
  int64_t most = 0;
  for (size_t i = 0; i < count; i++)
    if (element_count(outputs[i]) > most) most = element_count(outputs[i]);
  *out = (struct samples){.count = most};
  if ((flops <= VERIFY_FULL_FLOPS && most <= VERIFY_FULL_ELEMENTS) || most <= RANDOM_SAMPLES)
    return CUGEN_OK;
  out->flat = malloc(count * (MOST_EDGE_SAMPLES + RANDOM_SAMPLES) * sizeof *out->flat);
  if (!out->flat) return error_memory(err);
  out->count = 0;
  for (size_t i = 0; i < count; i++) {
    size_t same = 0;
    while (!same_shape(outputs[same], outputs[i])) same++;
    if (same == i) add_output(outputs[i], &seed, out);
  }
  qsort(out->flat, (size_t)out->count, sizeof *out->flat, by_index);
  const int64_t all = out->count;
  out->count = 0;
  for (int64_t i = 0; i < all; i++) /* removes duplicates */
    if (i == 0 || out->flat[i] != out->flat[out->count - 1]) out->flat[out->count++] = out->flat[i];
  return CUGEN_OK;
}

int64_t samples_flat(const struct samples *samples, int64_t i) {
  return samples->flat ? samples->flat[i] : i;
}

bool samples_due(const struct samples *samples, int64_t i, const struct kernel_argument *output) {
  return samples_flat(samples, i) < element_count(output);
}

void samples_free(struct samples *samples) {
  free(samples->flat);
  *samples = (struct samples){0};
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* Adds a difference to the tally. A NaN on either side gives infinity, because the comparison is
   written so that a NaN cannot pass. The quotient is rounded as in the functions for rows below and
   in data_kernels.cu: divided by the size, then by the tolerance. */
static void count_difference(struct verify_tally *tally, int64_t i, double difference, double want,
                             double tolerance) {
  tally->errors += difference * difference;
  tally->wanted += want * want;
  if (difference == 0.0) return;
  const double size = fabs(want) > 1.0 ? fabs(want) : 1.0, error = fabs(difference) / size,
               r = error / tolerance;
  if (!(r <= tally->worst)) tally->worst = r >= 0.0 ? r : (double)INFINITY;
  if (error <= tolerance) return;
  if (tally->wrong++ == 0) tally->first = i;
}

static double whole_difference(const struct dtype *dtype, const void *got, int64_t at,
                               const void *want, int64_t i) {
  uint64_t a, b;
  memcpy(&a, (const char *)got + 8 * at, 8);
  memcpy(&b, (const char *)want + 8 * i, 8);
  const bool above = dtype->kind == DTYPE_INT ? (int64_t)a > (int64_t)b : a > b;
  return above ? (double)(a - b) : -(double)(b - a);
}

/* Compares an element of an output. flat: the element's flat index; i: the element's index in
   `want`. */
static void count_element(struct verify_tally *tally, const struct kernel_argument *o, int64_t flat,
                          int64_t i, const void *got, const void *want) {
  const int64_t at = element_offset(o, flat);
  const double wanted = element_load(o->dtype->wide, want, i);
  double difference;
  if (o->dtype->bytes == 8 && !o->dtype->floating) { /* f64 hides small differences */
    difference = whole_difference(o->dtype, got, at, want, i);
  } else {
    const double value = element_load(o->dtype, got, at);
    difference = value == wanted ? 0.0 : value - wanted;
  }
  count_difference(tally, i, difference, wanted, o->tolerance);
}

/* ---- Contiguous rows ----

   The functions below are written to be vectorised. Rows with an element beyond the tolerance, and
   rows of integers, go through the slower count_element. */

/* Independent partial sums of squares, so that additions need not wait for each other. */
enum { SUMS = 8 };

#define FLOAT_ROWS(name, type)                                                                     \
  static bool name##_is_close(const void *got_row, const double *want, int64_t count,              \
                              double tolerance, double *worst) {                                   \
    const type *got = got_row;                                                                     \
    double most = 0.0;                                                                             \
    int bad = 0;                                                                                   \
    for (int64_t i = 0; i < count; i++) {                                                          \
      double size = fabs(want[i]) > 1.0 ? fabs(want[i]) : 1.0,                                     \
             error = fabs(name##_to_double(got[i]) - want[i]) / size;                              \
      bad |= !(error <= tolerance);                                                                \
      most = error > most ? error : most;                                                          \
    }                                                                                              \
    if (bad) return false;                                                                         \
    if (most / tolerance > *worst) *worst = most / tolerance;                                      \
    return true;                                                                                   \
  }                                                                                                \
  static void name##_squares(const void *got_row, const double *want, int64_t count,               \
                             double *errors, double *wanted) {                                     \
    const type *got = got_row;                                                                     \
    double error[SUMS] = {0}, want_sum[SUMS] = {0};                                                \
    for (int64_t first = 0; first < count; first += SUMS) {                                        \
      int64_t last = count - first < SUMS ? count : first + SUMS;                                  \
      for (int64_t i = first; i < last; i++) {                                                     \
        double difference = name##_to_double(got[i]) - want[i];                                    \
        error[i - first] += difference * difference;                                               \
        want_sum[i - first] += want[i] * want[i];                                                  \
      }                                                                                            \
    }                                                                                              \
    for (int s = 0; s < SUMS; s++) *errors += error[s], *wanted += want_sum[s];                    \
  }
#define ROWS_FLOAT FLOAT_ROWS
#define ROWS_SMALL FLOAT_ROWS
#define ROWS_INT(...)
#define ROWS_UINT(...)
#define ROWS(name, kind, stored, ...) ROWS_##kind(name, stored)
DTYPES(ROWS)

/* The functions for rows of each float type. Integers have none. */
static const struct row_type {
  bool (*is_close)(const void *got_row, const double *want, int64_t count, double tolerance,
                   double *worst);
  void (*squares)(const void *got_row, const double *want, int64_t count, double *errors,
                  double *wanted);
} row_types[DTYPE_COUNT] = {
#define ROW_FLOAT(name) [DTYPE_##name] = {name##_is_close, name##_squares},
#define ROW_SMALL       ROW_FLOAT
#define ROW_INT(...)
#define ROW_UINT(...)
#define ROW(name, kind, ...) ROW_##kind(name)
    DTYPES(ROW)};

static bool row_is_close(const struct kernel_argument *o, const void *got, const void *want,
                         int64_t first, int64_t count, struct verify_tally *tally) {
  const struct row_type *type = &row_types[o->dtype->id];
  const char *row = (const char *)got + element_offset(o, first) * o->dtype->bytes;
  const double *want_row = (const double *)want + first;
  if (!type->is_close || !type->is_close(row, want_row, count, o->tolerance, &tally->worst))
    return false;
  if (o->norm > 0) type->squares(row, want_row, count, &tally->errors, &tally->wanted);
  return true;
}

/* A comparison of all rows, of `length` elements each, with a tally for each part. */
struct rows {
  const struct kernel_argument *output;
  const void *got, *want;
  int64_t length;
  struct verify_tally tallies[PARALLEL_MOST];
};

static int compare_rows(void *context, int part, int64_t first, int64_t last, cugen_error *err) {
  struct rows *r = context;
  const struct kernel_argument *o = r->output;
  struct verify_tally *tally = &r->tallies[part];
  const bool contiguous = o->rank == 0 || (!o->map.count && o->stride[o->rank - 1] == 1);
  (void)err;
  for (int64_t row = first; row < last; row++) {
    const int64_t begin = row * r->length, end = begin + r->length;
    if (contiguous && row_is_close(o, r->got, r->want, begin, r->length, tally)) continue;
    for (int64_t i = begin; i < end; i++) count_element(tally, o, i, i, r->got, r->want);
  }
  return CUGEN_OK;
}

static void compare_all(const struct kernel_argument *o, const void *got, const void *want,
                        struct verify_tally *tally) {
  struct rows rows = {
      .output = o, .got = got, .want = want, .length = o->rank ? o->shape[o->rank - 1] : 1};
  cugen_error none; /* compare_rows does not fail */
  for (int i = 0; i < PARALLEL_MOST; i++) rows.tallies[i].first = -1;
  parallel_for(element_count(o) / rows.length, rows.length, compare_rows, &rows, &none);
  for (int i = 0; i < PARALLEL_MOST; i++) {
    const struct verify_tally *part = &rows.tallies[i];
    tally->errors += part->errors;
    tally->wanted += part->wanted;
    tally->worst = fmax(tally->worst, part->worst);
    if (tally->wrong == 0) tally->first = part->first;
    tally->wrong += part->wrong;
  }
}

/* ---- What to say ---------------------------------------------------------------------------- */

void verify_place(const struct kernel_argument *output, int64_t flat, struct text *out) {
  int64_t at[KERNEL_MAX_RANK];
  element_coordinates(output, flat, at);
  text_addf(out, "%s[", output->name);
  for (int d = 0; d < output->rank; d++) text_addf(out, d ? ", %lld" : "%lld", (long long)at[d]);
  text_add(out, "]");
}

/* Prints an element; integers to the last digit. */
static void add_element(const struct dtype *dtype, const void *from, int64_t index,
                        struct text *out) {
  element_getter *get = element_get_of(dtype);
  int64_t whole;
  if (get && get(from, index, &whole))
    text_addf(out, "%lld", (long long)whole);
  else if (get) /* unsigned, 2^63 or more */
    text_addf(out, "%llu", (unsigned long long)((const uint64_t *)from)[index]);
  else
    text_addf(out, "%.9g", element_load(dtype, from, index));
}

/* Returns true if the tolerance is 0 and the difference is small enough to be caused by rounding in
   a float of at least 16 bits. */
static bool is_rounding(const struct kernel_argument *o, double got, double want) {
  static const double steps = 1000;
  const double most = steps * dtype_epsilon(o->dtype) * fmax(1, fabs(want));
  return o->tolerance == 0 && o->dtype->floating && o->dtype->bytes > 1 && fabs(got - want) <= most;
}

void verify_add_beginning(const char *output, struct text *message) {
  text_addf(message,
            " An output begins undefined, as NaN; if %s is to begin with zeros, declare it an "
            "inout with fill = \"zero\", or zero it in a launch in front",
            output);
}

/* Describes the first wrong element, which got and want point to. */
static int describe_wrong(const struct kernel_argument *o, const struct verify_tally *tally,
                          const struct samples *samples, const void *got, const void *want,
                          cugen_error *err) {
  const struct dtype *wide = o->dtype->wide;
  int64_t compared = samples->flat ? 0 : element_count(o);
  for (int64_t i = 0; samples->flat && i < samples->count; i++)
    compared += samples_due(samples, i, o);
  struct text text = {0};
  verify_place(o, samples_flat(samples, tally->first), &text);
  text_add(&text, " is ");
  add_element(o->dtype, got, 0, &text);
  text_add(&text, ", should be ");
  add_element(wide, want, 0, &text);
  text_addf(&text, "; %lld of %lld elements are wrong (tolerance %.3g)", (long long)tally->wrong,
            (long long)compared, o->tolerance);
  if (is_rounding(o, element_load(o->dtype, got, 0), element_load(wide, want, 0)))
    text_addf(&text,
              ". With tolerance 0 every bit counts; where this difference is rounding, give the "
              "output a tolerance: tolerance = \"4 * eps('%s')\"",
              o->dtype->name);
  if (isnan(element_load(wide, want, 0)))
    text_add(&text, ". NaN is never right, since an element that nobody writes is NaN: the "
                    "reference or its inputs make it");
  else if (isnan(element_load(o->dtype, got, 0)) && o->kind == CUGEN_ARGUMENT_OUTPUT) {
    text_add(&text, ". Does the grid, or a condition in the kernel, leave the element out?");
    verify_add_beginning(o->name, &text);
  }
  int status = error_set(err, CUGEN_ERROR_WRONG, "%s", text_get(&text));
  text_free(&text);
  return status;
}

int verify_judge(const struct kernel_argument *o, const struct verify_tally *tally,
                 const struct samples *samples, const void *got, const void *want, double *error,
                 cugen_error *err) {
  if (tally->worst > *error) *error = tally->worst;
  if (tally->wrong) return describe_wrong(o, tally, samples, got, want, err);
  const double wrong = sqrt(tally->errors), wanted = sqrt(tally->wanted);
  if (o->norm <= 0 || wrong == 0.0) return CUGEN_OK;
  const double r = wrong / (o->norm * wanted);
  if (!(r <= *error)) *error = isnan(r) ? (double)INFINITY : r;
  if (r <= 1.0) return CUGEN_OK; /* a NaN does not pass */
  return error_set(
      err, CUGEN_ERROR_WRONG,
      "%s is off as a whole: the norm of the error is %.3g of that of the result (norm %.3g)",
      o->name, wrong / wanted, o->norm);
}

void verify_count(const struct kernel_argument *o, const void *got, const void *want,
                  const struct samples *samples, struct verify_tally *tally) {
  if (!samples->flat) {
    compare_all(o, got, want, tally);
    return;
  }
  for (int64_t i = 0; i < samples->count; i++)
    if (samples_due(samples, i, o)) count_element(tally, o, samples->flat[i], i, got, want);
}

int verify_output(const struct kernel_argument *o, const void *got, const void *want,
                  const struct samples *samples, double *error, cugen_error *err) {
  const struct dtype *wide = o->dtype->wide;
  struct verify_tally tally = {.first = -1};
  verify_count(o, got, want, samples, &tally);
  if (!tally.wrong) return verify_judge(o, &tally, samples, NULL, NULL, error, err);
  const int64_t at = element_offset(o, samples_flat(samples, tally.first));
  return verify_judge(o, &tally, samples, (const char *)got + at * o->dtype->bytes,
                      (const char *)want + tally.first * wide->bytes, error, err);
}

/* Returns whether the array consists of contiguous rows at equal distances. */
static bool has_rows(const struct kernel_argument *o) {
  if (o->map.count || o->stride[kernel_argument_dimension(o, 0)] != 1) return false;
  for (int i = 2; i < o->rank; i++) {
    const int at = kernel_argument_dimension(o, i), inner = kernel_argument_dimension(o, i - 1);
    if (o->stride[at] != o->stride[inner] * o->shape[inner]) return false;
  }
  return true;
}

struct verify_gaps verify_gaps(const struct kernel_argument *o) {
  const int64_t size = o->dtype->bytes;
  if (o->elements == element_count(o) || o->rank < 1) return (struct verify_gaps){0};
  if (!has_rows(o)) return (struct verify_gaps){.scattered = true};
  const int64_t row = o->shape[kernel_argument_dimension(o, 0)],
                pitch = o->rank > 1 ? o->stride[kernel_argument_dimension(o, 1)] : o->elements;
  return (struct verify_gaps){.rows = (o->elements - row + pitch - 1) / pitch,
                              .pitch = pitch * size,
                              .skip = row * size,
                              .width = (pitch - row) * size,
                              .limit = o->elements * size};
}

int verify_gap_written(const struct kernel_argument *o, int64_t byte, cugen_error *err) {
  const struct verify_gaps gaps = verify_gaps(o);
  if (gaps.scattered)
    return error_set_cause(
        err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS,
        "wrote into the padding of %s, at offset %lld of %lld elements in memory", o->name,
        (long long)(byte / o->dtype->bytes), (long long)o->elements);
  if (!gaps.pitch) return error_set(err, CUGEN_ERROR_INTERNAL, "%s has no padding", o->name);
  return error_set_cause(err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS,
                         "wrote into the padding of %s, %lld bytes past the end of row %lld",
                         o->name, (long long)(byte % gaps.pitch - gaps.skip),
                         (long long)(byte / gaps.pitch));
}

static int verify_scattered(const struct kernel_argument *o, const unsigned char *got,
                            unsigned char poison, cugen_error *err) {
  const struct layout_map map = kernel_argument_map(o);
  int64_t indices[KERNEL_MAX_RANK];
  for (int64_t at = 0; at < o->elements; at++) {
    if (layout_element(&map, o->rank, o->shape, at, indices)) continue;
    for (int64_t b = at * o->dtype->bytes; b < (at + 1) * o->dtype->bytes; b++)
      if (got[b] != poison) return verify_gap_written(o, b, err);
  }
  return CUGEN_OK;
}

int verify_padding(const struct kernel_argument *o, const void *got, unsigned char poison,
                   cugen_error *err) {
  const struct verify_gaps gaps = verify_gaps(o);
  const unsigned char *bytes = got;
  if (gaps.scattered) return verify_scattered(o, got, poison, err);
  for (int64_t row = 0; row < gaps.rows; row++) {
    const int64_t begin = row * gaps.pitch + gaps.skip, end = begin + gaps.width;
    for (int64_t b = begin; b < end && b < gaps.limit; b++)
      if (bytes[b] != poison) return verify_gap_written(o, b, err);
  }
  return CUGEN_OK;
}

int verify_unchanged(const struct kernel_argument *input, const void *got, const void *was,
                     cugen_error *err) {
  int64_t count = element_count(input), flat = 0, at = 0, size = input->dtype->bytes;
  while (flat < count) {
    at = element_offset(input, flat);
    if (memcmp((const char *)got + at * size, (const char *)was + at * size, (size_t)size) != 0)
      break;
    flat++;
  }
  if (flat == count)
    return error_set_cause(err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_INPUT,
                           "wrote to input %s: its padding changed", input->name);
  struct text place = {0};
  verify_place(input, flat, &place);
  int status = error_set_cause(
      err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_INPUT,
      "wrote to input %s: %s is %.9g, was %.9g; overwrite = true allows it", input->name,
      text_get(&place), element_load(input->dtype, got, at), element_load(input->dtype, was, at));
  text_free(&place);
  return status;
}
