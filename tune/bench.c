/* The objects that the candidates of one run share; see bench.h. */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system.h"
#include "data/data.h"
#include "data/results.h"
#include "gen/config/evaluate.h"
#include "runtime/compile/kept.h"
#include "runtime/compile/toolkit.h"

/* Limits beyond which evict drops datasets: a number, and bytes of memory shared with the workers,
   1/DATA_SHARE of the machine's memory or DATA_BYTES if that is more. evict never drops the
   DATA_IN_USE latest datasets. */
enum { DATA_BYTES = 1 << 29, DATA_SHARE = 8, DATA_ENTRIES = 128, DATA_IN_USE = 2 };

static size_t data_most(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const size_t share = pages > 0 && page > 0 ? (size_t)pages / DATA_SHARE * (size_t)page : 0;
  return share > DATA_BYTES ? share : DATA_BYTES;
}

/* A dataset request with everything that the request points to. */
struct bench_data {
  struct dataset_request request;
  struct hash key;
  struct kernel_spec spec;
  struct bench_kernel reference, verify, *generators;
  struct value *slots; /* parameters and shared tunables, which expressions of arguments read */
  size_t shared_bytes;
  bool made;    /* the kernels are compiled, and the shared memory has been made */
  bool ready;   /* a worker has made the dataset */
  size_t users; /* number of jobs under way with this dataset */
  struct bench_data *next;
};

/* The reason why a dataset cannot be made. */
struct bench_fault {
  struct hash key;
  bool timed;
  cugen_error why;
  struct bench_fault *next;
};

/* ---- Images that later runs use ------------------------------------------------------------- */

static int bench_image_key(const struct bench *bench, const struct bench_images *in,
                           const struct kernel_spec *spec, struct text *out, cugen_error *err) {
  const struct tune_target *t = bench->target;
  return in->cache || in->with_ptx ? cache_image_key(spec, device_target(t->device, t->arch),
                                                     in->options, t->nvrtc_version, out, err)
                                   : CUGEN_OK;
}

int bench_request_image(struct bench *bench, const struct bench_images *in,
                        const struct kernel_spec *spec, struct compile_job **out,
                        cugen_error *err) {
  struct text key = {0};
  struct compiled compiled = {0};
  bool found = false;
  int status = bench_image_key(bench, in, spec, &key, err);
  const struct hash hash = hash_bytes(text_get(&key), key.length);
  if (!status && in->with_ptx)
    found = kept_images_find(in->with_ptx, &hash, &compiled);
  else if (!status && in->cache)
    status = cache_image_load(in->cache, text_get(&key), &compiled, &found, err);
  if (!status)
    status = found ? compile_pool_adopt(bench->pool, spec, &compiled, out, err)
                   : compile_pool_request(bench->pool, spec, out, err);
  text_free(&key);
  return status;
}

int bench_keep_image(const struct bench *bench, const struct bench_images *in,
                     const struct kernel_spec *spec, struct compile_job *job, cugen_error *err) {
  struct text key = {0};
  if (job->kept) return CUGEN_OK;
  int status = bench_image_key(bench, in, spec, &key, err);
  const struct hash hash = hash_bytes(text_get(&key), key.length);
  if (!status && in->with_ptx)
    kept_images_keep(in->with_ptx, &hash, &job->compiled);
  else if (!status && in->cache)
    status = cache_image_store(in->cache, text_get(&key), &job->compiled, err);
  job->kept = !status;
  text_free(&key);
  return status;
}

/* ---- Kernels that make data and judge results ----------------------------------------------- */

static struct bench_images shared_images(const struct bench *bench) {
  return (struct bench_images){.cache = bench->target->images, .options = bench->target->ops->kind};
}

static int bench_request_build(struct bench *bench, struct bench_kernel *kernel, cugen_error *err) {
  const struct bench_images in = shared_images(bench);
  return bench_request_image(bench, &in, &kernel->spec, &kernel->build, err);
}

static void bench_kernel_free(struct bench *bench, struct bench_kernel *kernel) {
  compile_job_release(bench->pool, kernel->build);
  kernel_spec_free(&kernel->spec);
  text_free(&kernel->name);
}

/* ---- The bench ------------------------------------------------------------------------------ */

