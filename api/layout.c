/* The arrays of a variant and the accesses of a warp; see layout.h. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/access.h"
#include "runtime/plan.h"

struct api_layouts {
  struct kernel_spec spec;
  struct text variant, words; /* words: the words of all layouts, each ended by a NUL */
  api_array *arrays;
  struct layout_map *maps;
  size_t count;
};

/* ---- Arrays --------------------------------------------------------------------------------- */

/* `layout` holds the word's offset in `words` until layouts_fill has all words, because their text
   may still move. */
static void layouts_add_shared(struct api_layouts *l, const struct layout_array *array) {
  api_array *out = &l->arrays[l->count];
  *out = (api_array){.name = array->name,
                     .shared = 1,
                     .memory = array->dynamic ? "dynamic shared" : "static shared",
                     .dtype = array->dtype->name,
                     .layout = (const char *)(uintptr_t)l->words.length,
                     .file = array->file,
                     .line = array->line,
                     .rank = array->rank,
                     .element_bytes = array->dtype->bytes,
                     .stages = array->stages,
                     .bytes = array->stages * array->stage_stride * array->dtype->bytes};
  for (int i = 0; i < array->rank; i++) out->shape[i] = array->shape[i];
  layout_print(&array->layout, &l->words);
  text_add_char(&l->words, '\0');
  l->maps[l->count++] = array->map;
}

static void layouts_add_argument(struct api_layouts *l, const struct kernel_argument *argument) {
  api_array *out = &l->arrays[l->count];
  struct layout_map *map = &l->maps[l->count];
  if (argument->absent || argument->rank == 0) return;
  *out = (api_array){.name = argument->name,
                     .memory = "global",
                     .dtype = argument->dtype->name,
                     .layout = (const char *)(uintptr_t)l->words.length,
                     .file = argument->file,
                     .line = argument->line,
                     .rank = argument->rank,
                     .element_bytes = argument->dtype->bytes,
                     .stages = 1,
                     .bytes = argument->elements * argument->dtype->bytes};
  *map = kernel_argument_map(argument);
  for (int i = 0; i < argument->rank; i++) out->shape[i] = argument->shape[i];
  text_add(&l->words, *argument->layout ? argument->layout : "strides");
  text_add_char(&l->words, '\0');
  l->count++;
}

static int layouts_fill(struct api_layouts *l, cugen_error *err) {
  const size_t most = l->spec.argument_count + l->spec.shared_count;
  l->arrays = calloc(most + 1, sizeof *l->arrays);
  l->maps = calloc(most + 1, sizeof *l->maps);
  if (!l->arrays || !l->maps) return error_memory(err);
  for (size_t i = 0; i < l->spec.argument_count; i++)
    layouts_add_argument(l, &l->spec.arguments[i]);
  for (size_t i = 0; i < l->spec.shared_count; i++) layouts_add_shared(l, &l->spec.shared[i]);
  if (l->words.failed) return error_memory(err);
  for (size_t i = 0; i < l->count; i++)
    l->arrays[i].layout = text_get(&l->words) + (uintptr_t)l->arrays[i].layout;
  return CUGEN_OK;
}

int api_layouts_open(cugen_kernel *kernel, const char *variant, struct api_layouts **out,
                     cugen_error *error) {
  struct api_layouts *l = *out = calloc(1, sizeof *l);
  if (!l) return error_memory(error);
  int status = api_expand_text(kernel, variant, &l->spec, error);
  if (!status) status = layouts_fill(l, error);
  if (!status) text_add(&l->variant, text_get(&kernel->variant_text));
  if (!status && l->variant.failed) status = error_memory(error);
  if (!status) return CUGEN_OK;
  api_layouts_close(l);
  *out = NULL;
  return status;
}

void api_layouts_close(struct api_layouts *l) {
  if (!l) return;
  kernel_spec_free(&l->spec);
  text_free(&l->variant);
  text_free(&l->words);
  free(l->arrays);
  free(l->maps);
  free(l);
}

const char *api_layouts_variant(const struct api_layouts *l) {
  return text_get(&l->variant);
}

size_t api_layouts_count(const struct api_layouts *l) {
  return l->count;
}

const api_array *api_layouts_array(const struct api_layouts *l, size_t array) {
  return &l->arrays[array];
}

int64_t api_layouts_offset(const struct api_layouts *l, size_t array, const int64_t *indices) {
  return layout_offset(&l->maps[array], indices);
}

/* ---- Accesses ------------------------------------------------------------------------------- */

/* Sets the least padding of a shared array whose access has conflicts, if padding helps. */
static int layouts_set_pad(const api_array *a, const struct access *access,
                           const struct access_array *array, api_access *out, cugen_error *error) {
  struct access_count padded;
  struct layout layout;
  int64_t pad;
  if (!a->shared || out->passes <= out->least) return CUGEN_OK;
  int status = layout_read(a->layout, a->rank, &layout, error);
  if (!status) status = access_least_pad(access, array, &layout, out->bytes, &pad, &padded, error);
  if (status || padded.apart >= 0 || padded.needed >= out->passes) return status;
  struct text word = {0};
  layout.bits = layout.bytes = 0;
  layout.pad = pad;
  layout_print(&layout, &word);
  if (word.failed)
    status = error_memory(error);
  else if (word.length < sizeof out->padded)
    memcpy(out->padded, text_get(&word), word.length + 1);
  out->padded_passes = padded.needed;
  text_free(&word);
  return status;
}

int api_layouts_access(const struct api_layouts *l, size_t array, const char *access, int bytes,
                       api_access *out, cugen_error *error) {
  const api_array *a = &l->arrays[array];
  struct access_array accessed = {.map = &l->maps[array],
                                  .shared = a->shared,
                                  .rank = a->rank,
                                  .element_bytes = a->element_bytes};
  struct access_count count;
  struct access read;
  memcpy(accessed.shape, a->shape, sizeof accessed.shape);
  int status = access_read(access, a->name, a->rank, &read, error);
  if (!status) status = access_count(&read, &accessed, bytes, &count, error);
  if (status) return status;
  if (count.apart >= 0)
    return error_set(
        error, CUGEN_ERROR_USAGE,
        "%s: layout %s does not keep the %d bytes of lane %d's access together and aligned",
        a->name, a->layout, count.bytes, count.apart);
  *out = (api_access){.bytes = count.bytes, .lanes = count.lanes, .least = count.least};
  *(a->shared ? &out->passes : &out->sectors) = count.needed;
  return layouts_set_pad(a, &read, &accessed, out, error);
}
