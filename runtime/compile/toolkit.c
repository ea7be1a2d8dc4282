/* Finding NVRTC, the CUDA headers and a C++ compiler, and opening libraries at run time; see
   toolkit.h. */
#define _GNU_SOURCE /* dladdr */
#include "toolkit.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/system.h"
#include "kept.h"

/* Newest first: a newer NVRTC knows more architectures. */
static const char *const nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};

/* Folders within a toolkit's folder: of an installed toolkit, NVIDIA's cross-platform folders, the
   Python wheels of CUDA 13 and 12, and the folder itself. */
static const char *const library_folders[] = {"lib64",
                                              "lib",
                                              "targets/x86_64-linux/lib",
                                              "targets/sbsa-linux/lib",
                                              "nvidia/cu13/lib",
                                              "nvidia/cuda_nvrtc/lib",
                                              "nvidia/cublas/lib",
                                              "",
                                              NULL};
static const char *const include_folders[] = {"include",
                                              "targets/x86_64-linux/include",
                                              "targets/sbsa-linux/include",
                                              "nvidia/cu13/include",
                                              "nvidia/cuda_runtime/include",
                                              "",
                                              NULL};
/* CUDA 13 has the core libraries in a folder of their own, which nvcc knows. CUDA 12 has them
   beside the other headers, except in its Python wheels. */
static const char *const core_folders[] = {"include/cccl",
                                           "targets/x86_64-linux/include/cccl",
                                           "targets/sbsa-linux/include/cccl",
                                           "nvidia/cu13/include/cccl",
                                           "nvidia/cuda_cccl/include",
                                           "../cuda_cccl/include",
                                           "cccl",
                                           NULL};

/* ---- Searching ------------------------------------------------------------------------------ */

static void toolkit_join(struct text *out, const char *folder, const char *below,
                         const char *name) {
  text_addf(out, "%s/%s%s%s", folder, below, *below ? "/" : "", name);
}

/* Finds the first names[i] that exists in one of root's folders, and appends its path, or with
   folder_only the path of its folder. */
static bool look_in(const char *root, const char *const *folders, const char *const *names,
                    bool folder_only, struct text *out) {
  struct text path = {0};
  bool found = false;
  for (size_t n = 0; names[n] && !found; n++)
    for (size_t f = 0; folders[f] && !found; f++) {
      text_clear(&path);
      toolkit_join(&path, root, folders[f], names[n]);
      found = !path.failed && file_exists(text_get(&path));
    }
  if (found && folder_only)
    path_folder(text_get(&path), out);
  else if (found)
    text_add(out, text_get(&path));
  out->failed |= path.failed;
  text_free(&path);
  return found;
}

static void toolkit_note(struct toolkit *toolkit, enum toolkit_part part, const char *kind,
                         const char *place, const char *how) {
  text_addf(&toolkit->searched[part], "\n  looked at: %s%s: %s", kind, place, how);
  text_addf(&toolkit->places[part], "%s%s%s", toolkit->places[part].length ? ", " : "", kind,
            place);
}

/* Returns a number that tells this build of a library from others, without loading the library: a
   hash of the file's size and first page, in which a linker puts the build ID and the sizes of all
   segments; 0: the file cannot be read. */
static uint64_t identify(const char *path) {
  unsigned char page[4096];
  struct stat about;
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  const size_t length = fread(page, 1, sizeof page, file);
  const bool known = length > 0 && fstat(fileno(file), &about) == 0;
  fclose(file);
  if (!known) return 0;
  const int64_t size = about.st_size;
  return hash_next(hash_next(0, &size, sizeof size), page, length) | 1;
}

static void look_for_kernels(struct toolkit *toolkit, const char *root) {
  for (int i = 0; i < LIBRARY_COUNT; i++) {
    struct toolkit_kernels *found = &toolkit->kernels[i];
    if (found->path.length) continue;
    if (look_in(root, library_folders, libraries[i].files, false, &found->path))
      found->build = identify(text_get(&found->path));
  }
}