static void note_end(void *context) {
  const struct bench *bench = context;
  compile_pool_note(bench->pool);
}

static int open_workers(struct bench *bench, cugen_error *err) {
  const struct tune_target *target = bench->target;
  const char *only = target->device->id;
  /* The worker that listed the GPUs has started CUDA, so it cannot serve the cpu device, whose
     workers fork. */
  const bool takes_looked =
      target->ops->capabilities & DEVICE_EXECUTES_ON_GPU && !target->in_process;
  const struct worker_pool_options options = {
      .worker = {.program = target->worker,
                 .places = target->worker_places,
                 .toolkit = target->toolkit_options,
                 .in_process = target->in_process,
                 .cuda_context = target->cuda_context,
                 .until = &bench->until},
      .looked = takes_looked ? target->looked : NULL,
      .devices = target->device_count ? target->devices : &only,
      .count = target->device_count ? target->device_count : 1,
      .ended = note_end,
      .context = bench};
  return worker_pool_open(&options, &bench->workers, err);
}

int bench_open(const struct tune_target *target, const struct bench_options *options,
               struct bench *out, cugen_error *err) {
  *out = (struct bench){.target = target,
                        .seed = options->seed,
                        .data_most = data_most(),
                        .data_timeout = options->data_timeout,
                        .interrupted = options->interrupted,
                        .context = options->context,
                        .until = options->until};
  const struct compile_pool_options pool = {.ops = target->ops,
                                            .compilers =
                                                target->in_process ? NULL : target->compilers,
                                            .toolkit = target->toolkit,
                                            .arch = target->arch,
                                            .timeout = options->timeout,
                                            .keep_ptx = target->device->facts.is_gpu,
                                            .threads = options->threads,
                                            .variants = options->variants,
                                            .until = options->until};
  int status = expander_open(target->sources, &out->expander, err);
  if (!status) status = compile_pool_open(&pool, &out->pool, err);
  const bool has_kernels = target->ops->capabilities & DEVICE_EXECUTES_ON_GPU && !target->predicted;
  for (int part = 0; part < DATA_PARTS && has_kernels && !status; part++) {
    text_add(&out->kernels[part].name, "a kernel that compares data");
    status = data_kernels_spec(part, &out->kernels[part].spec, err);
    if (!status) status = bench_request_build(out, &out->kernels[part], err);
  }
  if (!status && !target->predicted) status = open_workers(out, err);
  if (!status) status = problem_check(target->config, target->problem, &out->check, err);
  if (status) bench_close(out);
  return status;
}

static void data_free(struct bench *bench, struct bench_data *data) {
  bench_kernel_free(bench, &data->reference);
  bench_kernel_free(bench, &data->verify);
  for (size_t i = 0; i < data->request.generator_count; i++)
    bench_kernel_free(bench, &data->generators[i]);
  free(data->generators);
  free(data->slots);
  free(data->request.generators);
  free(data->spec.arguments);
  if (data->request.shared >= 0) close(data->request.shared);
  free(data);
}

void bench_close(struct bench *bench) {
  worker_pool_close(bench->workers);
  while (bench->data) {
    struct bench_data *next = bench->data->next;
    data_free(bench, bench->data);
    bench->data = next;
  }
  while (bench->faults) {
    struct bench_fault *next = bench->faults->next;
    free(bench->faults);
    bench->faults = next;
  }
  for (int part = 0; part < DATA_PARTS; part++) bench_kernel_free(bench, &bench->kernels[part]);
  while (bench->unpredicted) {
    struct unpredicted_reason *next = bench->unpredicted->next;
    free(bench->unpredicted->of);
    free(bench->unpredicted->placed);
    free(bench->unpredicted);
    bench->unpredicted = next;
  }
  compile_pool_close(bench->pool);
  expander_close(bench->expander);
  problem_free(&bench->check);
  *bench = (struct bench){0};
}

/* ---- Datasets ------------------------------------------------------------------------------- */

/* The problem and the variant that a dataset is made for. variant NULL: there are no shared
   tunables. */
struct situation {
  const struct problem *problem;
  const struct variant *variant;
};

