/* Opening NVRTC at run time, and compiling with it; see nvrtc.h. */
#include "nvrtc.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/capability.h"
#include "base/includes.h"
#include "base/system.h"
#include "compilers.h"
#include "runtime/compile/advice.h"
#include "runtime/compile/standard.h"
#include "runtime/compile/toolkit.h"
#include "runtime/model/cubin.h"

/* member, exact symbol, required, parameters. The parameters are written out, so that the header's
   version does not determine the symbol. */
#define NVRTC_FUNCTIONS(X)                                                                         \
  X(version, nvrtcVersion, true, (int *, int *))                                                   \
  X(arch_count, nvrtcGetNumSupportedArchs, true, (int *))                                          \
  X(archs, nvrtcGetSupportedArchs, true, (int *))                                                  \
  X(create, nvrtcCreateProgram, true,                                                              \
    (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *))   \
  X(destroy, nvrtcDestroyProgram, true, (nvrtcProgram *))                                          \
  X(compile, nvrtcCompileProgram, true, (nvrtcProgram, int, const char *const *))                  \
  X(add_name, nvrtcAddNameExpression, true, (nvrtcProgram, const char *))                          \
  X(lowered_name, nvrtcGetLoweredName, true, (nvrtcProgram, const char *, const char **))          \
  X(cubin_size, nvrtcGetCUBINSize, true, (nvrtcProgram, size_t *))                                 \
  X(cubin, nvrtcGetCUBIN, true, (nvrtcProgram, char *))                                            \
  X(ptx_size, nvrtcGetPTXSize, false, (nvrtcProgram, size_t *))                                    \
  X(ptx, nvrtcGetPTX, false, (nvrtcProgram, char *))                                               \
  X(log_size, nvrtcGetProgramLogSize, true, (nvrtcProgram, size_t *))                              \
  X(log, nvrtcGetProgramLog, true, (nvrtcProgram, char *))                                         \
  X(flow_callback, nvrtcSetFlowCallback, false, (nvrtcProgram, int (*)(void *, void *), void *))

enum { MAX_ARCHS = 64 };

struct nvrtc {
#define X(member, symbol, required, parameters) nvrtcResult(*member) parameters;
  NVRTC_FUNCTIONS(X)
#undef X
  const char *(*result_text)(nvrtcResult);
  int number; /* 13000 for 13.0 */
  int arch_numbers[MAX_ARCHS], arch_total;
};

static const struct toolkit_symbol symbols[] = {
#define X(member, symbol, required, parameters) {#symbol, offsetof(struct nvrtc, member), required},
    NVRTC_FUNCTIONS(X)
#undef X
        {"nvrtcGetErrorString", offsetof(struct nvrtc, result_text), true}};

/* ---- Opening -------------------------------------------------------------------------------- */

static int ask_version(struct nvrtc *nvrtc, cugen_error *err) {
  int major = 0, minor = 0, count = 0;
  nvrtcResult result = nvrtc->version(&major, &minor);
  if (!result) result = nvrtc->arch_count(&count);
  if (!result && (count < 1 || count > MAX_ARCHS)) result = NVRTC_ERROR_INTERNAL_ERROR;
  if (!result) result = nvrtc->archs(nvrtc->arch_numbers);
  if (result)
    return error_set(err, CUGEN_ERROR_MISSING,
                     "this NVRTC does not say its version and architectures: %s",
                     nvrtc->result_text(result));
  nvrtc->number = 1000 * major + 10 * minor;
  nvrtc->arch_total = count;
  return CUGEN_OK;
}

/* Checks that NVRTC's version is that of the files beside it, which toolkit_nvrtc_version
   returns. */
static int check_version(const struct toolkit *toolkit, const struct nvrtc *nvrtc,
                         cugen_error *err) {
  int told = toolkit_nvrtc_version(toolkit);
  if (!told || told == nvrtc->number) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_MISSING,
                   "%s says that it is NVRTC %d.%d, but beside it lie the builtins of %d.%d: two "
                   "toolkits are mixed there; name another folder with cugen_options.toolkit",
                   text_get(&toolkit->nvrtc), nvrtc->number / 1000, nvrtc->number % 1000 / 10,
                   told / 1000, told % 1000 / 10);
}

