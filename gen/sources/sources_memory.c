/* Files that an application holds in memory; see sources.h. */
#include <stdlib.h>
#include <string.h>

#include "sources.h"

/* Appends the normal form of a name: "a/b.cu" for "./a//b.cu". Returns false if the name is
   absolute, empty, ends with '/', or has "..". */
static bool add_normal(const char *name, struct text *out) {
  if (name[0] == '/') return false;
  for (const char *part = name; *part; part += strspn(part, "/")) {
    size_t length = strcspn(part, "/");
    if (length == 2 && strncmp(part, "..", 2) == 0) return false;
    if (length != 1 || *part != '.') {
      if (out->length) text_add_char(out, '/');
      text_add_n(out, part, length);
    }
    part += length;
  }
  return out->length && name[strlen(name) - 1] != '/';
}

static void free_one(struct source_file *file) {
  free(file->name);
  free(file->data);
  free(file);
}

int sources_add(struct source_file **files, const char *name, const char *data, size_t length,
                cugen_error *err) {
  struct text normal = {0};
  if (!add_normal(name, &normal)) {
    text_free(&normal);
    return error_set(err, CUGEN_ERROR_USAGE,
                     "'%s' cannot name a file in memory: a name is relative, without '..', such as "
                     "\"kernels/a.cu\"",
                     name);
  }
  if (length >= PTRDIFF_MAX) {
    text_free(&normal);
    return error_set(err, CUGEN_ERROR_USAGE, "'%s': a length of %zu bytes", name, length);
  }
  struct source_file *file = calloc(1, sizeof *file);
  if (file) *file = (struct source_file){*files, text_take(&normal), malloc(length + 1), length};
  text_free(&normal);
  if (!file || !file->name || !file->data) {
    if (file) free_one(file);
    return error_memory(err);
  }
  if (length) memcpy(file->data, data, length);
  *files = file;
  return CUGEN_OK;
}

void sources_forget(struct source_file *files) {
  while (files) {
    struct source_file *older = files->older;
    free_one(files);
    files = older;
  }
}

int sources_find(const struct source_file *files, const char *folder, const char *name,
                 const struct source_file **out, cugen_error *err) {
  struct text path = {0}, normal = {0};
  text_addf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
  bool possible = add_normal(text_get(&path), &normal);
  bool failed = path.failed || normal.failed;
  const struct source_file *file = possible && !failed ? files : NULL;
  while (file && strcmp(file->name, text_get(&normal)) != 0) file = file->older;
  text_free(&path);
  text_free(&normal);
  *out = file;
  return failed ? error_memory(err) : CUGEN_OK;
}

bool sources_holds(const struct source_file *files, const char *path) {
  while (files && strcmp(files->name, path) != 0) files = files->older;
  return files != NULL;
}
