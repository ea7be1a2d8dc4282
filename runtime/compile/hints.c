/* The words of advice on compilers' diagnostics; see hints.h. */
#include "hints.h"

#include <string.h>

#define HOST                                                                                       \
  ". If host code alone needs it, put '#ifndef __CUDACC_RTC__' and '#endif' around it and that "   \
  "code"

/* ---- Headers -------------------------------------------------------------------------------- */

static void hints_list_names(struct text *out) {
  for (const struct standard_header *h = standard_headers; h->name; h++)
    if (!strstr(h->name, ".h")) text_addf(out, " <%s>", h->name);
}

void hints_missing(enum standard_lack lack, const char *header, const char *folder,
                   struct text *out) {
  switch (lack) {
  case STANDARD_LACK_CPU:
    text_add(out, ": it is neither beside its file nor in a folder of include_dirs, and the cpu "
                  "device has few of "
                  "CUDA's headers. Use a GPU, or a described one such as model:H200");
    break;
  case STANDARD_LACK_CORE:
    text_addf(out,
              ": CUDA's core libraries (cccl: cub, libcu++, what <cooperative_groups.h> needs) are "
              "not with the CUDA "
              "headers in '%s'; a whole CUDA toolkit has them (cugen_options.toolkit, "
              "$CUGEN_TOOLKIT), and the "
              "Python wheel "
              "nvidia-cuda-cccl",
              folder);
    break;
  case STANDARD_LACK_STD:
    text_addf(out, ": NVRTC has no C++ library; use <cuda/std/%s>, whose names are in cuda::std",
              header);
    break;
  case STANDARD_LACK_FILE:
    text_add(out, ": it is neither beside its file nor in a folder of include_dirs, nor with CUDA");
    break;
  case STANDARD_LACK_LIBRARY:
    text_add(out, ": NVRTC has no C++ library, only these (each as <NAME.h> too):");
    hints_list_names(out);
    break;
  }
  text_add(out, HOST);
}

void hints_for_gpus(const char *path, int line, const char *header, struct text *out) {
  text_addf(out,
            "%s:%d: error: the cpu device does not have <%s>. Use a GPU, or predict for a "
            "described one such as "
            "model:H200. Or write a branch without it, by '#ifdef __CUGEN_CPU__'",
            path, line, header);
}

void hints_header(bool cpu, bool ours, const char *header, struct text *out) {
  if (ours)
    text_add(out, ": the cpu device has a part of this header. Use a GPU, or a described one such "
                  "as model:H200");
  else if (cpu)
    text_add(out, ": the cpu device has few of CUDA's headers. Use a GPU, or a described one such "
                  "as model:H200");
  else if (!strncmp(header, "thrust/", 7))
    text_add(out, ": NVRTC takes device code only, and Thrust's algorithms are called by the host; "
                  "a kernel has "
                  "<cub/block/...>, <cuda/std/functional> and <cuda/std/tuple>");
  else if (!strncmp(header, "cub/", 4))
    text_add(out, ": NVRTC takes device code only; of cub, include what the kernel uses, such as "
                  "<cub/block/block_reduce.cuh>");
  else
    text_add(out, ": NVRTC takes device code only");
  text_add(out, HOST);
}

/* ---- Names, flags and code ------------------------------------------------------------------ */

/* Names that nvcc has from a header of the host, and names that CUDA removed. */
static const char *const names[][2] = {
    {"INFINITY", ": it is in <cmath>"},
    {"NAN", ": it is in <cmath>"},
    {"HUGE_VAL", ": it is in <cmath>"},
    {"HUGE_VALF", ": it is in <cmath>"},
    {"M_PI", ": it is in <cmath>"},
    {"FLT_MAX", ": it is in <cfloat>"},
    {"FLT_MIN", ": it is in <cfloat>"},
    {"DBL_MAX", ": it is in <cfloat>"},
    {"FLT_EPSILON", ": it is in <cfloat>"},
    {"INT_MAX", ": it is in <climits>"},
    {"INT_MIN", ": it is in <climits>"},
    {"UINT_MAX", ": it is in <climits>"},
    {"LLONG_MAX", ": it is in <climits>"},
    {"texture", ": texture references are gone since CUDA 12; give the kernel a texture object"},
    {"__shfl", ": it is gone since sm_70; __shfl_sync names the lanes"},
    {"__shfl_up", ": it is gone since sm_70; __shfl_up_sync names the lanes"},
    {"__shfl_down", ": it is gone since sm_70; __shfl_down_sync names the lanes"},
    {"__shfl_xor", ": it is gone since sm_70; __shfl_xor_sync names the lanes"},
    {"__ballot", ": it is gone since sm_70; __ballot_sync names the lanes"},
    {"__any", ": it is gone since sm_70; __any_sync names the lanes"},
    {"__all", ": it is gone since sm_70; __all_sync names the lanes"}};

bool hints_name(const char *name, struct text *out) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], name) == 0) return text_add(out, names[i][1]), true;
  return false;
}

bool hints_flag(const char *line, size_t length, struct text *out) {
  static const char *const rows[][2] = {
      {"--device-int128", "; say options { flags = { \"--device-int128\" } } in the config"},
      {"--device-float128", "; say options { flags = { \"--device-float128\" } } in the config"},
      {"--extended-lambda", "; NVRTC has no such flag: a lambda of a kernel is device code without "
                            "__device__, so leave that out"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (memmem(line, length, rows[i][0], strlen(rows[i][0])))
      return text_add(out, rows[i][1]), true;
  return false;
}

void hints_function(const struct blamed_function *function, struct text *out) {
  text_addf(out,
            ": '%.*s' is %s. Put host code between '#ifndef __CUDACC_RTC__' and '#endif', or the "
            "kernel into a file of "
            "its own",
            (int)function->length, function->name,
            function->host ? "a __host__ function"
                           : "neither __global__ nor __device__, and so host code perhaps");
}

void hints_constant(const struct passed *passed, struct text *out) {
  if (!passed) {
    text_add(out, ": CUDA needs a constant there");
    return;
  }
  text_add(out, ": ");
  if (passed->name != passed->size)
    text_addf(out, "%.*s comes from ", (int)passed->name_length, passed->name);
  text_addf(out,
            "%.*s%s is passed at launch; to compile it in, give the kernel's scalar specialize = "
            "true, or an "
            "implementation's scalar another name",
            (int)passed->size_length, passed->size, passed->name == passed->size ? "" : ", which");
}

void hints_limit(enum source_cause cause, struct text *out) {
  text_add(out, cause == SOURCE_CONSTANT
                    ? ": give the kernel what is large by its address: an input of the config "
                      "instead of a constant"
                    : ": give the array to dynamic shared memory, whose bytes 'shared' sets in the "
                      "config; of a static one, sm_90a, sm_100a, sm_103a and sm_110a take up to "
                      "227 KiB, sm_120a and sm_121a 99 KiB, all others 48 KiB");
}
