/* Finds configs and templates in the application's memory, in folders, and among the files shipped
   in the binary. */
#ifndef GEN_SOURCES_SOURCES_H
#define GEN_SOURCES_SOURCES_H

#include "base/text.h"

/* A file in memory. The list grows only at its head, so that an older head keeps seeing the same
   files. */
struct source_file {
  struct source_file *older;
  char *name; /* relative, without "." and ".." parts */
  char *data;
  size_t length;
};

/* The folders may be NULL. All members are borrowed and outlive the sources. */
struct sources {
  const char *config_dir;
  const char *template_dir;
  const struct source_file *files; /* newest first */
};

/* Puts a copy of the file at the head of the list. CUGEN_ERROR_USAGE: the name or the length is not
   valid. */
int sources_add(struct source_file **files, const char *name, const char *data, size_t length,
                cugen_error *err);
void sources_forget(struct source_file *files);
/* Finds the newest file of that name in the folder (may be NULL); *out becomes NULL if there is
   none. */
int sources_find(const struct source_file *files, const char *folder, const char *name,
                 const struct source_file **out, cugen_error *err);
/* Returns whether the path, as returned by the functions below, is that of a file in memory. */
bool sources_holds(const struct source_file *files, const char *path);

/* A shipped file, such as "configs/matmul.lua", which the build embeds. */
struct embedded_file {
  const char *path;
  const char *data;
  size_t length;
};
extern const struct embedded_file embedded_files[]; /* the last entry has path == NULL */

/* Reads a config. name: "matmul", "matmul.lua" or a path, searched with .lua and as given: in
   memory, in the current folder, in config_dir, among the shipped configs. A name that begins with
   / or ./ is searched on disk only. *path becomes the file's name for messages
   ("configs/matmul.lua" for a shipped config), *content its text; *shipped tells whether the config
   is shipped. */
int sources_config(const struct sources *sources, const char *name, struct text *path,
                   struct text *content, bool *shipped, cugen_error *err);

/* A file that a config includes. The name is relative, without ".." and hidden parts. The file is
   searched beside `from`, the file that includes it, and must lie in the tree of the config;
   shipped files include only shipped files. A file that the application holds in memory comes
   first; if no file is found, a shipped file of that name in configs/ is taken. */
struct include_wanted {
  const char *name, *from;
  const char *config; /* path of the config */
  bool shipped;       /* whether `from` is a shipped file */
};
int sources_include(const struct sources *sources, const struct include_wanted *wanted,
                    struct text *path, struct text *content, bool *shipped, cugen_error *err);

/* Reads the description of a GPU: "a100" or "A100" is a100.lua in device_dir, else the shipped
   "configs/devices/a100.lua"; if there is neither, *found becomes false. A name with a '/' or
   ending in .lua is a file; CUGEN_ERROR_MISSING: there is no such file. */
int sources_device(const char *device_dir, const char *name, struct text *path,
                   struct text *content, bool *found, cugen_error *err);

/* Reads a template or include. The file is searched in memory (beside `from`, the file that
   mentions it, if `from` is in memory, too; then by its name alone), in template_dir, beside
   `from`, and among the shipped files. The name is relative, without ".." and hidden parts. A file
   on disk, also by its real name, must lie in the tree of the config: the folder of `config` (NULL:
   none), template_dir, or below, so that a stranger's config cannot read other files. */
int sources_template(const struct sources *sources, const char *name, const char *from,
                     const char *config, struct text *path, struct text *content, cugen_error *err);

/* An open data file, which is read in parts: on disk, or in memory (fd -1). */
struct source_data {
  int fd;
  const char *memory;
  size_t bytes;
};
/* Opens a data file, which is searched like a template and may have at most 4 GiB. path may be
   NULL. Call sources_data_close also after a failure. */
int sources_data_open(const struct sources *sources, const char *name, const char *config,
                      struct text *path, struct source_data *out, cugen_error *err);
/* Reads `bytes` bytes at `offset`. CUGEN_ERROR_IO: the file has become too short or cannot be read.
   Several threads may read at the same time. */
int sources_data_read(const struct source_data *data, size_t offset, void *to, size_t bytes,
                      cugen_error *err);
void sources_data_close(struct source_data *data);

/* A header that a template includes. A name in quotes is searched beside `from`, the file that
   mentions it, and then in the folders, which are relative to the config and to template_dir; in
   angle brackets, only in the folders. *found false is not an error, because the compiler has
   headers of its own. The file must lie in the tree of the config. */
struct header_search {
  const char *name, *from;
  bool quoted;
  const char *config; /* path of the config */
  const char *const *folders;
  size_t folder_count;
};
int sources_header(const struct sources *sources, const struct header_search *wanted,
                   struct text *path, struct text *content, bool *found, cugen_error *err);
/* Sets *found to whether a folder of headers exists beside the config or in template_dir. If there
   are files in memory, *found is always true, because such files have no folders. */
int sources_folder(const struct sources *sources, const char *config, const char *folder,
                   bool *found, cugen_error *err);
/* Checks that a name is not too long and has no control characters, because messages quote it on
   one line. what: the kind of the file, such as "template". */
int sources_check_name(const char *what, const char *name, cugen_error *err);
/* Returns whether the name is relative, not empty, and has no newline, ".." or hidden part
   (".ssh"). */
bool sources_inside(const char *name);

/* Lists the file names of all shipped configs ("matmul.lua"), which are static. Fills at most count
   entries and returns how many there are. */
size_t sources_configs(const char **out, size_t count);

#endif
