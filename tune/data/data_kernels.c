/* Launches cugen's own kernels; see data_kernels.h. */
#include "data_kernels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "elements.h"

/* data_layout.h and data_kernels.cu as a string, made by tools/cmake/EmbedFiles.cmake. */
extern const char data_kernels_text[];

enum { THREADS = 256, WARP = 32, BLOCKS_PER_SM = 8, BLOCKS_OF_HOST = 2 };

/* data_kernels.cu gives these enumerators names of its own. */
_Static_assert(DTYPE_FLOAT == 0 && DTYPE_SMALL == 1 && DTYPE_INT == 2 && DTYPE_UINT == 3,
               "kinds of dtypes");
_Static_assert(FILL_UNIFORM == 0 && FILL_IDENTITY == 1 && FILL_INDEX == 2 && FILL_ONES == 3 &&
                   FILL_ZERO == 4,
               "fills");
_Static_assert(DATA_RANK >= KERNEL_MAX_RANK && (int)DATA_MODES >= (int)LAYOUT_MODES, "dimensions");

/* Name of each entry, and the part of the source that contains it. */
#define DATA_ENTRIES(X)                                                                            \
  X(fill, 0)                                                                                       \
  X(widen, 1)                                                                                      \
  X(reverse, 1)                                                                                    \
  X(narrow, 1)                                                                                     \
  X(compare, 2)                                                                                    \
  X(sums, 3) X(digest, 3) X(bits, 4) X(find, 5) X(gaps, 5) X(unwritten, 5) X(errors, 5)
#define ENTRY_ID(name, part) ENTRY_##name,
enum { DATA_ENTRIES(ENTRY_ID) ENTRY_COUNT };
#define ENTRY_NAME(name, part) "cugen_data_" #name,
static const char *const entry_names[ENTRY_COUNT] = {DATA_ENTRIES(ENTRY_NAME)};
#define ENTRY_PART(name, part) part,
static const int entry_parts[ENTRY_COUNT] = {DATA_ENTRIES(ENTRY_PART)};

struct data_kernels {
  struct device *device;
  struct loaded *loaded[DATA_PARTS];
  struct entry *entries[ENTRY_COUNT];
  unsigned most_blocks;
  uint64_t key, odd;     /* random key of the digests */
  struct memory tallies; /* one tally for each question */
  struct memory fresh;   /* initial values of the tallies */
  struct memory partial; /* partial sums of each block */
  struct memory answers; /* copy of the tallies in pinned host memory */
  size_t asked;
};

/* ---- Opening -------------------------------------------------------------------------------- */

int data_kernels_spec(int part, struct kernel_spec *out, cugen_error *err) {
  struct text source = {0}, name = {0};
  text_addf(&source, "#define DATA_PART %d\n%s", part, data_kernels_text);
  text_addf(&name, "data_kernels.cu, part %d", part);
  *out = (struct kernel_spec){.source_hash = hash_bytes(text_get(&source), source.length),
                              .launches = calloc(ENTRY_COUNT, sizeof *out->launches)};
  out->source = text_take(&source);
  out->variant = text_take(&name);
  if (!out->source || !out->variant || !out->launches) {
    kernel_spec_free(out);
    return error_memory(err);
  }
  for (size_t i = 0; i < ENTRY_COUNT; i++)
    if (entry_parts[i] == part) out->launches[out->launch_count++].entry = entry_names[i];
  return CUGEN_OK;
}

static int alloc(struct data_kernels *k, enum memory_kind kind, size_t bytes, struct memory *out,
                 cugen_error *err) {
  return k->device->ops->alloc(k->device, kind, bytes, false, out, err);
}

static int upload_fresh(struct data_kernels *k, cugen_error *err) {
  struct data_tally *tallies = calloc(DATA_MOST_QUESTIONS, sizeof *tallies);
  if (!tallies) return error_memory(err);
  for (size_t i = 0; i < DATA_MOST_QUESTIONS; i++) tallies[i].first = UINT64_MAX;
  int status = k->device->ops->upload(k->device, k->fresh.device, tallies, k->fresh.bytes, err);
  free(tallies);
  return status;
}

