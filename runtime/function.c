/* Functions of the user's own; see function.h. */
#include "function.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"

bool function_is(const struct compiled *compiled) {
  const size_t length = sizeof LIBRARY_FUNCTION - 1;
  return compiled->image_length > length && memcmp(compiled->image, LIBRARY_FUNCTION, length) == 0;
}

static bool is_variable(const void *found) {
  Dl_info ignored;
  void *symbol = NULL;
  return dladdr1(found, &ignored, &symbol, RTLD_DL_SYMENT) && symbol &&
         ELF64_ST_TYPE(((const ElfW(Sym) *)symbol)->st_info) == STT_OBJECT;
}

/* RTLD_NODELETE: a library of CUDA code cannot be unloaded safely. */
static int function_find(const char *path, const char *name, cugen_baseline *out,
                         cugen_error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "the library does not load: %s. Build it with -shared -fPIC, with all that it needs",
        dlerror());
  void *found = dlsym(library, name);
  int status = CUGEN_OK;
  if (!found)
    status =
        error_set(err, CUGEN_ERROR_USAGE,
                  "%s has no function '%s': export it, in C++ as extern \"C\"; 'nm -D' lists them",
                  path, name);
  else if (is_variable(found))
    status = error_set(err, CUGEN_ERROR_USAGE,
                       "'%s' in %s is a variable, and a baseline is a function: 'nm -D' marks "
                       "functions with T",
                       name, path);
  memcpy(out, &found, sizeof found); /* POSIX: a function's address fits a data pointer */
  dlclose(library);
  return status;
}

int function_load(const struct compiled *compiled, cugen_baseline *out, cugen_error *err) {
  const size_t begin = sizeof LIBRARY_FUNCTION - 1;
  char *name = strndup((const char *)compiled->image + begin, compiled->image_length - begin);
  char *path = name ? strchr(name, ' ') : NULL;
  if (path) *path++ = '\0';
  int status = path ? function_find(path, name, out, err) : error_memory(err);
  free(name);
  return status;
}

static int function_run(void *context, void *stream, cugen_error *err) {
  const struct function_call *call = context;
  const int code = call->function(call->arguments, call->about, stream);
  return code ? error_set_cause(err, CUGEN_ERROR_DEVICE, CUGEN_CAUSE_RESOURCES,
                                "it returned %d, and 0 means that its work is launched", code)
              : CUGEN_OK;
}

int function_launch(struct device *device, struct function_call *call, cugen_error *err) {
  return device->ops->call(device, function_run, call, err);
}