static void toolkit_look_at(struct toolkit *toolkit, const char *root) {
  static const char *const headers[] = {"cuda_fp16.h", NULL};
  static const char *const core[] = {"cuda", NULL};
  if (!root || !*root) return;
  if (!toolkit->nvrtc.length) {
    bool found = look_in(root, library_folders, nvrtc_names, false, &toolkit->nvrtc);
    toolkit_note(toolkit, TOOLKIT_PART_NVRTC, "", root, found ? "found" : "not there");
  }
  if (!toolkit->include.length) {
    bool found = look_in(root, include_folders, headers, true, &toolkit->include);
    if (found) look_in(root, core_folders, core, true, &toolkit->core);
    toolkit_note(toolkit, TOOLKIT_PART_HEADERS, "", root, found ? "found" : "not there");
  }
  look_for_kernels(toolkit, root);
}

/* Looks in the folders beside one of cugen's files: an installation's (seen from bin, lib or
   lib/ARCH), then those of a build folder or of cugen's Python package, then of NVIDIA's Python
   packages of CUDA 13 and 12 beside cugen's (seen from cugen/files). */
static void look_beside(struct toolkit *toolkit, const char *file) {
  static const char *const beside[] = {"../lib/cugen/toolkit",
                                       "cugen/toolkit",
                                       "../cugen/toolkit",
                                       "toolkit",
                                       "../../nvidia/cu13",
                                       "../../nvidia/cuda_nvrtc",
                                       "../../nvidia/cuda_runtime",
                                       "../../nvidia/cublas",
                                       NULL};
  struct text folder = {0}, root = {0};
  path_folder(file, &folder);
  for (size_t i = 0; beside[i] && !folder.failed; i++) {
    text_clear(&root);
    toolkit_join(&root, text_get(&folder), beside[i], "");
    if (root.length) root.data[--root.length] = '\0'; /* removes the last slash, which join added */
    toolkit_look_at(toolkit, text_get(&root));
  }
  toolkit->nvrtc.failed |= folder.failed | root.failed;
  text_free(&folder);
  text_free(&root);
}

/* Looks beside the program, and beside the shared library when cugen is part of another program. */
static void look_beside_us(struct toolkit *toolkit) {
  struct text self = {0};
  int status = path_self(&self, NULL);
  if (!status) look_beside(toolkit, text_get(&self));
  toolkit->nvrtc.failed |= status == CUGEN_ERROR_MEMORY;
  Dl_info info;
  if (dladdr(nvrtc_names, &info) && info.dli_fname && info.dli_fname[0] == '/' &&
      strcmp(info.dli_fname, text_get(&self)) != 0)
    look_beside(toolkit, info.dli_fname);
  text_free(&self);
}

/* Looks in LD_LIBRARY_PATH and the loader's standard folders, not in those of ld.so.conf. */
static void look_with_loader_for_kernels(struct toolkit *toolkit) {
  Dl_serinfo size, *folders = NULL;
  void *self = dlopen(NULL, RTLD_LAZY);
  if (self && dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0 && (folders = malloc(size.dls_size))) {
    *folders = size;
    if (dlinfo(self, RTLD_DI_SERINFO, folders) == 0)
      for (unsigned i = 0; i < folders->dls_cnt; i++)
        look_for_kernels(toolkit, folders->dls_serpath[i].dls_name);
  }
  free(folders);
  if (self) dlclose(self);
}

static void find_toolkit(struct toolkit *toolkit, const char *named) {
  if (named) {
    toolkit_look_at(toolkit, named);
    return;
  }
  look_beside_us(toolkit);
  toolkit_look_at(toolkit, getenv("CUDA_HOME"));
  toolkit_look_at(toolkit, getenv("CUDA_PATH"));
  toolkit_look_at(toolkit, "/usr/local/cuda");
  toolkit_look_at(toolkit, "/opt/cuda");
  toolkit_look_at(toolkit, "/usr");
  for (size_t i = 0; nvrtc_names[i] && !toolkit->nvrtc.length; i++) {
    void *handle = dlopen(nvrtc_names[i], RTLD_LAZY | RTLD_LOCAL);
    if (handle) text_add(&toolkit->nvrtc, nvrtc_names[i]);
    toolkit_note(toolkit, TOOLKIT_PART_NVRTC, "the loader's ", nvrtc_names[i],
                 handle ? "found" : "not there");
    if (handle) dlclose(handle);
  }
  look_with_loader_for_kernels(toolkit);
}

