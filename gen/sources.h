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

/* "matmul", "matmul.lua" or a path: with .lua and as given, beside the caller, in config_dir, shipped. *path gets the
   file's name for messages (a shipped one: "configs/matmul.lua"), *content its text. */
int sources_config(const struct sources *sources, const char *name, struct text *path, struct text *content,
                   cugen_error *err);

/* A template or include by name: template_dir, beside `from` (the file that mentions it), shipped. The name is
   relative and stays inside those folders: a config from a stranger cannot read other files. */
int sources_template(const struct sources *sources, const char *name, const char *from, struct text *path,
                     struct text *content, cugen_error *err);

/* File names of all shipped configs ("matmul.lua"), owned by the binary's data. Fills at most count and returns how
   many there are. */
size_t sources_configs(const char **out, size_t count);

#endif