/* Loads the builtins library, which NVRTC opens by name alone: the loader resolves the name if the
   library is already in memory. The NVRTC of the Python wheels has no search path to its own
   folder. */
static int load_builtins(const struct toolkit *toolkit, const struct nvrtc *nvrtc,
                         cugen_error *err) {
  struct text path = {0};
  path_folder(text_get(&toolkit->nvrtc), &path);
  text_addf(&path, "/libnvrtc-builtins.so.%d.%d", nvrtc->number / 1000, nvrtc->number % 1000 / 10);
  int status = path.failed ? error_memory(err) : CUGEN_OK;
  if (!status && strchr(text_get(&toolkit->nvrtc), '/'))
    dlopen(text_get(&path), RTLD_NOW | RTLD_LOCAL);
  text_free(&path);
  return status;
}

static int nvrtc_load(const struct toolkit *toolkit, void **table, cugen_error *err) {
  if (!toolkit->nvrtc.length) return toolkit_missing(toolkit, TOOLKIT_PART_NVRTC, err);
  int status =
      toolkit_load_table(text_get(&toolkit->nvrtc), symbols, sizeof symbols / sizeof *symbols,
                         sizeof(struct nvrtc), table, err);
  if (!status) status = ask_version(*table, err);
  if (!status) status = check_version(toolkit, *table, err);
  if (!status) status = load_builtins(toolkit, *table, err);
  return status ? error_prefix(err, "NVRTC cannot be used") : CUGEN_OK;
}

int nvrtc_open(const struct toolkit *toolkit, const struct nvrtc **out, cugen_error *err) {
  const void *table;
  int status = toolkit_library(toolkit, TOOLKIT_NVRTC, nvrtc_load, &table, err);
  *out = table;
  return status;
}

int nvrtc_version(const struct nvrtc *nvrtc) {
  return nvrtc->number;
}

/* ---- Architectures -------------------------------------------------------------------------- */

static int unknown_arch(const struct nvrtc *nvrtc, const char *arch, cugen_error *err) {
  struct text known = {0};
  struct arch parsed;
  for (int i = 0; i < nvrtc->arch_total; i++) text_addf(&known, " sm_%d", nvrtc->arch_numbers[i]);
  bool older = arch && arch_parse(arch, &parsed) && parsed.capability < GPU_OLDEST_TARGET &&
               parsed.capability >= GPU_OLDEST_TARGET_12;
  error_set(
      err, CUGEN_ERROR_COMPILE,
      "NVRTC %d.%d cannot compile for '%s': it knows%s.\nName %s with cugen_options.toolkit%s.",
      nvrtc->number / 1000, nvrtc->number % 1000 / 10, arch ? arch : "", text_get(&known),
      older ? "a CUDA 12 toolkit, the last that knows it,"
            : "one of these with cugen_options.arch, or a toolkit that knows the GPU",
      older ? " (docs/old-cards.md says where it comes from)" : "");
  text_free(&known);
  return CUGEN_ERROR_COMPILE;
}

/* Returns the highest known architecture not above `number` with the same major version; 0: none. A
   cubin runs on devices of the same major version and an equal or higher minor version (CUDA C++
   Programming Guide, "Binary Compatibility"). */
static int nearest_arch(const struct nvrtc *nvrtc, int number) {
  int best = 0;
  for (int i = 0; i < nvrtc->arch_total; i++) {
    int known = nvrtc->arch_numbers[i];
    if (known <= number && known / 10 == number / 10 && known > best) best = known;
  }
  return best;
}

/* "compute_75" asks for PTX, which the driver compiles. */
static bool is_virtual(const char *arch) {
  return arch && strncmp(arch, "compute_", 8) == 0;
}

static bool knows_virtual(const struct nvrtc *nvrtc, const char *arch) {
  char *end;
  long number = strtol(arch + strlen("compute_"), &end, 10);
  bool known = false;
  for (int i = 0; i < nvrtc->arch_total; i++) known |= nvrtc->arch_numbers[i] == number;
  return known && (!*end || strcmp(end, "a") == 0 || strcmp(end, "f") == 0);
}

/* Takes "sm_90a" as it is if NVRTC knows 90; otherwise takes the nearest lower architecture,
   with a note. */
