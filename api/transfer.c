/* Measuring how fast data moves between host and device. */
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "runtime/devices.h"
#include "transfer.h"
#include "tune/worker/transfer.h"

enum { MOST_SIZES = 64 };

/* The results handed out last. */
struct transfer {
  cugen_device_info device;
  cugen_transfer_row *rows;
  size_t count, planned;
  cugen_error why; /* why the copying kernel does not compile */
  const cugen_transfer_options *options;
};

static void clear_transfer(void *data) {
  free(((struct transfer *)data)->rows);
}

/* ---- Reading the options -------------------------------------------------------------------- */

static int transfer_read_kind(const char *word, size_t length, bool kinds[TRANSFER_KIND_COUNT],
                              cugen_error *err) {
  for (int i = 0; i < TRANSFER_KIND_COUNT; i++)
    if (strlen(transfer_kind_names[i]) == length &&
        strncmp(transfer_kind_names[i], word, length) == 0) {
      kinds[i] = true;
      return CUGEN_OK;
    }
  struct text name = {0};
  text_add_n(&name, word, length);
  const char *near = text_nearest(text_get(&name), transfer_kind_names, TRANSFER_KIND_COUNT);
  error_set(err, CUGEN_ERROR_USAGE, "'%s' is no kind of memory that is measured", text_get(&name));
  if (near) error_append(err, " (nearest '%s')", near);
  error_append(err, "; there are");
  for (int i = 0; i < TRANSFER_KIND_COUNT; i++)
    error_append(err, "%s %s", i ? "," : "", transfer_kind_names[i]);
  text_free(&name);
  return CUGEN_ERROR_USAGE;
}

static int read_kinds(const char *text, bool kinds[TRANSFER_KIND_COUNT], cugen_error *err) {
  static const char separators[] = ", ";
  int status = CUGEN_OK;
  bool any = false;
  for (const char *at = text ? text : ""; !status && *(at += strspn(at, separators)); any = true) {
    size_t length = strcspn(at, separators);
    status = transfer_read_kind(at, length, kinds, err);
    at += length;
  }
  for (int i = 0; i < TRANSFER_KIND_COUNT && !any; i++) kinds[i] = true;
  return status;
}

/* Reads the sizes: those asked for, or 4 KiB to 1 GiB in powers of four. */
static int transfer_read_sizes(const cugen_transfer_options *from, size_t *sizes, size_t *count,
                               cugen_error *err) {
  if (from->size_count > MOST_SIZES)
    return error_set(err, CUGEN_ERROR_USAGE, "%zu sizes are too many: %d at most", from->size_count,
                     MOST_SIZES);
  for (*count = 0; *count < from->size_count; ++*count) {
    int64_t bytes = from->sizes[*count];
    if (bytes < 1 || (uint64_t)bytes > SIZE_MAX / 2)
      return error_set(err, CUGEN_ERROR_USAGE, "%lld bytes cannot be moved: from 1 byte on",
                       (long long)bytes);
    sizes[*count] = (size_t)bytes;
  }
  if (*count) return CUGEN_OK;
  for (size_t bytes = (size_t)4 << 10; bytes <= (size_t)1 << 30; bytes *= 4)
    sizes[(*count)++] = bytes;
  return CUGEN_OK;
}

static int find_gpu(const cugen *lib, int *ordinal, cugen_error *err) {
  const struct device_ops *ops = &cuda_device_ops;
  *ordinal = 0;
  int status = lib->device ? device_find(lib->device, &ops, ordinal, err) : CUGEN_OK;
  if (status) return status;
  if (ops != &cuda_device_ops)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "on the cpu device nothing moves, host and device have one memory: name a "
                     "GPU, such as cuda:0");
  cugen_error why = {0};
  if (ops->count(lib->toolkit, &why) > 0) return CUGEN_OK;
  return error_set(err, why.status,
                   "%s\nMeasuring transfers needs a GPU: 'cugen devices' shows what was found.",
                   why.message);
}

/* ---- The kernel that reads and writes host memory ------------------------------------------- */

static int compile_copier(const cugen *lib, const char *arch, struct compiled *out,
                          cugen_error *err) {
  static const struct sources shipped = {NULL, NULL, NULL};
  static const char *const entries[] = {"transfer_copy"};
  struct text path = {0}, source = {0};
  int status = sources_template(&shipped, "transfer_copy.cu", NULL, NULL, &path, &source, err);
  struct compile_request request = {.toolkit = lib->toolkit,
                                    .name = text_get(&path),
                                    .source = text_get(&source),
                                    .arch = arch,
                                    .entries = entries,
                                    .entry_count = 1};
  if (!status) status = cuda_device_ops.compile(&request, out, err);
  text_free(&path);
  text_free(&source);
  return status;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static int keep_row(const cugen_transfer_row *row, void *context) {
  struct transfer *transfer = context;
  const cugen_transfer_options *options = transfer->options;
  cugen_transfer_row *kept = &transfer->rows[transfer->count++];
  *kept = *row;
  cugen_transfer_progress progress = {transfer->count, transfer->planned, kept};
  return options->progress && options->progress(&progress, options->context)
             ? CUGEN_ERROR_INTERRUPTED
             : CUGEN_OK;
}

static int measure_here(const cugen *lib, int ordinal, struct transfer_options *wanted,
                        struct transfer *out, cugen_error *err) {
  struct device_description device;
  struct compiled copier = {0};
  int status = cuda_device_ops.describe(lib->toolkit, ordinal, &device, err);
  if (status) return status;
  api_device_info(lib, &device, &out->device);
  out->planned = transfer_count(wanted);
  out->rows = calloc(out->planned + TRANSFER_KIND_COUNT, sizeof *out->rows);
  if (!out->rows) return error_memory(err);
  status = compile_copier(lib, device.arch, &copier, &out->why);
  if (status == CUGEN_ERROR_MEMORY) return error_memory(err);
  wanted->copier = status ? NULL : &copier;
  wanted->why = out->why.message;
  wanted->done = keep_row;
  wanted->context = out;
  status = transfer_measure(lib->toolkit, ordinal, wanted, err);
  if (status == CUGEN_ERROR_INTERRUPTED) error_set(err, status, "stopped on request");
  compiled_free(&copier);
  return status;
}

int api_transfer_measure(cugen *lib, const cugen_transfer_options *options, cugen_transfer *out,
                         cugen_error *error) {
  static const cugen_transfer_options defaults = {0};
  size_t sizes[MOST_SIZES];
  int ordinal;
  *out = (cugen_transfer){0};
  if (!options) options = &defaults;
  struct transfer_options wanted = {.sizes = sizes,
                                    .seconds = options->seconds > 0 ? options->seconds : 0.1};
  int status = read_kinds(options->memory, wanted.kinds, error);
  if (!status) status = transfer_read_sizes(options, sizes, &wanted.size_count, error);
  if (!status) status = find_gpu(lib, &ordinal, error);
  if (status) return status;
  struct transfer *transfer = kept_renew(&lib->transfer, sizeof *transfer, clear_transfer, error);
  if (!transfer) return CUGEN_ERROR_MEMORY;
  transfer->options = options;
  status = measure_here(lib, ordinal, &wanted, transfer, error);
  if (status && status != CUGEN_ERROR_INTERRUPTED) return status;
  out->device = &transfer->device;
  out->rows = transfer->rows;
  out->count = transfer->count;
  return status;
}