static int open_part(struct data_kernels *k, int part, const struct compiled *compiled,
                     cugen_error *err) {
  size_t count = 0;
  for (size_t i = 0; i < ENTRY_COUNT; i++) count += entry_parts[i] == part;
  if (compiled->entry_count != count)
    return error_set(err, CUGEN_ERROR_INTERNAL, "an image of data kernels has %zu kernels",
                     compiled->entry_count);
  int status = k->device->ops->load(k->device, compiled, &k->loaded[part], err);
  for (size_t i = 0, at = 0; i < ENTRY_COUNT && !status; i++)
    if (entry_parts[i] == part)
      status = k->device->ops->entry(k->device, k->loaded[part], at++, 0, &k->entries[i], err);
  return status;
}

int data_kernels_open(struct device *device, const struct compiled *const *compiled,
                      struct data_kernels **out, cugen_error *err) {
  const struct device_facts *facts = &device->description.facts;
  const size_t bytes = DATA_MOST_QUESTIONS * sizeof(struct data_tally);
  struct data_kernels *k = calloc(1, sizeof *k);
  *out = NULL;
  if (!k) return error_memory(err);
  k->device = device;
  k->most_blocks = facts->is_gpu ? (unsigned)facts->sm_count * BLOCKS_PER_SM : BLOCKS_OF_HOST;
  /* The key is random, if possible, so that a kernel under test cannot forge a digest. */
  if (getrandom(&k->key, sizeof k->key, 0) < 0 || getrandom(&k->odd, sizeof k->odd, 0) < 0)
    k->key = 0, k->odd = 0x9e3779b97f4a7c15u;
  k->odd |= 1;

  int status = CUGEN_OK;
  for (int part = 0; part < DATA_PARTS && !status; part++)
    status = open_part(k, part, compiled[part], err);
  if (!status) status = alloc(k, MEMORY_DEVICE, bytes, &k->tallies, err);
  if (!status) status = alloc(k, MEMORY_DEVICE, bytes, &k->fresh, err);
  if (!status)
    status = alloc(k, MEMORY_DEVICE, 2 * k->most_blocks * sizeof(double), &k->partial, err);
  if (!status) status = alloc(k, MEMORY_PINNED, bytes, &k->answers, err);
  if (!status) status = upload_fresh(k, err);
  if (status)
    data_kernels_close(k);
  else
    *out = k;
  return status;
}

void data_kernels_close(struct data_kernels *k) {
  if (!k) return;
  struct memory *const all[] = {&k->tallies, &k->fresh, &k->partial, &k->answers};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i]->device) k->device->ops->free(k->device, all[i]);
  for (int part = 0; part < DATA_PARTS; part++)
    if (k->loaded[part]) k->device->ops->unload(k->device, k->loaded[part]);
  free(k);
}

/* ---- Launching ------------------------------------------------------------------------------ */

/* Returns enough blocks for one thread per unit of work, limited to what fills the device. */
static unsigned blocks_for(const struct data_kernels *k, int64_t work) {
  const int64_t blocks = (work + THREADS - 1) / THREADS;
  return blocks < 1 ? 1 : blocks > k->most_blocks ? k->most_blocks : (unsigned)blocks;
}