/* Returns the slots of bench_data; NULL: out of memory. */
static struct value *shared_slots(const struct bench *bench, const struct situation *in) {
  const struct tune_target *t = bench->target;
  struct value *slots = calloc(config_slot_count(t->config, NULL) + 1, sizeof *slots);
  if (!slots) return NULL;
  config_slots(t->config, in->problem, &t->device->facts, slots);
  if (in->variant && t->config->shared_tunable_count)
    memcpy(slots + t->config->first_tunable, in->variant->values,
           t->config->shared_tunable_count * sizeof *slots);
  return slots;
}

/* Returns true if data that is still being made has to be given up. */
static bool bench_is_late(void *context) {
  struct bench *bench = context;
  return (bench->interrupted && bench->interrupted(bench->context)) ||
         (bench->until > 0 && clock_seconds() > bench->until);
}

/* Copies the inputs' data from another dataset whose inputs are equal and already made. Returns
   false if there is no such dataset. */
static bool copy_alike(const struct bench *bench, const struct bench_data *data, char *shared) {
  const struct bench_data *other = bench->data;
  while (other && (other == data || !other->made || !other->shared_bytes ||
                   other->request.timed != data->request.timed ||
                   strcmp(other->spec.buffers_hash.hex, data->spec.buffers_hash.hex) != 0))
    other = other->next;
  if (!other) return false;
  const char *from =
      mmap(NULL, other->shared_bytes, PROT_READ, MAP_SHARED, other->request.shared, 0);
  if (from == MAP_FAILED) return false;
  dataset_copy_data(&data->spec, from, shared);
  munmap((void *)(uintptr_t)from, other->shared_bytes);
  return true;
}

/* Makes the shared memory with the inputs' data (data_make), or copies the data from a dataset with
   equal inputs. Then adds the results that the config gives. */
static int bench_make_shared(struct bench *bench, struct bench_data *data, cugen_error *err) {
  const struct tune_target *t = bench->target;
  size_t bytes;
  int status = dataset_shared_size(&data->spec, config_has_results(t->config), data->request.seed,
                                   &bytes, err);
  if (status || !bytes) return status;
  data->request.shared = memfd_create("cugen-data", MFD_CLOEXEC);
  if (data->request.shared < 0 || ftruncate(data->request.shared, (off_t)bytes) != 0)
    return error_set(err, CUGEN_ERROR_MEMORY,
                     "%zu bytes of shared memory for data and reference: %s", bytes,
                     strerror(errno));
  data->shared_bytes = bytes;
  char *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, data->request.shared, 0);
  if (shared == MAP_FAILED)
    return error_set(err, CUGEN_ERROR_MEMORY, "shared memory: %s", strerror(errno));
  const struct data_request request = {.config = t->config,
                                       .sources = t->sources,
                                       .slots = data->slots,
                                       .spec = &data->spec,
                                       .seed = data->request.seed,
                                       .timeout = bench->data_timeout,
                                       .stop = bench_is_late,
                                       .context = bench};
  if (!copy_alike(bench, data, shared)) status = data_make(&request, shared, err);
  if (!status && t->config->answers) status = data_make_answers(&request, shared, err);
  munmap(shared, bytes);
  return status;
}

/* Waits for the kernel's compile, and fills *out except out->argument. */
static int finish_kernel(struct bench *bench, const struct bench_kernel *kernel,
                         struct dataset_kernel *out, cugen_error *err) {
  const struct bench_images in = shared_images(bench);
  const char *name = text_get(&kernel->name);
  cugen_error ignored; /* an image that cannot be stored is compiled again by the next run */
  while (!compile_pool_await(bench->pool, kernel->build, 0.05))
    if (bench_is_late(bench))
      return error_set(err, CUGEN_ERROR_INTERRUPTED, "%s was still being compiled", name);
  if (kernel->build->status) {
    *err = kernel->build->error;
    return error_prefix(err, "%s does not compile", name);
  }
  bench_keep_image(bench, &in, &kernel->spec, kernel->build, &ignored);
  out->name = name;
  out->spec = &kernel->spec;
  out->compiled = &kernel->build->compiled;
  return CUGEN_OK;
}

/* Waits for the images of the data kernels. If one of them fails to compile, the host fills and
   compares. */