static int nvrtc_choose_arch(const struct nvrtc *nvrtc, const char *arch, struct text *out,
                             struct text *note, cugen_error *err) {
  struct arch known;
  if (is_virtual(arch)) {
    text_add(out, arch);
    return nvrtc->ptx_size && nvrtc->ptx && knows_virtual(nvrtc, arch)
               ? CUGEN_OK
               : unknown_arch(nvrtc, arch, err);
  }
  const int nearest = arch && arch_parse(arch, &known) ? nearest_arch(nvrtc, known.capability) : 0;
  if (!nearest) return unknown_arch(nvrtc, arch, err);
  if (nearest == known.capability)
    text_add(out, arch);
  else
    text_addf(out, "sm_%d", nearest);
  if (nearest != known.capability)
    text_addf(note, "compiled for sm_%d: this NVRTC does not know %s\n", nearest, arch);
  return CUGEN_OK;
}

int nvrtc_check_arch(const struct toolkit *toolkit, const char *arch, cugen_error *err) {
  const struct nvrtc *nvrtc;
  struct text taken = {0}, note = {0};
  int status = nvrtc_open(toolkit, &nvrtc, err);
  if (!status) status = nvrtc_choose_arch(nvrtc, arch, &taken, &note, err);
  text_free(&taken);
  text_free(&note);
  return status;
}

/* ---- The log -------------------------------------------------------------------------------- */

/* Changes a diagnostic's "file(12): error" to the usual "file:12: error". */
static void add_diagnostic(const char *line, size_t length, struct text *out) {
  size_t open = 0;
  for (size_t i = 0; i + 2 < length; i++) {
    if (line[i] == '(') open = i;
    if (open && line[i] == ')' && line[i + 1] == ':' &&
        strspn(line + open + 1, "0123456789") == i - open - 1) {
      text_addf(out, "%.*s:%.*s", (int)open, line, (int)(i - open - 1), line + open + 1);
      text_add_n(out, line + i + 1, length - i - 1);
      return;
    }
  }
  text_add_n(out, line, length);
}

/* Returns whether the line is one of ptxas's verbose figures, not a warning: "ptxas info : ..." or
   its continuation "ptxas  . ...". */
static bool is_figure(const char *line) {
  if (strncmp(line, "ptxas ", 6)) return false;
  line += strspn(line + 5, " ") + 5;
  return !strncmp(line, "info", 4) || *line == '.';
}

/* Appends at most `lines` lines of the log without the figures. */
static void add_log(const char *log, int lines, struct text *out) {
  while (*log && lines > 0) {
    size_t length = strcspn(log, "\n");
    if (!is_figure(log) && length) {
      add_diagnostic(log, length, out);
      text_add_char(out, '\n');
      lines--;
    }
    log += length + (log[length] == '\n');
  }
}

/* ---- Compiling ------------------------------------------------------------------------------ */

/* A compile in progress. */
struct job {
  const struct nvrtc *nvrtc;
  const struct compile_request *request;
  nvrtcProgram program;
  struct text arch; /* the architecture that is compiled for, which may be an earlier one */
  struct text note; /* a line for the log if `arch` is another architecture than requested */
  struct text log;
  double deadline; /* 0: no deadline */
};

/* Lack of memory or of the builtins is not CUGEN_ERROR_COMPILE, because it is no fault of the
   source. */
static int job_error(const struct job *job, nvrtcResult result, const char *doing,
                     cugen_error *err) {
  const bool builtins = result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  const int status = result == NVRTC_ERROR_OUT_OF_MEMORY ? CUGEN_ERROR_MEMORY
                     : builtins                          ? CUGEN_ERROR_IO
                                                         : CUGEN_ERROR_COMPILE;
  return error_set(err, status, "%s: NVRTC failed to %s: %s%s", job->request->name, doing,
                   job->nvrtc->result_text(result),
                   builtins ? ". This is no fault of the source: is libnvrtc-builtins beside "
                              "libnvrtc, and is there memory and room for temporary files?"
                            : "");
}

/* Called from NVRTC's threads. */
static int past_deadline(void *context, void *reserved) {
  (void)reserved;
  const struct job *job = context;
  return clock_seconds() > job->deadline;
}

static bool nvrtc_is_late(const struct job *job) {
  return job->deadline > 0 && clock_seconds() > job->deadline;
}

