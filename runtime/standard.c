/* The headers of C's library for NVRTC, and what to use instead of those that are not there; see standard.h. */
#include "standard.h"

#include <string.h>

#include "base/system.h"

int standard_list(const char **texts, const char **names) {
  int count = 0;
  for (const struct standard_header *h = standard_headers; h->name && count < STANDARD_MOST; h++, count++) {
    texts[count] = h->text;
    names[count] = h->name;
  }
  return count;
}

const char *standard_text(const char *name) {
  const struct standard_header *h = standard_headers;
  while (h->name && strcmp(h->name, name) != 0) h++;
  return h->name ? h->text : "";
}

/* ---- Advice ---------------------------------------------------------------------------------------------------- */

static void list_names(struct text *out) {
  for (const struct standard_header *h = standard_headers; h->name; h++)
    if (!strstr(h->name, ".h")) text_addf(out, " <%s>", h->name);
}

static bool has_libcuxx(const struct toolkit *toolkit, const char *header) {
  const struct text *folders[] = {&toolkit->core, &toolkit->include};
  struct text path = {0};
  bool found = false;
  for (size_t i = 0; i < sizeof folders / sizeof *folders && !found; i++) {
    text_clear(&path);
    text_addf(&path, "%s/cuda/std/%s", text_get(folders[i]), header);
    found = folders[i]->length && !path.failed && file_exists(text_get(&path));
  }
  text_free(&path);
  return found;
}

/* Those of CUDA's core libraries, and the one that is made of them. */
static bool is_core(const char *header) {
  static const char *const begins[] = {"cub/", "thrust/", "cuda/", "nv/"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (!strncmp(header, begins[i], strlen(begins[i]))) return true;
  return false;
}

static void advise_missing(const struct toolkit *toolkit, const char *header, struct text *out) {
  if (is_core(header) && !toolkit->core.length) {
    text_addf(out,
              ": CUDA's core libraries (cccl: cub, libcu++, what <cooperative_groups.h> needs) are not with the CUDA "
              "headers in '%s'; a whole CUDA toolkit has them (--toolkit, $CUGEN_TOOLKIT), and the Python wheel "
              "nvidia-cuda-cccl",
              text_get(&toolkit->include));
  } else if (has_libcuxx(toolkit, header)) {
    text_addf(out, ": NVRTC has no C++ library; use <cuda/std/%s>, whose names are in cuda::std", header);
  } else if (!strchr(header, '/')) {
    text_add(out, ": NVRTC has no C++ library, only these (each as <NAME.h> too):");
    list_names(out);
  }
}

static const char missing[] = "cannot open source file \"";
static const char host_code[] = "__host__ function is not allowed in JIT mode";

/* at: of the diagnostic. */
static void advise(const struct toolkit *toolkit, const char *at, struct text *out) {
  struct text header = {0};
  if (strncmp(at, missing, strlen(missing)) != 0) {
    text_add(out, ": NVRTC takes device code only; of cub, include what the kernel uses, such as "
                  "<cub/block/block_reduce.cuh>, not <cub/cub.cuh>");
    return;
  }
  at += strlen(missing);
  text_add_n(&header, at, strcspn(at, "\"\n"));
  if (!header.failed) advise_missing(toolkit, text_get(&header), out);
  out->failed |= header.failed;
  text_free(&header);
}

void standard_advise(const struct toolkit *toolkit, const char *diagnostics, struct text *out) {
  const char *file = strstr(diagnostics, missing), *host = strstr(diagnostics, host_code);
  const char *at = host && (!file || host < file) ? host : file;
  size_t length = at ? (size_t)(at - diagnostics) + strcspn(at, "\n") : strlen(diagnostics);
  text_add_n(out, diagnostics, length);
  if (at) advise(toolkit, at, out);
  text_add(out, diagnostics + length);
}
