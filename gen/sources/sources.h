/* Where configs and templates come from: what an application holds in memory, the user's folders, what ships inside the
   binary. */
#ifndef GEN_SOURCES_SOURCES_H
#define GEN_SOURCES_SOURCES_H

#include "base/text.h"

/* A file in memory. The list grows at its head only: whoever has a head goes on seeing what was there then. */
struct source_file {
  struct source_file *older;
  char *name; /* relative, without "." and ".." */
  char *data;
  size_t length;
};

/* Folders may be NULL. All is borrowed and outlives the sources. */
struct sources {
  const char *config_dir;
  const char *template_dir;
  const struct source_file *files; /* the newest first */
};

/* Puts a copy before the others. CUGEN_ERROR_USAGE: not a name for a file. */
int sources_add(struct source_file **files, const char *name, const char *data, size_t length, cugen_error *err);
void sources_forget(struct source_file *files);
/* The newest of that name, in that folder (may be NULL), or NULL. */
int sources_find(const struct source_file *files, const char *folder, const char *name,
                 const struct source_file **out, cugen_error *err);
/* Whether the path is that of a file in memory, as the look-ups below gave it. */
bool sources_holds(const struct source_file *files, const char *path);

/* A file that ships: made by the build from configs/ and templates/ ("configs/matmul.lua"). */
struct embedded_file {
  const char *path;
  const char *data;
  size_t length;
};
extern const struct embedded_file embedded_files[]; /* ends with path == NULL */

/* "matmul", "matmul.lua" or a path: with .lua and as given, in memory, beside the caller, in config_dir, shipped. What
   begins with / or ./ is on the disk. *path gets the file's name for messages (a shipped one: "configs/matmul.lua"), *content its text. */
int sources_config(const struct sources *sources, const char *name, struct text *path, struct text *content,
                   cugen_error *err);

/* The same; *shipped: it is one of those that ship. */
int sources_find_config(const struct sources *sources, const char *name, struct text *path, struct text *content,
                        bool *shipped, cugen_error *err);

/* A file that a config includes. The name is relative, without ".." and hidden parts: beside `from`, the file that includes it,
   and in the config's tree; of what ships, what ships alone. Where an application holds such a file in memory, that comes
   first; where there is none, that of the shipped configs is taken. */
struct include_wanted {
  const char *name, *from;
  const char *config; /* path */
  bool shipped;       /* `from` ships */
};
int sources_include(const struct sources *sources, const struct include_wanted *wanted, struct text *path,
                    struct text *content, bool *shipped, cugen_error *err);

/* A description of a GPU: "a100" or "A100" is a100.lua in device_dir, else a shipped one ("configs/devices/a100.lua"); a name with a '/'
   or that ends in .lua is a file. */
int sources_device(const char *device_dir, const char *name, struct text *path, struct text *content, bool *found,
                   cugen_error *err);

/* A template or include by name: in memory (beside `from`, the file that mentions it, where that is in memory too; then
   by the name alone), template_dir, beside `from`, shipped. The name is relative, without ".." and hidden parts, and the file lies
   in the config's tree: the folder of `config` (NULL: none), the template folder, or below, by its real name too. So a config
   from a stranger cannot read other files. */
int sources_template(const struct sources *sources, const char *name, const char *from, const char *config,
                     struct text *path, struct text *content, cugen_error *err);

/* A file of data that is open, of which parts are read as they are needed: on the disk, or in memory (fd -1). */
struct source_data {
  int fd;
  const char *memory;
  size_t bytes;
};
/* Found like a template. sources_data_close in any case. */
int sources_data_open(const struct sources *sources, const char *name, const char *config, struct text *path,
                      struct source_data *out, cugen_error *err);
/* From so many bytes behind its beginning; CUGEN_ERROR_IO where it has become shorter. Threads may read side by side. */
int sources_data_read(const struct source_data *data, size_t offset, void *to, size_t bytes, cugen_error *err);
void sources_data_close(struct source_data *data);

/* A plain header that a template includes. Quoted, it is looked for beside `from`, the file that mentions it; then, and in angle
   brackets only there, in the folders, which are named relative to the config. *found: false is no error, since the compiler
   has headers of its own. What is read lies in the config's tree. */
struct header_search {
  const char *name, *from;
  bool quoted;
  const char *config; /* path */
  const char *const *folders;
  size_t folder_count;
};
int sources_header(const struct sources *sources, const struct header_search *wanted, struct text *path,
                   struct text *content, bool *found, cugen_error *err);
/* Whether such a folder is there: beside the config or in the template folder; of files in memory, which have none, nothing is
   said against it. */
int sources_folder(const struct sources *sources, const char *config, const char *folder, bool *found,
                   cugen_error *err);
/* No control character, since messages quote names and have lines of their own, and not too long; what: "template". */
int sources_check_name(const char *what, const char *name, cugen_error *err);
/* Relative, without ".." and without what begins with a dot. */
bool sources_inside(const char *name);

/* File names of all shipped configs ("matmul.lua"), owned by the binary's data. Fills at most count and returns how
   many there are. */
size_t sources_configs(const char **out, size_t count);

#endif
