/* Comparing outputs with the reference; see verify.h. */
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

/* ---- Samples ---- */

enum { RANDOM_SAMPLES = 1 << 14, MOST_EDGE_SAMPLES = 1 << 20 };

/* Flat indices whose coordinate in one dimension is its first or last, for every dimension. */
static void add_edges(const struct kernel_argument *output, struct samples *out) {
  int64_t inner = 1;
  for (int d = output->rank - 1; d >= 0; d--) {
    int64_t outer = element_count(output) / (inner * output->shape[d]);
    for (int side = 0; side < 2; side++) {
      int64_t at = side ? output->shape[d] - 1 : 0;
      for (int64_t i = 0; i < outer * inner && out->count < MOST_EDGE_SAMPLES; i++)
        out->flat[out->count++] = (i / inner * output->shape[d] + at) * inner + i % inner;
    }
    inner *= output->shape[d];
  }
}

int samples_choose(const struct kernel_argument *output, double flops, uint64_t seed, struct samples *out,
                   cugen_error *err) {
  int64_t count = element_count(output);
  *out = (struct samples){.count = count};
  if ((flops <= VERIFY_FULL_FLOPS && count <= VERIFY_FULL_ELEMENTS) || count <= RANDOM_SAMPLES) return CUGEN_OK;
  out->flat = malloc((MOST_EDGE_SAMPLES + RANDOM_SAMPLES) * sizeof *out->flat);
  if (!out->flat) return error_memory(err);
  out->count = 0;
  add_edges(output, out);
  for (int i = 0; i < RANDOM_SAMPLES; i++) out->flat[out->count++] = (int64_t)(random_next(&seed) % (uint64_t)count);
  return CUGEN_OK;
}

void samples_free(struct samples *samples) {
  free(samples->flat);
  *samples = (struct samples){0};
}

/* ---- Comparing ---- */

/* NaN in either place gives infinity: the comparison is written so that it cannot pass. */
static double ratio(double got, double want, double tolerance) {
  double difference = fabs(got - want);
  if (difference == 0.0 || (got == want)) return 0.0;
  double size = fabs(want) > 1.0 ? fabs(want) : 1.0;
  double r = difference / (tolerance * size);
  return r >= 0.0 ? r : (double)INFINITY;
}

struct tally {
  double worst;
  int64_t wrong, first; /* first: index into the samples, -1 */
};

static void count_element(struct tally *tally, int64_t i, double got, double want, double tolerance) {
  double r = ratio(got, want, tolerance);
  if (r > tally->worst) tally->worst = r;
  if (r <= 1.0) return;
  if (tally->wrong++ == 0) tally->first = i;
}

/* Rows of f32 and f64 that are contiguous are nearly every comparison of a tuning run, so these are written to be
   vectorised; only a row that has something to look at falls back to the careful loop. */
#define ROW_IS_CLOSE(name, type)                                                                                     \
  static bool name(const void *got_row, const double *want, int64_t count, double tolerance, double *worst) {        \
    const type *got = got_row;                                                                                       \
    double most = 0.0;                                                                                               \
    int bad = 0;                                                                                                     \
    for (int64_t i = 0; i < count; i++) {                                                                            \
      double size = fabs(want[i]) > 1.0 ? fabs(want[i]) : 1.0, error = fabs((double)got[i] - want[i]) / size;        \
      bad |= !(error <= tolerance);                                                                                  \
      most = error > most ? error : most;                                                                            \
    }                                                                                                                \
    if (bad) return false;                                                                                           \
    if (most > *worst * tolerance) *worst = most / tolerance;                                                        \
    return true;                                                                                                     \
  }
ROW_IS_CLOSE(f32_row_is_close, float)
ROW_IS_CLOSE(f64_row_is_close, double)

