/* The hashes of the contents of data files. The hash of a file on disk is kept until the file
   changes. */
#ifndef GEN_SOURCES_DATA_FILES_H
#define GEN_SOURCES_DATA_FILES_H

#include "base/hash.h"
#include "sources.h"

struct data_files {
  struct data_file *list;
};

/* Returns the hash of a file that the config at `from` names, or an empty hash if the file cannot
   be read. */
struct hash data_file_hash(struct data_files *files, const struct sources *sources,
                           const char *name, const char *from);
void data_files_close(struct data_files *files);

#endif