static int job_create(struct job *job, cugen_error *err) {
  const struct nvrtc *nvrtc = job->nvrtc;
  const struct compile_request *request = job->request;
  const char *texts[STANDARD_MOST], *names[STANDARD_MOST];
  int count = standard_list(texts, names);
  nvrtcResult result =
      nvrtc->create(&job->program, request->source, request->name, count, texts, names);
  if (result) return job_error(job, result, "take the source", err);
  for (size_t i = 0; i < request->entry_count; i++)
    if ((result = nvrtc->add_name(job->program, request->entries[i])))
      return job_error(job, result, "take a kernel's name", err);
  if (job->deadline > 0) nvrtc->flow_callback(job->program, past_deadline, job);
  return CUGEN_OK;
}

/* Returns NULL without memory. */
static const char *job_log(struct job *job) {
  size_t size = 0;
  if (job->nvrtc->log_size(job->program, &size) || !size) return "";
  char *log = calloc(1, size + 1);
  if (!log) return NULL;
  job->nvrtc->log(job->program, log);
  text_add(&job->log, log);
  free(log);
  return job->log.failed ? NULL : text_get(&job->log);
}

/* More diagnostics than these mostly follow from the first. */
enum { DIAGNOSTIC_LINES = 16, LOG_LINES = 1000 };

/* Returns whether the log has an error. */
static bool says_why(struct job *job) {
  struct text found = {0};
  const char *log = job_log(job);
  add_log(log ? log : "", LOG_LINES, &found);
  const bool says = strstr(text_get(&found), "error") != NULL;
  text_free(&found);
  text_clear(&job->log);
  return says;
}

static int job_refused(struct job *job, nvrtcResult result, cugen_error *err) {
  const struct compile_request *request = job->request;
  if (nvrtc_is_late(job))
    return error_set_cause(err, CUGEN_ERROR_COMPILE, CUGEN_CAUSE_COMPILE_TIME,
                           "%s: " COMPILE_LATE "%g s", request->name, request->timeout);
  const char *log = job_log(job);
  if (!log) return error_memory(err);
  struct text lines = {0}, found = {0};
  struct advice advice = {.request = request};
  add_log(log, DIAGNOSTIC_LINES, &found);
  for (const char *at = text_get(&found); *at; at += strcspn(at, "\n"), at += *at == '\n') {
    advice_add(&advice, at, strcspn(at, "\n"), NULL, &lines);
    text_add_char(&lines, '\n');
  }
  text_free(&found);
  if (result == NVRTC_ERROR_COMPILATION && lines.length)
    error_set(err, CUGEN_ERROR_COMPILE, "NVRTC refused the source:\n%s", text_get(&lines));
  else
    job_error(job, result, "compile", err),
        error_append(err, "%s%s", lines.length ? "\n" : "", text_get(&lines));
  error_place(err, advice.where.file, advice.where.line);
  text_free(&lines);
  return err ? err->status : CUGEN_ERROR_COMPILE;
}

struct options {
  char **list;
  size_t count;
  bool failed;
};

static void add_option(struct options *options, const char *option, const char *value) {
  struct text text = {0};
  text_addf(&text, "%s%s", option, value);
  options->failed |=
      text.failed || !array_add_text(&options->list, &options->count, text_get(&text));
  text_free(&text);
}

static void add_requested(struct options *options, const char *requested) {
  for (const char *at = requested; *at; at += strspn(at, " ")) {
    struct text word = {0};
    text_add_n(&word, at, strcspn(at, " "));
    at += word.failed ? strcspn(at, " ") : word.length;
    options->failed |= word.failed;
    add_option(options, text_get(&word), "");
    text_free(&word);
  }
}

/* From this version on NVRTC looks for images in the driver's cache, below the user's home, and
   would start the driver in this process to do so. cugen has a cache of its own. */
enum { CACHES = 12090 };

/* Returns 0 and NVRTC's result in *result, or an error for lack of memory. figures: ask ptxas for
   the resources of each kernel. */