static bool row_is_close(const struct kernel_argument *o, const void *got, const void *want, int64_t first,
                         int64_t count, double *worst) {
  const char *row = (const char *)got + element_offset(o, first) * o->dtype->bytes;
  const double *want_row = (const double *)want + first;
  if (strcmp(o->dtype->name, "f32") == 0) return f32_row_is_close(row, want_row, count, o->tolerance, worst);
  if (strcmp(o->dtype->name, "f64") == 0) return f64_row_is_close(row, want_row, count, o->tolerance, worst);
  return false;
}

static void compare_row(const struct kernel_argument *o, const void *got, const void *want, const struct dtype *wide,
                        int64_t first, int64_t count, struct tally *tally) {
  bool contiguous = o->rank == 0 || o->stride[o->rank - 1] == 1;
  if (contiguous && row_is_close(o, got, want, first, count, &tally->worst)) return;
  element_loader *load = element_load_of(o->dtype), *load_wide = element_load_of(wide);
  for (int64_t i = first; i < first + count; i++)
    count_element(tally, i, load(got, element_offset(o, i)), load_wide(want, i), o->tolerance);
}

static void print_place(const struct kernel_argument *output, int64_t flat, struct text *out) {
  int64_t at[KERNEL_MAX_RANK];
  for (int d = output->rank - 1; d >= 0; d--) {
    at[d] = flat % output->shape[d];
    flat /= output->shape[d];
  }
  text_addf(out, "%s[", output->name);
  for (int d = 0; d < output->rank; d++) text_addf(out, d ? ", %lld" : "%lld", (long long)at[d]);
  text_add(out, "]");
}

static int describe_wrong(const struct kernel_argument *o, const struct tally *tally, int64_t flat, double got,
                          double want, int64_t compared, cugen_error *err) {
  struct text text = {0};
  print_place(o, flat, &text);
  text_addf(&text, " is %.9g, should be %.9g; %lld of %lld elements are wrong (tolerance %.3g)", got, want,
            (long long)tally->wrong, (long long)compared, o->tolerance);
  int status = error_set(err, CUGEN_ERROR_WRONG, "%s", text_get(&text));
  text_free(&text);
  return status;
}

int verify_output(const struct kernel_argument *o, const void *got, const void *want, const struct samples *samples,
                  double *error, cugen_error *err) {
  const struct dtype *wide = dtype_find(o->dtype->wide);
  struct tally tally = {.first = -1};
  if (samples->flat) {
    for (int64_t i = 0; i < samples->count; i++)
      count_element(&tally, i, element_load(o->dtype, got, element_offset(o, samples->flat[i])),
                    element_load(wide, want, i), o->tolerance);
  } else {
    int64_t row = o->rank ? o->shape[o->rank - 1] : 1;
    for (int64_t i = 0; i < samples->count; i += row) compare_row(o, got, want, wide, i, row, &tally);
  }
  if (tally.worst > *error) *error = tally.worst;
  if (!tally.wrong) return CUGEN_OK;
  int64_t flat = samples->flat ? samples->flat[tally.first] : tally.first;
  return describe_wrong(o, &tally, flat, element_load(o->dtype, got, element_offset(o, flat)),
                        element_load(wide, want, tally.first), samples->count, err);
}

int verify_padding(const struct kernel_argument *o, const void *got, cugen_error *err) {
  int64_t count = element_count(o), size = o->dtype->bytes;
  if (o->elements == count || o->rank < 2) return CUGEN_OK;
  const unsigned char *bytes = got;
  int contiguous = o->column_major ? 0 : o->rank - 1;
  int64_t row = o->shape[contiguous], pitch = o->stride[o->column_major ? 1 : o->rank - 2];
  for (int64_t start = 0; start + row < o->elements; start += pitch) {
    int64_t end = start + pitch < o->elements ? start + pitch : o->elements;
    for (int64_t b = (start + row) * size; b < end * size; b++)
      if (bytes[b] != 0xff)
        return error_set(err, CUGEN_ERROR_WRONG, "wrote into the padding of %s, %lld bytes past the end of row %lld",
                         o->name, (long long)(b - (start + row) * size), (long long)(start / pitch));
  }
  return CUGEN_OK;
}
