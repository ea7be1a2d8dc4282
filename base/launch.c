/* The check of a launch against the limits of a device; see launch.h. */
#include "launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "source_place.h"

const struct dimension_limit launch_grid_limits[3] = {
    {"grid x", INT32_MAX}, {"grid y", 65535}, {"grid z", 65535}};
const struct dimension_limit launch_block_limits[3] = {
    {"block x", 1024}, {"block y", 1024}, {"block z", 64}};

int64_t launch_shared_limit(const struct device_facts *facts) {
  return facts->is_gpu ? facts->shared_per_block_optin : LAUNCH_MOST_SHARED;
}

/* Returns the limit of arrays whose size is compiled in. ptxas takes more than 48 KB of static
   shared memory only for targets whose name ends with 'a': sm_90a and its successors. */
static int64_t launch_static_limit(const struct device_facts *facts) {
  const bool specific = facts->architecture_specific && facts->compute_capability >= 90;
  return specific || !facts->is_gpu ? launch_shared_limit(facts) : facts->shared_per_block;
}

/* The arguments of launch_check. */
struct asking {
  const struct device_facts *facts;
  const struct kernel_spec *spec;
  const struct kernel_launch *launch;
  const struct kernel_needs *needs;
  int resident;
  cugen_error *err;
};

static int64_t threads_of(const struct kernel_launch *l) {
  return (int64_t)l->block[0] * l->block[1] * l->block[2];
}

/* ---- Refusing ------------------------------------------------------------------------------- */

/* Finds the place of the kernel's name in the user's file, such as "k.cu:12". Returns false if it
   is unknown. */
static bool kernel_place(const struct kernel_launch *launch, struct text *file, int *line) {
  const char *place = launch->place ? launch->place : "", *colon = strrchr(place, ':');
  if (!colon) return false;
  text_add_n(file, place, (size_t)(colon - place));
  *line = (int)strtol(colon + 1, NULL, 10);
  return *line > 0;
}

/* Refuses the launch. The message begins with the line of the cause if the source shows it, else
   with the kernel's line if that is known. */
static int launch_refuse(const struct asking *a, enum source_cause cause, const char *format, ...)
    PRINTF_LIKE(3, 4);
static int launch_refuse(const struct asking *a, enum source_cause cause, const char *format, ...) {
  const char *source = a->spec->source;
  struct text text = {0}, file = {0};
  int line = 0;
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  const int status = text.failed ? error_memory(a->err)
                                 : error_set_cause(a->err, CUGEN_ERROR_CONFIG,
                                                   CUGEN_CAUSE_RESOURCES, "%s", text_get(&text));
  if ((source && source_place(source, a->launch->entry, cause, &file, &line)) ||
      kernel_place(a->launch, &file, &line))
    error_prefix_at(a->err, text_get(&file), line, NULL);
  text_free(&text);
  text_free(&file);
  return status;
}

/* ---- The checks ----------------------------------------------------------------------------- */

static int check_threads(const struct asking *a) {
  const int64_t threads = threads_of(a->launch), most = a->facts->max_threads_per_block;
  const int bound = a->needs->max_threads;
  if (bound > 0 && threads > bound && bound < 1024)
    return launch_refuse(
        a, SOURCE_BOUNDS,
        "__launch_bounds__ compiles kernel '%s' for blocks of at most %d threads, and "
        "the launch has blocks of "
        "%" PRId64 ": raise the bound, or keep the block within it",
        a->launch->entry, bound, threads);
  if (most <= 0 || threads <= most) return CUGEN_OK;
  return launch_refuse(a, SOURCE_NOTHING,
                       "kernel '%s': a block of %" PRId64
                       " threads; the device takes at most %" PRId64,
                       a->launch->entry, threads, most);
}

