/* Writing the input of the C++ compiler; see compile.h. */
#include "compile.h"

#include <ctype.h>
#include <string.h>

#include "base/includes.h"
#include "base/system.h"
#include "headers.h"
#include "runtime/compile/advice.h"
#include "runtime/compile/standard.h"

extern const char cpu_shim_text[]; /* abi.h and the parts of cuda_shim.h, embedded by the build */
extern const size_t cpu_shim_length;

/* ---- The translation unit ------------------------------------------------------------------- */

/* Parts of the shim that take long to parse, and the words without which a source cannot use
   them. */
static const struct {
  const char *macro;
  const char *words[16];
} parts[] = {
    /* a source with ## may paste a name together */
    {"CUGEN_SMALL_FLOATS", {"half", "bf16", "bfloat16", "fp16", "fp8", "##"}},
    /* not "__v" alone, because expressions have names such as __v_x */
    {"CUGEN_SIMD", {"__va", "__vc", "__vh", "__vi", "__vm", "__vn", "__vs", "##"}},
    {"CUGEN_ATOMICS", {"atomic", "include", "##"}},
    {"CUGEN_WARP", {"_sync", "include", "##"}},
    {"CUGEN_TEXTURES", {"tex", "Tex", "surf", "Surf", "include", "##"}},
    {"CUGEN_ROUNDING", {"_rd", "_ru", "_rz", "##"}},
    {"CUGEN_RUNTIME_TYPES",
     {"cudaStream", "cudaEvent", "cudaGraph", "cudaArray", "cudaE", "cudaMemcpy", "cudaRead",
      "cudaAddress", "cudaFilter", "cudaP", "cudaChannel", "cudaMipmapped", "cudaSuccess",
      "cudaTextureReadMode"}},
    {"CUGEN_VIRTUAL", {"virtual"}},
    {"CUGEN_LONG_DOUBLE", {"complex", "random"}},
    {"CUGEN_PTX", {"asm"}},
    {"CUGEN_SURFACES", {"surf"}},
    {"CUGEN_LAUNCHES", {"<<<"}},
    {"CUGEN_NEW", {"new ", "new(", "delete"}},
    {"CUGEN_MOVE", {"std::move", "std::forward"}},
};

bool unit_mentions(const char *text, const char *const *words) {
  for (; *words; words++)
    if (strstr(text, *words)) return true;
  return false;
}

static void write_parts(const struct compile_request *request, struct text *out) {
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    bool has = unit_mentions(request->source, parts[i].words);
    for (size_t j = 0; j < request->entry_count && !has; j++)
      has = unit_mentions(request->entries[j], parts[i].words);
    if (has) text_addf(out, "#define %s 1\n", parts[i].macro);
  }
}

static void write_unit(const struct compile_request *request, struct text *out) {
  if (request->watched) text_add(out, "#define CUGEN_WATCH 1\n");
  if (request->options && strstr(request->options, "-DNDEBUG="))
    text_add(out, "#define CUGEN_NDEBUG 1\n");
  write_parts(request, out);
  text_add_n(out, cpu_shim_text, cpu_shim_length);
  /* An array of variable length is an error in the user's source, as for NVRTC. */
  text_addf(out, "\n#pragma GCC diagnostic error \"-Wvla\"\n#line 1 \"%s\"\n", request->name);
  cpu_translate(request->source, out);
  text_add(out, "\n#pragma GCC diagnostic ignored \"-Wvla\"\n#line 1 \"" CPU_ENTRIES_NAME "\"\n");
  if (strstr(request->source, "this_grid") || strstr(request->source, "grid_group"))
    text_add(out, "CUGEN_COOPERATIVE\n");
  if (strstr(request->source, "align")) text_add(out, "CUGEN_ALIGNED\n");
  /* The names in a launch bound still have their values here, unless the source undefines a
     name. */
  const bool bounds = !strstr(request->source, "#undef");
  for (size_t i = 0; i < request->entry_count; i++) {
    text_addf(out, "CUGEN_ENTRY(%zu, %s)", i, request->entries[i]);
    cpu_translate_numbers(request->source, request->entries[i], i, "__cluster_dims__", "cluster",
                          true, out);
    if (bounds)
      cpu_translate_numbers(request->source, request->entries[i], i, "__launch_bounds__", "bounds",
                            false, out);
    text_add_char(out, '\n');
  }
  text_add(out, "CUGEN_SHARED_END\n");
}