static void find_compiler(struct toolkit *toolkit, const char *option) {
  const char *named = option && *option ? option : getenv("CUGEN_CXX");
  const char *const only[] = {named, NULL}, *const usual[] = {"c++", "g++", "clang++", NULL};
  bool found = false;
  for (const char *const *name = named && *named ? only : usual; *name && !found; name++) {
    found = path_find_program(*name, &toolkit->compiler);
    toolkit_note(toolkit, TOOLKIT_PART_COMPILER, "", *name, found ? "found" : "no such program");
  }
}

/* limit in bytes for toolkit->kept */
static const size_t most_kept = (size_t)16 << 20;

/* ---- Opening and closing -------------------------------------------------------------------- */

struct library_slot {
  bool tried;
  void *table; /* NULL after a failure */
  int status;
  cugen_error error; /* why there is no table */
};

struct toolkit_libraries {
  pthread_mutex_t lock;
  struct library_slot slots[TOOLKIT_LIBRARY_COUNT];
};

static struct toolkit_libraries *libraries_new(void) {
  struct toolkit_libraries *opened = calloc(1, sizeof *opened);
  if (opened && pthread_mutex_init(&opened->lock, NULL)) {
    free(opened);
    return NULL;
  }
  return opened;
}

static void libraries_free(struct toolkit_libraries *opened) {
  if (!opened) return;
  for (size_t i = 0; i < TOOLKIT_LIBRARY_COUNT; i++) free(opened->slots[i].table);
  pthread_mutex_destroy(&opened->lock);
  free(opened);
}

int toolkit_open(const struct toolkit_options *options, struct toolkit **out, cugen_error *err) {
  /* named: the only folder to search; NULL: the usual folders */
  const char *by = "cugen_options.toolkit", *named = options ? options->toolkit : NULL;
  if (!named || !*named) {
    by = "CUGEN_TOOLKIT";
    named = getenv("CUGEN_TOOLKIT");
  }
  if (named && !*named) named = NULL;
  *out = NULL;
  if (named && !folder_exists(named))
    return error_set(err, CUGEN_ERROR_MISSING,
                     "%s '%s' is no folder; name the toolkit's, which holds lib64 and include, "
                     "such as /usr/local/cuda",
                     by, named);
  struct toolkit *toolkit = calloc(1, sizeof *toolkit);
  if (!toolkit) return error_memory(err);
  toolkit->libraries = libraries_new();
  toolkit->kept = kept_images_new(most_kept);
  find_toolkit(toolkit, named);
  find_compiler(toolkit, options ? options->compiler : NULL);
  text_add(&toolkit->driver, "libcuda.so.1");
  text_add(&toolkit->nvml, "libnvidia-ml.so.1");
  bool failed = false;
  for (int i = 0; i < TOOLKIT_PARTS; i++)
    failed |= toolkit->searched[i].failed || toolkit->places[i].failed;
  for (int i = 0; i < LIBRARY_COUNT; i++) failed |= toolkit->kernels[i].path.failed;
  if (failed || !toolkit->libraries || !toolkit->kept || toolkit->nvrtc.failed ||
      toolkit->include.failed || toolkit->core.failed || toolkit->compiler.failed ||
      toolkit->driver.failed || toolkit->nvml.failed) {
    toolkit_close(toolkit);
    return error_memory(err);
  }
  *out = toolkit;
  return CUGEN_OK;
}

void toolkit_close(struct toolkit *toolkit) {
  if (!toolkit) return;
  libraries_free(toolkit->libraries);
  kept_images_free(toolkit->kept);
  text_free(&toolkit->nvrtc);
  text_free(&toolkit->include);
  text_free(&toolkit->core);
  text_free(&toolkit->compiler);
  text_free(&toolkit->driver);
  text_free(&toolkit->nvml);
  for (int i = 0; i < LIBRARY_COUNT; i++) text_free(&toolkit->kernels[i].path);
  for (int i = 0; i < TOOLKIT_PARTS; i++)
    text_free(&toolkit->searched[i]), text_free(&toolkit->places[i]);
  free(toolkit);
}

/* ---- Missing parts -------------------------------------------------------------------------- */