static int launch_on(struct data_kernels *k, int entry, unsigned blocks, unsigned threads,
                     void **parameters, cugen_error *err) {
  const struct kernel_launch launch = {
      .entry = entry_names[entry], .grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
  return k->device->ops->launch(k->device, k->entries[entry], &launch, parameters, err);
}

static int data_kernels_launch(struct data_kernels *k, int entry, int64_t work, void **parameters,
                               cugen_error *err) {
  return launch_on(k, entry, blocks_for(k, work), THREADS, parameters, err);
}

static struct data_type data_kernels_type_of(const struct dtype *dtype) {
  const bool is_signed = dtype->kind == DTYPE_INT;
  const int digits = 8 * dtype->bytes - is_signed;
  const double end = ldexp(1, digits);
  return (struct data_type){.kind = (int)dtype->kind,
                            .bytes = dtype->bytes,
                            .exponent_bits = dtype->format.exponent_bits,
                            .fraction_bits = dtype->format.fraction_bits,
                            .infinities = dtype->format.infinities,
                            .low = is_signed ? -end : 0, /* the bounds of element_clamp */
                            .high = digits > 53 ? end - end * 0x1p-53 : end - 1,
                            .largest = dtype_largest(dtype)};
}

/* ---- Layouts -------------------------------------------------------------------------------- */

/* Adds a dimension behind the last dimension, or merges the two if they are contiguous. */
static void add_dimension(struct data_layout *l, int64_t shape, int64_t stride, int64_t weight) {
  if (shape == 1) return;
  const int last = l->rank - 1;
  const bool joins =
      last >= 0 && l->stride[last] == shape * stride && l->weight[last] == shape * weight;
  if (!joins) l->shape[l->rank++] = 1;
  const int at = l->rank - 1;
  l->shape[at] *= shape;
  l->stride[at] = stride;
  l->weight[at] = weight;
}

/* Makes the layout of an array from its struct layout_map. */
static struct data_layout layout_by_modes(const struct kernel_argument *a) {
  const struct layout_map map = kernel_argument_map(a);
  struct data_layout out = {.rank = a->rank,
                            .mode_count = map.count,
                            .bits = map.bits,
                            .base = map.base,
                            .shift = map.shift};
  int64_t all = 1;
  for (int i = a->rank - 1; i >= 0; all *= a->shape[i--])
    out.shape[i] = a->shape[i], out.weight[i] = all;
  for (int i = 0; i < map.count; i++)
    out.modes[i] = (struct data_mode){map.modes[i].dimension, map.modes[i].divisor,
                                      map.modes[i].extent, map.modes[i].stride};
  return out;
}

/* Makes the layout in the order of the flat index or, if by_memory, in the order of memory, so that
   neighbouring threads touch neighbouring elements. A tiled or swizzled array always has the order
   of the flat index. */
static struct data_layout layout_of(const struct kernel_argument *a, bool by_memory) {
  struct data_layout out = {0};
  if (a->map.count) return layout_by_modes(a);
  int order[KERNEL_MAX_RANK];
  int64_t weight[KERNEL_MAX_RANK], all = 1;
  for (int i = a->rank - 1; i >= 0; all *= a->shape[i--]) order[i] = i, weight[i] = all;
  for (int i = 1; by_memory && i < a->rank; i++) { /* sort by stride, the largest first */
    const int moved = order[i];
    int to = i;
    for (; to > 0 && a->stride[order[to - 1]] < a->stride[moved]; to--) order[to] = order[to - 1];
    order[to] = moved;
  }
  for (int i = 0; i < a->rank; i++)
    add_dimension(&out, a->shape[order[i]], a->stride[order[i]], weight[order[i]]);
  if (!out.rank) out.rank = 1, out.shape[0] = 1;
  return out;
}

/* ---- Fills ---------------------------------------------------------------------------------- */

bool data_kernels_make(const struct kernel_argument *a) {
  return a->data == DATA_FILL && a->rank > 0;
}

int data_kernels_fill(struct data_kernels *k, const struct kernel_argument *a, uint64_t seed,
                      size_t ordinal, void *to, cugen_error *err) {
  struct data_layout layout = layout_of(a, true), shape = {.rank = a->rank};
  struct data_type type = data_kernels_type_of(a->dtype);
  int make = (int)a->fill;
  uint64_t stream = element_stream(seed, ordinal);
  int64_t count = element_count(a);
  memcpy(shape.shape, a->shape, (size_t)a->rank * sizeof *a->shape);
  int status = CUGEN_OK;
  if (a->elements != count) /* poison the padding between rows */
    status = k->device->ops->fill(k->device, to, 0xff, (size_t)kernel_argument_bytes(a), err);
  void *parameters[] = {&to, &layout, &shape, &type, &make, &stream, &count};
  return status ? status : data_kernels_launch(k, ENTRY_fill, count, parameters, err);
}

int data_kernels_widen(struct data_kernels *k, const struct kernel_argument *a, const void *from,
                       void *to, const int64_t *samples, int64_t count, cugen_error *err) {
  struct data_layout layout = layout_of(a, false);
  struct data_type type = data_kernels_type_of(a->dtype);
  int64_t elements = element_count(a);
  void *parameters[] = {&from, &layout, &type, &to, &samples, &count, &elements};
  return data_kernels_launch(k, ENTRY_widen, count, parameters, err);
}

int data_kernels_reverse(struct data_kernels *k, const int64_t *samples, int64_t count, int64_t *to,
                         cugen_error *err) {
  void *parameters[] = {&to, &samples, &count};
  return data_kernels_launch(k, ENTRY_reverse, count, parameters, err);
}

/* ---- Questions ------------------------------------------------------------------------------ */

int data_kernels_begin(struct data_kernels *k, cugen_error *err) {
  k->asked = 0;
  return k->device->ops->copy(k->device, k->tallies.device, k->fresh.device, k->tallies.bytes, NULL,
                              err);
}

/* Returns a word of eight equal bytes. */
static uint64_t word_of(unsigned char byte) {
  return byte * UINT64_C(0x0101010101010101);
}

static struct data_tally *next_tally(struct data_kernels *k) {
  return (struct data_tally *)k->tallies.device + (k->asked < DATA_MOST_QUESTIONS ? k->asked++ : 0);
}

int data_kernels_digest(struct data_kernels *k, const void *from, size_t bytes, cugen_error *err) {
  struct data_tally *tally = next_tally(k);
  int64_t count = (int64_t)bytes;
  void *parameters[] = {&from, &count, &k->key, &k->odd, &tally};
  return data_kernels_launch(k, ENTRY_digest, count / 8, parameters, err);
}

int data_kernels_bits(struct data_kernels *k, const struct kernel_argument *a, const void *from,
                      cugen_error *err) {
  struct data_tally *tally = next_tally(k);
  struct data_layout layout = layout_of(a, true);
  int bytes = a->dtype->bytes;
  int64_t count = element_count(a);
  void *parameters[] = {&from, &layout, &bytes, &count, &tally};
  return data_kernels_launch(k, ENTRY_bits, count, parameters, err);
}

int data_kernels_narrow(struct data_kernels *k, const struct kernel_argument *a, const void *from,
                        unsigned char poison, void *to, cugen_error *err) {
  struct data_tally *tally = next_tally(k);
  struct data_layout layout = layout_of(a, false);
  struct data_type type = data_kernels_type_of(a->dtype),
                   wide = data_kernels_type_of(a->dtype->wide);
  uint64_t word = word_of(poison);
  int64_t count = element_count(a);
  int status = CUGEN_OK;
  if (a->elements != count) /* poison the padding between rows */
    status = k->device->ops->fill(k->device, to, 0xff, (size_t)kernel_argument_bytes(a), err);
  void *parameters[] = {&from, &wide, &to, &layout, &type, &word, &count, &tally};
  return status ? status : data_kernels_launch(k, ENTRY_narrow, count, parameters, err);
}

int data_kernels_find(struct data_kernels *k, const void *from, struct verify_gaps where,
                      uint64_t pattern, cugen_error *err) {
  struct data_tally *tally = next_tally(k);
  void *parameters[] = {&from,        &where.rows,  &where.pitch, &where.skip,
                        &where.width, &where.limit, &pattern,     &tally};
  return where.rows ? data_kernels_launch(k, ENTRY_find, where.rows * (where.width / 8 + 2),
                                          parameters, err)
                    : CUGEN_OK;
}

int data_kernels_gaps(struct data_kernels *k, const struct kernel_argument *o, const void *from,
                      unsigned char poison, cugen_error *err) {
  const struct verify_gaps gaps = verify_gaps(o);
  if (!gaps.scattered) return data_kernels_find(k, from, gaps, word_of(poison), err);
  struct data_tally *tally = next_tally(k);
  struct data_layout layout = layout_by_modes(o);
  int bytes = o->dtype->bytes, byte = poison;
  int64_t count = o->elements;
  void *parameters[] = {&from, &layout, &bytes, &count, &byte, &tally};
  return data_kernels_launch(k, ENTRY_gaps, count, parameters, err);
}

int data_kernels_guards(struct data_kernels *k, const struct memory *memory, bool *asked,
                        cugen_error *err) {
  struct memory_guards guards;
  *asked = k->device->ops->guards && k->device->ops->guards(memory, &guards);
  if (!*asked) return CUGEN_OK;
  const int64_t before = (int64_t)guards.before_bytes, after = (int64_t)guards.after_bytes;
  int status = data_kernels_find(k, guards.before,
                                 (struct verify_gaps){.rows = 1, .width = before, .limit = before},
                                 guards.pattern, err);
  if (status) return status;
  return data_kernels_find(k, guards.after,
                           (struct verify_gaps){.rows = 1, .width = after, .limit = after},
                           guards.pattern, err);
}

int data_kernels_compare(struct data_kernels *k, const struct kernel_argument *o, const void *got,
                         const void *want, const int64_t *samples, int64_t count,
                         cugen_error *err) {
  struct data_tally *tally = next_tally(k);
  struct data_layout layout = layout_of(o, false);
  struct data_type type = data_kernels_type_of(o->dtype),
                   wide = data_kernels_type_of(o->dtype->wide);
  int64_t elements = element_count(o);
  double tolerance = o->tolerance;
  double *partial = o->norm > 0 ? k->partial.device : NULL;
  int blocks = (int)blocks_for(k, count);
  void *parameters[] = {&got,   &layout,   &type,      &want,    &wide, &samples,
                        &count, &elements, &tolerance, &partial, &tally};
  int status = data_kernels_launch(k, ENTRY_compare, count, parameters, err);
  void *sums[] = {&partial, &blocks, &tally};
  return status || !partial ? status : launch_on(k, ENTRY_sums, 1, WARP, sums, err);
}

int data_kernels_unwritten(struct data_kernels *k, const struct kernel_argument *o,
                           const void *results, const int64_t *samples, int64_t count,
                           unsigned char poison, cugen_error *err) {
  struct data_tally *tally = next_tally(k);
  int64_t elements = element_count(o);
  uint64_t word = word_of(poison);
  void *parameters[] = {&results, &samples, &count, &elements, &word, &tally};
  return data_kernels_launch(k, ENTRY_unwritten, count, parameters, err);
}

int data_kernels_errors(struct data_kernels *k, const double *errors, int64_t count,
                        cugen_error *err) {
  struct data_tally *tally = next_tally(k);
  void *parameters[] = {&errors, &count, &tally};
  return data_kernels_launch(k, ENTRY_errors, count, parameters, err);
}

int data_kernels_await(struct data_kernels *k, const struct data_tally **tallies,
                       cugen_error *err) {
  *tallies = k->answers.host;
  return k->device->ops->download(k->device, k->answers.host, k->tallies.device,
                                  k->asked * sizeof(struct data_tally), err);
}

struct verify_tally data_tally_read(const struct data_tally *t) {
  struct verify_tally out = {.wrong = (int64_t)t->wrong,
                             .first = t->wrong ? (int64_t)t->first : -1,
                             .errors = t->errors,
                             .wanted = t->wanted};
  memcpy(&out.worst, &t->worst, sizeof out.worst);
  return out;
}