/* Registers are allocated per warp, in units of 8 per thread. */
static int check_registers(const struct asking *a) {
  enum { UNIT = 8, WARP = 32 };
  const int64_t warps = (threads_of(a->launch) + WARP - 1) / WARP;
  const int64_t each = (a->needs->registers + UNIT - 1) / UNIT * UNIT, all = warps * WARP * each;
  if (!a->facts->is_gpu || a->facts->registers_per_block <= 0 ||
      all <= a->facts->registers_per_block)
    return CUGEN_OK;
  return launch_refuse(a, SOURCE_NOTHING,
                       "kernel '%s' takes %d registers a thread, so that a block of %" PRId64
                       " threads needs %" PRId64 "; the device has %" PRId64
                       " for a block: __launch_bounds__(%" PRId64
                       ") has the compiler keep to them, or take smaller blocks",
                       a->launch->entry, a->needs->registers, threads_of(a->launch), all,
                       a->facts->registers_per_block, threads_of(a->launch));
}

static int launch_check_shared(const struct asking *a) {
  const int64_t fixed = a->needs->static_shared, total = fixed + a->launch->shared_bytes;
  const int64_t most_fixed = launch_static_limit(a->facts), most = launch_shared_limit(a->facts);
  if (most_fixed > 0 && fixed > most_fixed)
    return launch_refuse(a, SOURCE_SHARED,
                         "kernel '%s' has %" PRId64
                         " bytes of static shared memory, a block may have %" PRId64
                         ": use dynamic shared memory, whose size 'shared' sets in the config",
                         a->launch->entry, fixed, most_fixed);
  if (most <= 0 || total <= most) return CUGEN_OK;
  return launch_refuse(a, fixed ? SOURCE_SHARED : SOURCE_NOTHING,
                       "kernel '%s' needs %" PRId64 " bytes of shared memory a block (%" PRId64
                       " static, %" PRId64 " dynamic), the device gives at most %" PRId64,
                       a->launch->entry, total, fixed, a->launch->shared_bytes, most);
}

static int check_constants(const struct asking *a) {
  const int64_t most = a->facts->constant_bytes;
  if (most <= 0 || a->needs->constant_bytes <= most) return CUGEN_OK;
  return launch_refuse(a, SOURCE_CONSTANT,
                       "the source's __constant__ variables have %" PRId64
                       " bytes, a source may have %" PRId64
                       ": give the kernel what is large by its address",
                       a->needs->constant_bytes, most);
}

static int launch_check_cluster(const struct asking *a) {
  const int *cluster = a->needs->cluster;
  const uint32_t *grid = a->launch->grid;
  const int blocks = cluster[0] * cluster[1] * cluster[2];
  const bool consumer = a->facts->compute_capability / 10 == 12; /* sm_120, sm_121 */
  const int most = a->facts->is_gpu && consumer ? LAUNCH_CLUSTER_PORTABLE : LAUNCH_CLUSTER_MOST;
  if (blocks <= 1) return CUGEN_OK;
  if (blocks > most) {
    return launch_refuse(a, SOURCE_CLUSTER,
                         "kernel '%s' has clusters of %dx%dx%d blocks; a cluster has at most %d",
                         a->launch->entry, cluster[0], cluster[1], cluster[2], most);
  }
  for (int i = 0; i < 3; i++) {
    if (grid[i] % (uint32_t)cluster[i] == 0) continue;
    return launch_refuse(a, SOURCE_CLUSTER,
                         "kernel '%s': a grid of %ux%ux%u blocks is not made of whole clusters of "
                         "%dx%dx%d: round %s up to a "
                         "multiple of "
                         "%d, and have the kernel do nothing past the end, or take another cluster",
                         a->launch->entry, grid[0], grid[1], grid[2], cluster[0], cluster[1],
                         cluster[2], launch_grid_limits[i].name, cluster[i]);
  }
  return CUGEN_OK;
}

