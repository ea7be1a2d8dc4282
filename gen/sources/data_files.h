/* Data files of inputs: their content and its hash. The hash is computed again only if the file has
   changed. */
#ifndef GEN_SOURCES_DATA_FILES_H
#define GEN_SOURCES_DATA_FILES_H

#include "base/hash.h"
#include "sources.h"

struct data_files {
  struct data_file *list;
};

/* Opens a data file, which is searched like a template and may have at most 4 GiB. Call
   sources_data_close also after a failure. */
int data_file_open(const struct sources *sources, const char *name, const char *from,
                   struct source_data *out, cugen_error *err);
/* Returns an empty hash if the file does not exist or cannot be read; the error is reported by the
   code that needs the content. */
struct hash data_file_hash(struct data_files *files, const struct sources *sources,
                           const char *name, const char *from);
void data_files_close(struct data_files *files);

#endif
