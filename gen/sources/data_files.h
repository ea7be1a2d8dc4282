/* The files that inputs take their data from: their content, and its hash, which is taken again only when a file has
   changed. */
#ifndef GEN_SOURCES_DATA_FILES_H
#define GEN_SOURCES_DATA_FILES_H

#include "base/hash.h"
#include "sources.h"

struct data_files {
  struct data_file *list;
};

/* Looked for as a template is; at most 4 GiB. sources_data_close in any case. */
int data_file_open(const struct sources *sources, const char *name, const char *from, struct source_data *out,
                   cugen_error *err);
/* Empty where there is no such file, or none that can be read: who needs its content finds out why. */
struct hash data_file_hash(struct data_files *files, const struct sources *sources, const char *name,
                           const char *from);
void data_files_close(struct data_files *files);

#endif