static int finish_kernels(struct bench *bench, struct dataset_request *request, cugen_error *err) {
  int status = CUGEN_OK;
  if (!bench->kernels[0].build) return CUGEN_OK;
  for (int part = 0; part < DATA_PARTS && !status; part++) {
    struct dataset_kernel kernel = {0};
    status = finish_kernel(bench, &bench->kernels[part], &kernel, err);
    request->kernels_compiled[part] = kernel.compiled;
  }
  request->has_kernels = !status;
  return status == CUGEN_ERROR_INTERRUPTED ? status : CUGEN_OK;
}

static int request_generators(struct bench *bench, struct bench_data *data,
                              const struct situation *in, cugen_error *err) {
  const struct tune_target *t = bench->target;
  const size_t arguments = data->spec.argument_count;
  int status = CUGEN_OK;
  data->generators = calloc(arguments + 1, sizeof *data->generators);
  data->request.generators = calloc(arguments + 1, sizeof *data->request.generators);
  if (!data->generators || !data->request.generators) return error_memory(err);
  for (size_t i = 0; i < arguments && !status; i++) {
    if (data->spec.arguments[i].data != DATA_GENERATOR) continue;
    const size_t place = data->request.generator_count;
    struct bench_kernel *generator = &data->generators[place];
    status = expand_generator(bench->expander, t->config, in->problem, &t->device->facts,
                              in->variant, i, &generator->spec, err);
    if (status) break;
    data->request.generator_count++;
    data->request.generators[place].argument = i;
    const struct config_argument *a = &t->config->arguments[i];
    const char *entry = a->data.generator;
    text_addf(&generator->name, "%s:%d: the generator %s%s%s of '%s'", a->line.path, a->line.number,
              a->data.file, entry ? ":" : "", entry ? entry : "", a->name);
    status = bench_request_build(bench, generator, err);
  }
  return status;
}

static int request_reference(struct bench *bench, struct bench_data *data,
                             const struct situation *in, cugen_error *err) {
  const struct tune_target *t = bench->target;
  struct samples samples;
  size_t bytes;
  int status = results_layout(&data->spec, data->request.seed, &samples, &bytes, err);
  if (!status)
    status =
        expand_reference(bench->expander, t->config, in->problem, &t->device->facts, in->variant,
                         samples.flat ? samples.count : 0, &data->reference.spec, err);
  samples_free(&samples);
  text_addf(&data->reference.name, "%s:%d: the reference %s", t->config->reference_line.path,
            t->config->reference_line.number, t->config->reference);
  return status ? status : bench_request_build(bench, &data->reference, err);
}

static int request_verify(struct bench *bench, struct bench_data *data, const struct situation *in,
                          cugen_error *err) {
  const struct tune_target *t = bench->target;
  int status = expand_verify(bench->expander, t->config, in->problem, &t->device->facts,
                             in->variant, &data->verify.spec, err);
  text_addf(&data->verify.name, "%s:%d: the verify kernel %s", t->config->verify_line.path,
            t->config->verify_line.number, t->config->verify);
  return status ? status : bench_request_build(bench, &data->verify, err);
}

/* Copies the arguments, whose names and files still belong to the config. */
static int copy_arguments(const struct kernel_spec *from, const struct config *config,
                          struct kernel_spec *to, cugen_error *err) {
  *to = (struct kernel_spec){.variant = (char *)(uintptr_t) "",
                             .flops = from->flops,
                             .buffers_hash = from->buffers_hash,
                             .argument_count = from->argument_count};
  to->arguments = calloc(from->argument_count + 1, sizeof *to->arguments);
  if (!to->arguments) return error_memory(err);
  memcpy(to->arguments, from->arguments, from->argument_count * sizeof *to->arguments);
  for (size_t i = 0; i < to->argument_count; i++) {
    to->arguments[i].name = config->arguments[i].name;
    to->arguments[i].file = config->arguments[i].line.path;
  }
  return CUGEN_OK;
}

/* Returns the link to the dataset of that key, or the link at the end of the list. */
static struct bench_data **find_data(struct bench *bench, const struct hash *key, bool timed) {
  struct bench_data **at = &bench->data;
  while (*at && ((*at)->request.timed != timed || strcmp((*at)->key.hex, key->hex) != 0))
    at = &(*at)->next;
  return at;
}

