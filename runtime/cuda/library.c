/* What all libraries share; see library.h. */
#include "library.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static const struct library_ops *const rows[LIBRARY_COUNT] = {[LIBRARY_cublasLt] = &cublaslt_ops};

/* The image is the text without the comments in front, so that equal calls have equal images. */
int cuda_library_compile(const struct compile_request *request, struct compiled *out,
                         cugen_error *err) {
  struct library_call call;
  struct text image = {0};
  *out = (struct compiled){0};
  int status = library_call_parse(request->source, strlen(request->source), &call, err);
  if (!status) status = rows[call.library]->check(&call, err);
  if (status) return status;
  library_call_print(&call, &image);
  out->image_length = image.length;
  out->image_hash = hash_bytes(text_get(&image), image.length);
  out->image = text_take(&image);
  out->entries[0] = strdup(libraries[call.library].name);
  out->entry_count = 1;
  out->log = strdup("");
  if (out->image && out->entries[0] && out->log) return CUGEN_OK;
  compiled_free(out);
  return error_memory(err);
}

int cuda_library_open(struct cuda_device *cuda, const struct compiled *compiled,
                      struct library_kernel **out, cugen_error *err) {
  struct library_call call;
  int status = library_call_parse(compiled->image, compiled->image_length, &call, err);
  if (!status) status = rows[call.library]->check(&call, err);
  if (status) return status;
  const struct library *library = &libraries[call.library];
  const struct toolkit_kernels *found = &cuda->toolkit->kernels[call.library];
  if (!found->path.length || found->build != call.build)
    return error_set(err, CUGEN_ERROR_MISSING, "%s: the variant was chosen for another build of it",
                     found->path.length ? text_get(&found->path) : library->files[0]);
  status = rows[call.library]->open(cuda, &call, out, err);
  if (status) return status;
  (*out)->ops = rows[call.library];
  for (size_t i = 0; i < library->field_count; i++)
    (*out)->parameters += call.values[i].dtype != NULL;
  return CUGEN_OK;
}

void cuda_library_close(struct library_kernel *kernel) {
  if (kernel) kernel->ops->close(kernel);
}

int cuda_library_prepare(struct cuda_device *cuda, struct library_kernel *kernel,
                         void *const *parameters, void *before, void **out, cugen_error *err) {
  struct library_prepared *prepared, *old = before;
  int status = kernel->ops->prepare(kernel, parameters, &prepared, err);
  if (!status && old)
    prepared->workspace = old->workspace, old->workspace = (struct memory){0};
  else if (!status && kernel->workspace)
    status =
        cuda_alloc(&cuda->base, MEMORY_DEVICE, kernel->workspace, false, &prepared->workspace, err);
  if (status && prepared) kernel->ops->unprepare(kernel, prepared);
  *out = status ? NULL : prepared;
  return status;
}

void cuda_library_unprepare(struct cuda_device *cuda, struct library_kernel *kernel,
                            void *prepared) {
  struct library_prepared *own = prepared;
  if (own->workspace.base) cuda_free(&cuda->base, &own->workspace);
  kernel->ops->unprepare(kernel, own);
}

int cuda_library_launch(const struct library_kernel *kernel, void **parameters, void *stream,
                        cugen_error *err) {
  return kernel->ops->launch(kernel, parameters[kernel->parameters], parameters, stream, err);
}

void cuda_library_shut(struct cuda_device *cuda) {
  for (int i = 0; i < LIBRARY_COUNT; i++)
    if (cuda->libraries[i]) rows[i]->shut(cuda, cuda->libraries[i]);
}
