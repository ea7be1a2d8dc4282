/* Where configs and templates come from: the user's folders first, then what ships inside the binary. */
#ifndef GEN_SOURCES_H
#define GEN_SOURCES_H

#include "base/text.h"

/* Folders may be NULL. Borrowed: they outlive the sources. */
struct sources {
  const char *config_dir;
  const char *template_dir;
};

/* A file that ships: made by the build from configs/ and templates/ ("configs/matmul.lua"). */
struct embedded_file {
  const char *path;
  const char *data;
  size_t length;
};
extern const struct embedded_file embedded_files[]; /* ends with path == NULL */

/* "matmul", "matmul.lua" or a path: as given (with and without .lua), config_dir, shipped. *path gets the file's
   name for messages (a shipped one: "configs/matmul.lua"), *content its text. */
int sources_config(const struct sources *sources, const char *name, struct text *path, struct text *content,
                   cugen_error *err);

/* A template or include by name: beside `from` (the file that mentions it), template_dir, shipped. */
int sources_template(const struct sources *sources, const char *name, const char *from, struct text *path,
                     struct text *content, cugen_error *err);

/* Names of all shipped configs, for suggestions; NULL-terminated, owned by the binary's data. */
size_t sources_configs(const char **out, size_t count);

#endif