/* Drops the least recently requested datasets beyond the limits. Keeps datasets with jobs under
   way, and the first DATA_IN_USE of the list, which a job in preparation may have requested. */
static void evict(struct bench *bench) {
  size_t count = 0, bytes = 0;
  for (struct bench_data **at = &bench->data; *at;) {
    struct bench_data *data = *at;
    bytes += data->shared_bytes;
    const bool much = ++count > DATA_IN_USE && (count > DATA_ENTRIES || bytes > bench->data_most);
    if (!much || data->users) {
      at = &data->next;
      continue;
    }
    *at = data->next;
    data_free(bench, data);
  }
}

/* On the cpu device, refuses arguments larger than the machine's memory, because the system would
   kill the process once it has touched too many pages. */
static int check_room(const struct bench *bench, const struct kernel_spec *spec, cugen_error *err) {
  const struct device_facts *facts = &bench->target->device->facts;
  double bytes = 0;
  for (size_t i = 0; i < spec->argument_count; i++)
    if (spec->arguments[i].rank) bytes += (double)kernel_argument_bytes(&spec->arguments[i]);
  if (facts->is_gpu || bytes <= (double)facts->memory_bytes) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_MEMORY,
                   "%s: the arguments of this problem take %.1f GB, and this machine has %.1f GB "
                   "of memory; choose a smaller problem",
                   bench->target->config->path, 1e-9 * bytes, 1e-9 * (double)facts->memory_bytes);
}

/* Creates a dataset, and begins to compile its generators, reference and verify kernel. */
static int request_data(struct bench *bench, const struct kernel_spec *spec,
                        const struct situation *in, bool timed, struct bench_data **out,
                        cugen_error *err) {
  const struct config *config = bench->target->config;
  struct bench_data *d = calloc(1, sizeof *d);
  if (!d) return error_memory(err);
  d->key = spec->data_hash;
  d->request = (struct dataset_request){.id = bench->next_id++,
                                        .spec = &d->spec,
                                        .seed = bench->seed + timed,
                                        .answered = config->answers != NULL,
                                        .timed = timed,
                                        .shared = -1};
  int status = check_room(bench, spec, err);
  if (!status) status = copy_arguments(spec, config, &d->spec, err);
  if (!status && !(d->slots = shared_slots(bench, in))) status = error_memory(err);
  if (!status) status = request_generators(bench, d, in, err);
  if (!status && config->reference) status = request_reference(bench, d, in, err);
  if (!status && config->verify) status = request_verify(bench, d, in, err);
  if (status)
    data_free(bench, d);
  else
    *out = d;
  return status;
}

static int finish_data(struct bench *bench, struct bench_data *d, cugen_error *err) {
  struct dataset_request *request = &d->request;
  int status = CUGEN_OK;
  if (d->made) return CUGEN_OK;
  for (size_t i = 0; i < request->generator_count && !status; i++)
    status = finish_kernel(bench, &d->generators[i], &request->generators[i], err);
  if (!status && d->reference.build)
    status = finish_kernel(bench, &d->reference, &request->reference, err);
  if (!status && d->verify.build) {
    status = finish_kernel(bench, &d->verify, &request->verify, err);
    request->verify.name = bench->target->config->verify; /* verifier.c adds "the verify kernel" */
  }
  if (!status) status = bench_make_shared(bench, d, err);
  if (!status) status = finish_kernels(bench, request, err);
  d->made = !status;
  return status;
}

/* ---- Data that cannot be made --------------------------------------------------------------- */

/* Remembers *err for bench_fault. Returns the status of *err, or CUGEN_ERROR_MEMORY. */
static int note_fault(struct bench *bench, const struct hash *key, bool timed, cugen_error *err) {
  struct bench_fault *fault = calloc(1, sizeof *fault);
  if (!fault) return error_memory(err);
  *fault = (struct bench_fault){.key = *key, .timed = timed, .why = *err, .next = bench->faults};
  bench->faults = fault;
  return err->status;
}

const cugen_error *bench_fault(const struct bench *bench, const struct kernel_spec *spec,
                               bool timed) {
  const struct bench_fault *fault = bench->faults;
  while (fault && (fault->timed != timed || strcmp(fault->key.hex, spec->data_hash.hex) != 0))
    fault = fault->next;
  return fault ? &fault->why : NULL;
}