static int launch_check_cooperative(const struct asking *a) {
  const uint32_t *grid = a->launch->grid;
  const int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2],
                most = a->resident * a->facts->sm_count;
  if (a->needs->grid_sync && !a->launch->cooperative)
    return launch_refuse(a, SOURCE_GRID_SYNC, "kernel '%s' " LAUNCH_GRID_SYNC, a->launch->entry);
  if (!a->launch->cooperative || a->resident < 0 || a->facts->sm_count <= 0 || blocks <= most)
    return CUGEN_OK;
  return launch_refuse(
      a, SOURCE_NOTHING,
      "kernel '%s': the %" PRId64
      " blocks of a cooperative launch must all be there at once, and the device holds %" PRId64
      " of them: %" PRId64
      " multiprocessors with %d each. Take fewer blocks, each of which does more",
      a->launch->entry, blocks, most, a->facts->sm_count, a->resident);
}

/* At least one block must fit on a multiprocessor, for any launch. */
static int check_fits(const struct asking *a) {
  if (a->resident) return CUGEN_OK;
  return launch_refuse(a, SOURCE_NOTHING,
                       "kernel '%s': a block of %" PRId64
                       " threads, %d registers a thread and %" PRId64
                       " bytes of shared memory does not fit on a multiprocessor",
                       a->launch->entry, threads_of(a->launch), a->needs->registers,
                       a->needs->static_shared + a->launch->shared_bytes);
}

int launch_check(const struct device_facts *facts, const struct kernel_spec *spec, size_t launch,
                 const struct kernel_needs *needs, int resident, cugen_error *err) {
  static int (*const checks[])(const struct asking *) = {
      check_threads,        check_registers, launch_check_shared,     check_constants,
      launch_check_cluster, check_fits,      launch_check_cooperative};
  cugen_error ignored;
  const struct asking asking = {.facts = facts,
                                .spec = spec,
                                .launch = &spec->launches[launch],
                                .needs = needs,
                                .resident = resident,
                                .err = err ? err : &ignored};
  int status = CUGEN_OK;
  for (size_t i = 0; i < sizeof checks / sizeof *checks && !status; i++)
    status = checks[i](&asking);
  return status;
}

/* The message names the first line of the source that may wait, because which kernel waited is not
   known. */
int launch_refuse_grid_sync(const struct kernel_spec *spec, cugen_error *err) {
  const struct kernel_launch *first = NULL;
  bool several = false;
  for (size_t i = 0; i < spec->launch_count; i++) {
    const struct kernel_launch *launch = &spec->launches[i];
    if (launch->cooperative) continue;
    several |= first && strcmp(first->entry, launch->entry) != 0;
    if (!first) first = launch;
  }
  const struct asking asking = {.spec = spec, .launch = first ? first : spec->launches, .err = err};
  if (several)
    return launch_refuse(&asking, SOURCE_GRID_SYNC, "one of its kernels " LAUNCH_GRID_SYNC);
  return launch_refuse(&asking, SOURCE_GRID_SYNC, "kernel '%s' " LAUNCH_GRID_SYNC,
                       asking.launch->entry);
}

int launch_check_constants(const struct device_facts *facts, const struct kernel_spec *spec,
                           cugen_error *err) {
  const struct kernel_argument *largest = NULL;
  int64_t total = 0;
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *argument = &spec->arguments[i];
    if (argument->absent || argument->access != ACCESS_CONSTANT) continue;
    total += kernel_argument_bytes(argument);
    if (!largest || kernel_argument_bytes(argument) > kernel_argument_bytes(largest))
      largest = argument;
  }
  if (!largest || facts->constant_bytes <= 0 || total <= facts->constant_bytes) return CUGEN_OK;
  error_set_cause(err, CUGEN_ERROR_CONFIG, CUGEN_CAUSE_RESOURCES,
                  "constant '%s' has %" PRId64 " bytes, the config's constants %" PRId64
                  "; __constant__ variables have at most %" PRId64
                  ": have it read by its address: declare it an input, or, where no reference "
                  "reads it, access = \"global\"",
                  largest->name, kernel_argument_bytes(largest), total, facts->constant_bytes);
  if (largest->file && *largest->file) error_prefix_at(err, largest->file, largest->line, NULL);
  return CUGEN_ERROR_CONFIG;
}
