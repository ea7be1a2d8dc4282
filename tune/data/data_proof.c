/* Compares the data kernels with the host's functions; see data_proof.h. Each function `prove_...`
   clears `same` if the claim in its comment does not hold. */
#include "data_proof.h"

#include <stdlib.h>
#include <string.h>

#include "elements.h"

enum { ROWS = 9, COLUMNS = 31, PITCH = 40, ELEMENTS = ROWS * PITCH, SEED = 11, MOST = 512 };

struct proof {
  struct device *device;
  struct data_kernels *kernels;
  struct memory got, want;
  unsigned char host[8 * MOST], back[8 * MOST];
  struct kernel_argument argument;
  bool same;
};

/* Makes the argument: rows with a pitch, or (tiled) tiles with ragged edges, padding and a
   swizzle. */
static int lay_out(struct kernel_argument *a, const struct dtype *dtype, bool tiled,
                   cugen_error *err) {
  struct layout layout;
  *a = (struct kernel_argument){.name = "proof",
                                .dtype = dtype,
                                .rank = 2,
                                .shape = {ROWS, COLUMNS},
                                .stride = {PITCH, 1},
                                .elements = ELEMENTS,
                                .tolerance = 1e-3};
  if (!tiled) return CUGEN_OK;
  int status = layout_read("row/4x8:col+2^1,1,2", a->rank, &layout, err);
  if (!status) status = layout_of_shape(&layout, a->shape, dtype->bytes, &a->map, err);
  a->elements = a->map.size;
  if (!status && a->elements > MOST)
    status = error_set(err, CUGEN_ERROR_INTERNAL, "the proof's tiles have %lld elements",
                       (long long)a->elements);
  return status;
}

static int download(struct proof *p, cugen_error *err) {
  return p->device->ops->download(p->device, p->back, p->got.device,
                                  (size_t)kernel_argument_bytes(&p->argument), err);
}

/* A fill by the kernels has the same bytes as a fill by the host. */
static int prove_fill(struct proof *p, enum fill_kind fill, cugen_error *err) {
  const size_t bytes = (size_t)kernel_argument_bytes(&p->argument);
  p->argument.fill = fill;
  element_fill(&p->argument, SEED, 3, p->host);
  int status = data_kernels_fill(p->kernels, &p->argument, SEED, 3, p->got.device, err);
  if (!status) status = download(p, err);
  p->same &= !status && memcmp(p->host, p->back, bytes) == 0;
  return status;
}

/* A digest changes with a single byte, and is equal for equal bytes. */
static int prove_digest(struct proof *p, cugen_error *err) {
  const size_t bytes = (size_t)kernel_argument_bytes(&p->argument) - 1;
  const struct data_tally *tallies;
  char *changed = (char *)p->got.device + bytes - 1;
  unsigned char last = p->host[bytes - 1] ^ 1;
  int status = data_kernels_begin(p->kernels, err);
  for (int i = 0; i < 2 && !status; i++)
    status = data_kernels_digest(p->kernels, p->got.device, bytes, err);
  if (!status) status = p->device->ops->upload(p->device, changed, &last, 1, err);
  if (!status) status = data_kernels_digest(p->kernels, p->got.device, bytes, err);
  if (!status) status = p->device->ops->upload(p->device, changed, &p->host[bytes - 1], 1, err);
  if (!status) status = data_kernels_await(p->kernels, &tallies, err);
  if (status) return status;
  p->same &= tallies[0].digest == tallies[1].digest && tallies[0].digest != tallies[2].digest;
  return CUGEN_OK;
}

/* The kernels' digest of an argument's elements equals the host's. */
static int prove_bits(struct proof *p, cugen_error *err) {
  const struct data_tally *tallies;
  int status = data_kernels_begin(p->kernels, err);
  if (!status) status = data_kernels_bits(p->kernels, &p->argument, p->got.device, err);
  if (!status) status = data_kernels_await(p->kernels, &tallies, err);
  p->same &= !status && tallies[0].digest == element_digest(&p->argument, p->host);
  return status;
}

/* A filled buffer is equal to its own elements, and differs from a changed copy in one element. The
   buffer's padding is untouched. */