/* Returns the dataset of a request; NULL: the request is NULL or not of this bench. */
static struct bench_data *data_of(const struct bench *bench,
                                  const struct dataset_request *request) {
  struct bench_data *data = request ? bench->data : NULL;
  while (data && &data->request != request) data = data->next;
  return data;
}

static void use_data(struct bench *bench, const struct worker_job *job, bool begin) {
  struct bench_data *const both[] = {data_of(bench, job->check), data_of(bench, job->real)};
  for (size_t i = 0; i < 2; i++)
    if (both[i]) both[i]->users += begin ? 1 : (size_t)-1;
}

void bench_start(struct bench *bench, size_t worker, const struct worker_job *job) {
  use_data(bench, job, true);
  worker_pool_start(bench->workers, worker, job);
}

int bench_take(struct bench *bench, size_t worker, const struct worker_job *job,
               struct worker_result *out, const struct dataset_request **failed, cugen_error *err) {
  int status = worker_pool_take(bench->workers, worker, out, failed, err);
  use_data(bench, job, false);
  bench->reached[out->measurement.reached] += !status && out->outcome == CUGEN_OUTCOME_OK;
  if (!data_of(bench, *failed)) *failed = NULL;
  return status;
}

int bench_give_up_data(struct bench *bench, const struct dataset_request *failed,
                       cugen_error *err) {
  return note_fault(bench, &data_of(bench, failed)->key, failed->timed, err);
}

static bool is_being_made(struct bench *bench, const struct dataset_request *request) {
  struct bench_data *data = data_of(bench, request);
  if (data && !data->ready) data->ready = worker_pool_has_data(bench->workers, request);
  return data && !data->ready && data->users;
}

bool bench_awaits_data(struct bench *bench, const struct worker_job *job) {
  return is_being_made(bench, job->real) || is_being_made(bench, job->check);
}

int bench_run(struct bench *bench, const struct worker_job *job, struct worker_result *out,
              cugen_error *err) {
  const struct dataset_request *failed;
  bench_start(bench, bench->worker, job);
  for (;;) {
    const size_t events = compile_pool_events(bench->pool);
    if (worker_pool_has_ended(bench->workers, bench->worker)) break;
    if (bench->interrupted && bench->interrupted(bench->context)) worker_pool_stop(bench->workers);
    compile_pool_wait_beyond(bench->pool, events, 0.1);
  }
  int status = bench_take(bench, bench->worker, job, out, &failed, err);
  return failed ? bench_give_up_data(bench, failed, err) : status;
}

void bench_lift_limit(struct bench *bench) {
  bench->until = 0;
}

void bench_foresee(struct bench *bench, const struct kernel_spec *spec,
                   const struct problem *problem, bool timed, const struct variant *variant) {
  struct bench_data *d;
  cugen_error ignored; /* bench_dataset fails in the same way and reports the error */
  if (*find_data(bench, &spec->data_hash, timed) || bench_fault(bench, spec, timed)) return;
  if (request_data(bench, spec, &(struct situation){problem, variant}, timed, &d, &ignored)) return;
  d->next = bench->data;
  bench->data = d;
}

int bench_dataset(struct bench *bench, const struct kernel_spec *spec,
                  const struct problem *problem, bool timed, const struct variant *variant,
                  const struct dataset_request **out, cugen_error *err) {
  const struct situation in = {problem, variant};
  struct bench_data **at = find_data(bench, &spec->data_hash, timed), *d = *at;
  if (d) *at = d->next;
  int status = d ? CUGEN_OK : request_data(bench, spec, &in, timed, &d, err);
  if (!status && (status = finish_data(bench, d, err))) data_free(bench, d);
  /* A lack of memory, an interruption and an internal error are not faults of the data. */
  if (status == CUGEN_ERROR_INTERRUPTED || status == CUGEN_ERROR_INTERNAL ||
      status == CUGEN_ERROR_MEMORY)
    return status;
  if (status) return note_fault(bench, &spec->data_hash, timed, err);
  d->next = bench->data;
  bench->data = d;
  evict(bench);
  *out = &d->request;
  return CUGEN_OK;
}