/* ---- Headers -------------------------------------------------------------------------------- */

/* Headers that are written empty, because the shim provides their contents. */
static const char *const empty_headers[] = {"cuda_fp16.h",
                                            "cuda_bf16.h",
                                            "cuda_fp8.h",
                                            "cuda_runtime.h",
                                            "cuda_runtime_api.h",
                                            "cuda_device_runtime_api.h",
                                            "builtin_types.h",
                                            "driver_types.h",
                                            "vector_types.h",
                                            "vector_functions.h",
                                            "device_functions.h",
                                            "device_atomic_functions.h",
                                            "math_functions.h",
                                            "sm_30_intrinsics.h",
                                            "cuda.h",
                                            "device_launch_parameters.h",
                                            "math_constants.h"};
/* The versions for NVRTC (standard.h) replace these headers of the host, whose assert and
   mathematics would conflict with CUDA's. */
static const char *const host_headers[] = {"assert.h", "cassert", "cmath", "math.h"};

/* Headers that only include another header, grouped by folder. */
static const struct {
  const char *folder;
  const char *includes; /* NULL: the host's header of the same name, for cuda::std */
  const char *const names[32];
} forwarded[] = {
    {"cuda/std", NULL, {"algorithm", "array",   "bit",         "cassert",    "cfloat",
                        "climits",   "cmath",   "complex",     "concepts",   "cstddef",
                        "cstdint",   "cstdlib", "cstring",     "functional", "initializer_list",
                        "iterator",  "limits",  "numeric",     "optional",   "ratio",
                        "span",      "tuple",   "type_traits", "utility",    "variant",
                        "version"}},
    {"cuda/std", "cuda/atomic", {"atomic"}},
    {"cuda/std", "cuda/barrier", {"barrier"}},
    {"cooperative_groups", "cooperative_groups.h", {"memcpy_async.h", "reduce.h", "scan.h"}},
    {"cub", "cub/cub.cuh", {"util_debug.cuh", "util_macro.cuh", "util_ptx.cuh", "util_type.cuh"}},
    {"cub/block",
     "cub/cub.cuh",
     {"block_exchange.cuh", "block_load.cuh", "block_radix_sort.cuh", "block_reduce.cuh",
      "block_scan.cuh", "block_store.cuh"}},
    {"cub/thread", "cub/cub.cuh", {"thread_operators.cuh"}},
    {"cub/warp", "cub/cub.cuh", {"warp_exchange.cuh", "warp_reduce.cuh", "warp_scan.cuh"}}};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static void add_forwarded(size_t i, const char *name, struct text *out) {
  text_addf(out, "#include <%s>\n%s", forwarded[i].includes ? forwarded[i].includes : name,
            forwarded[i].includes ? "" : "#include <cuda/cugen_std>\n");
}

/* Writes a file below the folder, and makes the folders in its name. */
static int unit_write_file(const char *folder, const char *name, const char *content, size_t length,
                           cugen_error *err) {
  struct text path = {0}, home = {0};
  text_addf(&path, "%s/%s", folder, name);
  path_folder(text_get(&path), &home);
  int status = path.failed || home.failed ? error_memory(err) : folder_make(text_get(&home), err);
  if (!status) status = file_put(text_get(&path), content, length, err);
  text_free(&path);
  text_free(&home);
  return status;
}

/* Returns true if the source mentions the header's folder or the name before ".h", or curand, which
   needs cuda/ and nv/. cugen's own headers are always wanted, because other headers include
   them. */