static int run_nvrtc(struct job *job, bool figures, nvrtcResult *result, cugen_error *err) {
  const struct toolkit *toolkit = job->request->toolkit;
  const char *requested = job->request->options ? job->request->options : "";
  struct options options = {0};
  add_option(&options, "--gpu-architecture=", text_get(&job->arch));
  add_option(&options, "-default-device", "");
  if (figures) add_option(&options, "--ptxas-options=-v", "");
  if (job->nvrtc->number >= CACHES) add_option(&options, "--no-cache", "");
  if (!strstr(requested, "--std=")) add_option(&options, "--std=c++17", "");
  add_requested(&options, requested);
  if (toolkit->include.length) add_option(&options, "--include-path=", text_get(&toolkit->include));
  if (toolkit->core.length) add_option(&options, "--include-path=", text_get(&toolkit->core));
  const int status = options.failed ? error_memory(err) : CUGEN_OK;
  if (!status)
    *result =
        job->nvrtc->compile(job->program, (int)options.count, (const char *const *)options.list);
  array_free_texts(options.list, options.count);
  return status;
}

static int job_compile(struct job *job, cugen_error *err) {
  nvrtcResult result = NVRTC_SUCCESS;
  int status = run_nvrtc(job, true, &result, err);
  if (!status && result == NVRTC_ERROR_COMPILATION && !nvrtc_is_late(job) && !says_why(job)) {
    /* When figures are requested, NVRTC 13.0 omits ptxas's reason for refusing a source from its
       log. Therefore the source is compiled again without figures. */
    nvrtcResult again = result;
    job->nvrtc->destroy(&job->program);
    job->program = NULL;
    status = job_create(job, err);
    if (!status) status = run_nvrtc(job, false, &again, err);
    if (again != NVRTC_SUCCESS) result = again;
  }
  return status || !result ? status : job_refused(job, result, err);
}

/* Takes the cubin, or the PTX of the same compile; *out has a final zero, which the length of PTX,
   but not that of a cubin, includes. */
static int take_code(struct job *job, bool ptx, char **out, size_t *length, cugen_error *err) {
  const struct nvrtc *nvrtc = job->nvrtc;
  nvrtcResult result = (ptx ? nvrtc->ptx_size : nvrtc->cubin_size)(job->program, length);
  if (result) return job_error(job, result, "give the code's size", err);
  if (*length > (size_t)COMPILER_IMAGE_MB << 20)
    return error_set(err, CUGEN_ERROR_COMPILE,
                     "%s: the compiled code has %zu MB; at most %d MB are taken",
                     job->request->name, *length >> 20, COMPILER_IMAGE_MB);
  *out = calloc(1, *length + 1);
  if (!*out) return error_memory(err);
  result = (ptx ? nvrtc->ptx : nvrtc->cubin)(job->program, *out);
  return result ? job_error(job, result, "give the code", err) : CUGEN_OK;
}

/* Leaves *out NULL if this NVRTC gives no PTX. */
static int take_ptx(struct job *job, char **out, cugen_error *err) {
  size_t length;
  if (!job->nvrtc->ptx_size || !job->nvrtc->ptx) return CUGEN_OK;
  return take_code(job, true, out, &length, err);
}

/* Returns the text of the kernel in PTX, from its name to the '}' that begins a line; NULL: the PTX
   has no such kernel. */
static const char *nvrtc_find_body(const char *ptx, const char *entry, size_t *length) {
  const size_t name = strlen(entry);
  for (const char *at = ptx; (at = strstr(at, ".entry ")) != NULL; at++) {
    const char *begin = at + strlen(".entry "), *end = strstr(begin, "\n}");
    if (strncmp(begin, entry, name) != 0 || text_is_word(begin[name]) || !end) continue;
    *length = (size_t)(end - begin);
    return begin;
  }
  return NULL;
}

/* Returns whether the kernel seems to need a cooperative launch. grid.sync() asks for one by
   reading two registers that the driver sets, and traps if the launch is not cooperative
   (cooperative_groups.h: get_grid_workspace, grid_group::sync); is_valid() has no trap. */
static bool needs_grid(const char *ptx, const char *entry) {
  static const char asks[] = "%envreg2", traps[] = "trap;";
  size_t length = 0;
  const char *body = nvrtc_find_body(ptx, entry, &length), *function = strstr(ptx, ".func ");
  if (!body || !memmem(body, length, asks, sizeof asks - 1)) return false;
  return memmem(body, length, traps, sizeof traps - 1) || (function && strstr(function, traps));
}