static int prove_comparison(struct proof *p, cugen_error *err) {
  const struct kernel_argument *a = &p->argument;
  const struct dtype *wide = a->dtype->wide;
  const int64_t count = element_count(a), planted = count - 5;
  const struct data_tally *tallies;
  unsigned char want[8 * ROWS * COLUMNS];
  for (int64_t i = 0; i < count; i++)
    element_widen(a->dtype, p->host, element_offset(a, i), want, i);
  int status = data_kernels_begin(p->kernels, err);
  for (int round = 0; round < 2 && !status; round++) {
    if (round) element_store(wide, want, planted, 3 + element_load(wide, want, planted));
    status = p->device->ops->upload(p->device, p->want.device, want, sizeof want, err);
    if (!status)
      status = data_kernels_compare(p->kernels, a, p->got.device, p->want.device, NULL, count, err);
  }
  if (!status) status = data_kernels_gaps(p->kernels, a, p->got.device, 0xff, err);
  if (!status) status = data_kernels_await(p->kernels, &tallies, err);
  if (status) return status;
  const struct verify_tally right = data_tally_read(&tallies[0]),
                            wrong = data_tally_read(&tallies[1]);
  struct verify_tally host = {.first = -1};
  struct samples all = {.count = count};
  verify_count(a, p->host, want, &all, &host);
  p->same &= right.wrong == 0 && right.worst == 0.0 && wrong.wrong == 1 && wrong.first == planted &&
             wrong.worst == host.worst && tallies[2].first == UINT64_MAX;
  return CUGEN_OK;
}

/* The elements of a filled buffer are converted to the wide type in reverse order, so that the
   look-up of samples is tested as well. */
static int prove_widening(struct proof *p, cugen_error *err) {
  const struct kernel_argument *a = &p->argument;
  const int64_t count = element_count(a);
  int64_t *samples = p->want.device, *wide = samples + count;
  unsigned char want[8 * ROWS * COLUMNS];
  for (int64_t i = 0; i < count; i++)
    element_widen(a->dtype, p->host, element_offset(a, count - 1 - i), want, i);
  int status = data_kernels_reverse(p->kernels, NULL, count, samples, err);
  if (!status) status = data_kernels_widen(p->kernels, a, p->got.device, wide, samples, count, err);
  if (!status) status = p->device->ops->download(p->device, p->back, wide, sizeof want, err);
  p->same &= !status && memcmp(want, p->back, sizeof want) == 0;
  return status;
}

/* Elements of a filled buffer, converted to the wide type and back, have the same bytes. An element
   of poison is counted and, unless the type has 8 bytes, a number that the type cannot hold. */
static int prove_narrowing(struct proof *p, cugen_error *err) {
  const struct kernel_argument *a = &p->argument;
  const struct dtype *wide = a->dtype->wide;
  const unsigned char poison = 0x5a;
  const int64_t count = element_count(a);
  const struct data_tally *tallies;
  unsigned char from[8 * ROWS * COLUMNS];
  for (int64_t i = 0; i < count; i++)
    element_widen(a->dtype, p->host, element_offset(a, i), from, i);
  int status = data_kernels_begin(p->kernels, err);
  for (int round = 0; round < 2 && !status; round++) {
    status = p->device->ops->upload(p->device, p->want.device, from, sizeof from, err);
    if (!status)
      status = data_kernels_narrow(p->kernels, a, p->want.device, poison, p->got.device, err);
    if (!status && !round) status = download(p, err);
    memset(from, poison, 8);
    element_store(wide, from, count - 1, a->dtype->floating ? 1e300 : 1e15);
  }
  if (!status) status = data_kernels_await(p->kernels, &tallies, err);
  if (status) return status;
  p->same &= memcmp(p->host, p->back, (size_t)kernel_argument_bytes(a)) == 0 &&
             tallies[0].wrong == 0 && tallies[1].wrong == (a->dtype->bytes == 8 ? 1 : 2);
  return CUGEN_OK;
}

int data_proof(struct device *device, struct data_kernels *kernels, bool *same, cugen_error *err) {
  struct proof *p = calloc(1, sizeof *p);
  if (!p) return error_memory(err);
  p->device = device;
  p->kernels = kernels;
  p->same = true;
  int status = device->ops->alloc(device, MEMORY_DEVICE, sizeof p->host, true, &p->got, err);
  if (!status)
    status = device->ops->alloc(device, MEMORY_DEVICE, 2 * sizeof p->host, true, &p->want, err);
  for (size_t t = 0; t < 2 * DTYPE_COUNT && !status && p->same; t++) {
    status = lay_out(&p->argument, &dtype_table[t / 2], t % 2, err);
    if (!status) status = prove_fill(p, FILL_INDEX, err);
    if (!status) status = prove_fill(p, FILL_UNIFORM, err);
    if (!status) status = prove_digest(p, err);
    if (!status) status = prove_bits(p, err);
    if (!status) status = prove_comparison(p, err);
    if (!status) status = prove_widening(p, err);
    if (!status) status = prove_narrowing(p, err);
  }
  *same = p->same;
  if (p->got.device) device->ops->free(device, &p->got);
  if (p->want.device) device->ops->free(device, &p->want);
  free(p);
  return status;
}