#define INSTALL_CUDA                                                                               \
  "Beside cugen's Python package: pip install 'cuda-toolkit[cccl,crt,cudart,nvrtc]'. Otherwise "   \
  "install a CUDA toolkit, or name its folder with cugen_options.toolkit or $CUGEN_TOOLKIT."

static const struct {
  const char *name, *how;
} parts[TOOLKIT_PARTS] = {
    [TOOLKIT_PART_NVRTC] = {"NVRTC (libnvrtc.so.13 or .12)", INSTALL_CUDA},
    [TOOLKIT_PART_HEADERS] = {"the CUDA headers (cuda_fp16.h)", INSTALL_CUDA},
    [TOOLKIT_PART_COMPILER] = {"a C++ compiler, which the cpu device needs,",
                               "Install g++ (Debian and Ubuntu: apt-get install g++), or name one "
                               "with cugen_options.compiler or $CUGEN_CXX."},
};

int toolkit_missing(const struct toolkit *toolkit, enum toolkit_part part, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_MISSING, "%s was not found.\n%s%s", parts[part].name,
                   parts[part].how, text_get(&toolkit->searched[part]));
}

int toolkit_nvrtc_major(const struct toolkit *toolkit) {
  const char *version = strstr(path_base(text_get(&toolkit->nvrtc)), ".so.");
  return version ? atoi(version + 4) : 0;
}

int toolkit_nvrtc_version(const struct toolkit *toolkit) {
  const int major = toolkit_nvrtc_major(toolkit);
  if (!major || !strchr(text_get(&toolkit->nvrtc), '/')) return 0;
  struct text folder = {0}, path = {0};
  int version = 0, count = 0;
  path_folder(text_get(&toolkit->nvrtc), &folder);
  /* CUDA_VERSION has one digit for the minor version. */
  for (int minor = 0; minor < 10 && !folder.failed; minor++) {
    text_clear(&path);
    text_addf(&path, "%s/libnvrtc-builtins.so.%d.%d", text_get(&folder), major, minor);
    if (path.failed || !file_exists(text_get(&path))) continue;
    version = 1000 * major + 10 * minor;
    count++;
  }
  text_free(&folder);
  text_free(&path);
  return count == 1 ? version : 0;
}

/* ---- Libraries ------------------------------------------------------------------------------ */

int toolkit_library(const struct toolkit *toolkit, enum toolkit_library which, toolkit_loader *load,
                    const void **table, cugen_error *err) {
  struct library_slot *slot = &toolkit->libraries->slots[which];
  pthread_mutex_lock(&toolkit->libraries->lock);
  if (!slot->tried) {
    slot->status = load(toolkit, &slot->table, &slot->error);
    slot->tried = slot->status != CUGEN_ERROR_MEMORY; /* a lack of memory may pass */
    if (slot->status) free(slot->table), slot->table = NULL;
  }
  const int status = slot->status;
  *table = slot->table;
  if (status) error_copy(err, &slot->error);
  pthread_mutex_unlock(&toolkit->libraries->lock);
  return status;
}

int toolkit_load(const char *library, const struct toolkit_symbol *symbols, size_t count,
                 void *table, cugen_error *err) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    size_t own = strlen(library); /* glibc's message begins with the library's name again */
    if (why && strncmp(why, library, own) == 0 && strncmp(why + own, ": ", 2) == 0) why += own + 2;
    if (!why || strstr(why, strerror(ENOENT)))
      return error_set(err, CUGEN_ERROR_MISSING, "%s was not found", library);
    return error_set(err, CUGEN_ERROR_MISSING, "%s cannot be loaded: %s", library, why);
  }
  for (size_t i = 0; i < count; i++) {
    /* POSIX has object and function pointers of the same form, so the answer is stored as bytes. */
    void *address = dlsym(handle, symbols[i].name);
    memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    if (address || !symbols[i].required) continue;
    dlclose(handle);
    return error_set(err, CUGEN_ERROR_MISSING, "%s is too old: it has no %s", library,
                     symbols[i].name);
  }
  return CUGEN_OK;
}

int toolkit_load_table(const char *library, const struct toolkit_symbol *symbols, size_t count,
                       size_t bytes, void **table, cugen_error *err) {
  *table = calloc(1, bytes);
  return *table ? toolkit_load(library, symbols, count, *table, err) : error_memory(err);
}