static bool wants_header(const char *source, const char *name) {
  struct text family = {0};
  size_t length = strcspn(name, "/.");
  text_add_n(&family, name, length + (name[length] == '/'));
  const bool of_curand =
      strstr(source, "curand") && (!strncmp(name, "cuda/", 5) || !strncmp(name, "nv/", 3));
  const bool wants = !strncmp(name, "cugen_", 6) || of_curand || strstr(source, text_get(&family));
  text_free(&family);
  return wants;
}

static int write_wanted(const char *source, const char *folder, const char *name,
                        const char *content, size_t length, cugen_error *err) {
  struct text path = {0};
  if (!wants_header(source, name)) return CUGEN_OK;
  text_addf(&path, CPU_HEADERS_NAME "/%s", name);
  int status = path.failed ? error_memory(err)
                           : unit_write_file(folder, text_get(&path), content, length, err);
  text_free(&path);
  return status;
}

static int write_forwarded(const char *source, const char *folder, size_t i, cugen_error *err) {
  int status = CUGEN_OK;
  for (const char *const *name = forwarded[i].names; *name && !status; name++) {
    struct text path = {0}, content = {0};
    text_addf(&path, "%s/%s", forwarded[i].folder, *name);
    add_forwarded(i, *name, &content);
    status = path.failed || content.failed ? error_memory(err)
                                           : write_wanted(source, folder, text_get(&path),
                                                          text_get(&content), content.length, err);
    text_free(&path);
    text_free(&content);
  }
  return status;
}

/* Writes only the headers that the source can include, because making files takes time. The name of
   an included header is always written out (base/includes.h). */
static int write_headers(const char *source, const char *folder, cugen_error *err) {
  int status = CUGEN_OK;
  /* A line continuation may split the word "include". */
  if (!strstr(source, "include") && !strstr(source, "\\\n")) return CUGEN_OK;
  for (size_t i = 0; i < sizeof empty_headers / sizeof *empty_headers && !status; i++)
    if (strstr(source, empty_headers[i]))
      status = unit_write_file(folder, empty_headers[i], "", 0, err);
  for (size_t i = 0; i < sizeof host_headers / sizeof *host_headers && !status; i++) {
    const char *text = standard_text(host_headers[i]);
    status = unit_write_file(folder, host_headers[i], text, strlen(text), err);
  }
  for (const struct cpu_header *header = cpu_headers; header->name && !status; header++)
    status = write_wanted(source, folder, header->name, header->text, header->length, err);
  for (size_t i = 0; i < FORWARDED && !status; i++)
    status = write_forwarded(source, folder, i, err);
  return status;
}

/* ---- The whole input ------------------------------------------------------------------------ */

int unit_write(const struct compile_request *request, const char *folder, cugen_error *err) {
  struct text unit = {0};
  write_unit(request, &unit);
  int status = unit.failed ? error_memory(err)
                           /* the translation may have produced an include */
                           : includes_check(text_get(&unit), err);
  if (!status) status = unit_write_file(folder, CPU_UNIT_NAME, text_get(&unit), unit.length, err);
  if (!status) status = write_headers(request->source, folder, err);
  text_free(&unit);
  return status;
}

void cpu_add_code(const char *at, struct text *out) {
  while (*at) {
    const char *end = at + strcspn(at, "/\"'\n");
    if (end == at) end = text_skip_opaque(at);
    const bool is_comment = end > at && at[0] == '/';
    if (end == at && *at == '\n') {
      while (out->length && isblank((unsigned char)out->data[out->length - 1]))
        out->data[--out->length] = '\0';
      if (out->length && out->data[out->length - 1] != '\n') text_add_char(out, '\n');
      while (isspace((unsigned char)*at)) at++;
      continue;
    }
    if (end == at) end++;
    if (is_comment)
      text_add_char(out, ' ');
    else
      text_add_n(out, at, (size_t)(end - at));
    at = end;
  }
}

void unit_add_shim(struct text *out) {
  cpu_add_code(cpu_shim_text, out);
  for (const struct cpu_header *header = cpu_headers; header->name; header++)
    cpu_add_code(header->text, out);
  for (size_t i = 0; i < FORWARDED; i++)
    for (const char *const *name = forwarded[i].names; *name; name++) add_forwarded(i, *name, out);
}