/* Notes which kernels wait for their grid, if the source mentions grid groups. */
static int note_grids(struct job *job, struct compiled *out, cugen_error *err) {
  const char *source = job->request->source;
  char *ptx = NULL;
  if (!strstr(source, "this_grid") && !strstr(source, "grid_group")) return CUGEN_OK;
  int status = out->ptx ? CUGEN_OK : take_ptx(job, &ptx, err);
  const char *text = out->ptx ? out->ptx : ptx;
  for (size_t i = 0; i < out->entry_count && !status && text; i++)
    out->resources[i].grid_sync = needs_grid(text, out->entries[i]);
  free(ptx);
  return status;
}

static int nvrtc_take_entry(struct job *job, size_t index, const char *log, struct compiled *out,
                            cugen_error *err) {
  const char *lowered = NULL, *entry = job->request->entries[index];
  nvrtcResult result = job->nvrtc->lowered_name(job->program, entry, &lowered);
  if (result)
    return job_error(job, result, "name a kernel", err), error_append(err, " (%s)", entry);
  out->entries[index] = strdup(lowered);
  if (!out->entries[index]) return error_memory(err);
  out->entry_count = index + 1;
  /* the resources are not known before the driver compiles the PTX */
  if (is_virtual(job->request->arch)) return CUGEN_OK;
  struct kernel_resources *resources = &out->resources[index];
  int status = cubin_resources(out->image, out->image_length, lowered, resources, err);
  if (!status) resources->spill_bytes = ptxas_log_spills(log, lowered);
  out->code[index] = cubin_code(out->image, out->image_length, lowered);
  return status;
}

/* Refuses code that ptxas made slower than the source (ptxas_log_loss), and wgmma kernels that use
   local memory, because measuring them wastes time. */
static int check_wgmma(const struct job *job, const char *log, const struct compiled *out,
                       cugen_error *err) {
  size_t length;
  const char *loss = ptxas_log_loss(log, &length);
  if (loss)
    return error_set(err, CUGEN_ERROR_COMPILE, "ptxas would make the kernel slow: %.*s",
                     (int)length, loss);
  if (is_virtual(job->request->arch) || !strstr(job->request->source, "wgmma.mma_async"))
    return CUGEN_OK;
  for (size_t i = 0; i < out->entry_count; i++)
    if (out->resources[i].local_bytes)
      return error_set(err, CUGEN_ERROR_COMPILE,
                       "a kernel on wgmma has %lld bytes of local memory a thread",
                       (long long)out->resources[i].local_bytes);
  return CUGEN_OK;
}

static int nvrtc_take_results(struct job *job, struct compiled *out, cugen_error *err) {
  const char *log = job_log(job);
  char *image = NULL;
  if (!log) return error_memory(err);
  int status = take_code(job, is_virtual(job->request->arch), &image, &out->image_length, err);
  out->image = image;
  if (!status) out->image_hash = hash_bytes(out->image, out->image_length);
  if (!status && job->request->keep_ptx) status = take_ptx(job, &out->ptx, err);
  for (size_t i = 0; i < job->request->entry_count && !status; i++)
    status = nvrtc_take_entry(job, i, log, out, err);
  if (!status) status = note_grids(job, out, err);
  if (!status) status = check_wgmma(job, log, out, err);
  if (status) return status;
  add_log(log, LOG_LINES, &job->note);
  out->log = text_take(&job->note);
  return out->log ? CUGEN_OK : error_memory(err);
}

int nvrtc_compile(const struct nvrtc *nvrtc, const struct compile_request *request,
                  struct compiled *out, cugen_error *err) {
  *out = (struct compiled){0};
  if (request->entry_count > KERNEL_MAX_ENTRIES)
    return error_set(err, CUGEN_ERROR_INTERNAL, "%s: more than %d kernels in one source",
                     request->name, KERNEL_MAX_ENTRIES);
  struct job job = {.nvrtc = nvrtc, .request = request};
  int status = includes_check(request->source, err);
  if (!status) status = nvrtc_choose_arch(nvrtc, request->arch, &job.arch, &job.note, err);
  if (request->timeout > 0 && nvrtc->flow_callback)
    job.deadline = clock_seconds() + request->timeout;
  if (!status) status = job_create(&job, err);
  if (!status) status = job_compile(&job, err);
  if (!status) status = nvrtc_take_results(&job, out, err);
  if (job.program) nvrtc->destroy(&job.program);
  text_free(&job.arch);
  text_free(&job.note);
  text_free(&job.log);
  if (status) compiled_free(out);
  return status;
}
