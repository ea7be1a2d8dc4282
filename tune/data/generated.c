/* Runs generators of test data; see generated.h. */
#include "generated.h"

#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "verify.h"

struct generation {
  struct device *device;
  const struct kernel_argument *argument;
  const struct dtype *wide;
  int64_t count;     /* number of elements, passed as sample_count: a long long */
  size_t bytes;      /* bytes of the result, packed and in the wide type */
  struct memory own; /* the memory that the generator writes */
  struct plan *plan;
  struct call *call;
};

/* ---- Running -------------------------------------------------------------------------------- */

static int open_generation(struct generation *g, const struct dataset_kernel *generator,
                           struct memory *memory, cugen_error *err) {
  void *extra[] = {&g->count}; /* each launch reads g->count */
  int status = g->device->ops->alloc(g->device, MEMORY_DEVICE, g->bytes, true, &g->own, err);
  memory[generator->argument] = g->own;
  if (!status) status = plan_open(g->device, generator->spec, generator->compiled, &g->plan, err);
  return status ? status : call_bind(g->plan, memory, extra, 1, &g->call, err);
}

static void close_generation(struct generation *g) {
  call_free(g->call);
  plan_close(g->plan);
  if (g->own.device) g->device->ops->free(g->device, &g->own);
}

/* Launches once, into memory that is filled with the poison. */
static int generated_launch_once(struct generation *g, unsigned char poison, cugen_error *err) {
  const struct device_ops *ops = g->device->ops;
  int status = ops->fill(g->device, g->own.device, poison, g->bytes, err);
  if (!status) status = call_launch(g->call, err);
  if (!status) status = ops->sync(g->device, err);
  return status ? status : ops->memory_check(g->device, &g->own, err);
}

static int generated_run_once(struct generation *g, unsigned char poison, void *host,
                              cugen_error *err) {
  int status = generated_launch_once(g, poison, err);
  return status ? status : g->device->ops->download(g->device, host, g->own.device, g->bytes, err);
}

/* ---- Checking the result -------------------------------------------------------------------- */

static const unsigned char poisons[] = {0xff, 0x5a}; /* of the first launch, and of the second */

/* Returns the first element that holds the first launch's poison in `host` and the second launch's
   in `again`, or -1. again NULL: there was one launch. */
static int64_t generated_find_unwritten(const struct generation *g, const char *host,
                                        const char *again) {
  for (int64_t i = 0; i < g->count; i++)
    if (element_is_filled(g->wide, host, i, poisons[0]) &&
        (!again || element_is_filled(g->wide, again, i, poisons[1])))
      return i;
  return -1;
}

static int generated_refuse_element(const struct generation *g, int64_t flat, const char *before,
                                    const char *after, cugen_error *err) {
  struct text place = {0};
  verify_place(g->argument, flat, &place);
  int status = error_set(err, CUGEN_ERROR_CONFIG, "%s%s%s", before, text_get(&place), after);
  text_free(&place);
  return status;
}

/* Launches a second time if an element looks like poison, because that may be data: only an element
   that also keeps a second poison is unwritten. */
static int generated_check_written(struct generation *g, const char *host, cugen_error *err) {
  if (generated_find_unwritten(g, host, NULL) < 0) return CUGEN_OK;
  char *again = malloc(g->bytes);
  int status = again ? generated_run_once(g, poisons[1], again, err) : error_memory(err);
  const int64_t flat = status ? -1 : generated_find_unwritten(g, host, again);
  free(again);
  if (flat < 0) return status;
  return generated_refuse_element(
      g, flat, "it does not write ",
      ": thread t < sample_count stores element t, and there is a thread for each element", err);
}

static int refuse_number(const struct generation *g, const char *host, int64_t flat,
                         cugen_error *err) {
  struct text after = {0};
  int64_t whole = 0;
  element_getter *get = element_get_of(g->wide);
  text_add(&after, " = ");
  value_print(get && get(host, flat, &whole) ? value_int(whole)
                                             : value_float(element_load(g->wide, host, flat)),
              &after);
  text_addf(&after, ", which is no number of dtype %s", g->argument->dtype->name);
  int status = generated_refuse_element(g, flat, "it writes ", text_get(&after), err);
  text_free(&after);
  return status;
}

/* Converts the result to the argument's type and layout. */
static int generated_take(const struct generation *g, const char *host, char *to,
                          cugen_error *err) {
  const struct kernel_argument *a = g->argument;
  const size_t size = (size_t)a->dtype->bytes;
  element_loader *load = element_load_of(g->wide);
  memset(to, 0xff, (size_t)kernel_argument_bytes(a));
  for (int64_t k = 0; k < g->count; k++) {
    const int64_t offset = element_offset(a, k);
    if (g->wide == a->dtype) {
      memcpy(to + (size_t)offset * size, host + (size_t)k * size, size);
      continue;
    }
    const struct value value = value_float(load(host, k));
    if (!element_put(a->dtype, to, offset, &value)) return refuse_number(g, host, k, err);
  }
  return CUGEN_OK;
}

static struct generation generation_of(struct device *device,
                                       const struct kernel_argument *argument) {
  struct generation g = {.device = device,
                         .argument = argument,
                         .wide = argument->dtype->wide,
                         .count = element_count(argument)};
  g.bytes = (size_t)g.count * (size_t)g.wide->bytes;
  return g;
}

int generated_make_there(struct device *device, struct data_kernels *kernels,
                         const struct kernel_argument *argument,
                         const struct dataset_kernel *generator, struct memory *memory, void *to,
                         bool *done, cugen_error *err) {
  static const unsigned char poison = 0x5a; /* not 0xff, which is -1, a frequent number */
  struct generation g = generation_of(device, argument);
  const struct data_tally *tallies;
  int status = open_generation(&g, generator, memory, err);
  if (!status) status = generated_launch_once(&g, poison, err);
  if (!status) status = data_kernels_begin(kernels, err);
  if (!status) status = data_kernels_narrow(kernels, argument, g.own.device, poison, to, err);
  if (!status) status = data_kernels_await(kernels, &tallies, err);
  *done = !status && tallies[0].wrong == 0;
  close_generation(&g);
  return status ? error_prefix(err, "%s", generator->name), status : CUGEN_OK;
}

int generated_make(struct device *device, const struct kernel_argument *argument,
                   const struct dataset_kernel *generator, struct memory *memory, void *to,
                   cugen_error *err) {
  struct generation g = generation_of(device, argument);
  char *host = malloc(g.bytes);
  int status = host ? open_generation(&g, generator, memory, err) : error_memory(err);
  if (!status) status = generated_run_once(&g, poisons[0], host, err);
  if (!status) status = generated_check_written(&g, host, err);
  if (!status) status = generated_take(&g, host, to, err);
  close_generation(&g);
  free(host);
  return status ? error_prefix(err, "%s", generator->name), status : CUGEN_OK;
}
