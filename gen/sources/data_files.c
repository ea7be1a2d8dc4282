/* Keeps the hashes of data files; see data_files.h. */
#include "data_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct data_file {
  struct data_file *next;
  char *name, *from, *path;
  struct stat info;
  struct hash hash;
};

/* A file that is being hashed. */
struct hashing {
  struct source_data data;
  size_t at;
  char *piece;
};

enum { PIECE = 1 << 20 };

static int next_piece(void *context, struct hash_piece *out) {
  struct hashing *h = context;
  cugen_error ignored;
  const size_t left = h->data.bytes - h->at, length = left < PIECE ? left : PIECE;
  int status = sources_data_read(&h->data, h->at, h->piece, length, &ignored);
  *out = (struct hash_piece){h->piece, length};
  h->at += length;
  return status;
}

static struct hash data_files_hash_data(const struct sources *sources, const char *name,
                                        const char *from, struct text *path) {
  struct hashing h = {.piece = malloc(PIECE)};
  struct hash hash = {0};
  cugen_error ignored;
  int status = sources_data_open(sources, name, from, path, &h.data, &ignored);
  if (!status && h.piece && hash_stream(next_piece, &h, &hash)) hash = (struct hash){0};
  sources_data_close(&h.data);
  free(h.piece);
  return hash;
}

static void data_files_forget(struct data_file *file) {
  free(file->name);
  free(file->from);
  free(file->path);
  free(file);
}

static struct data_file *data_files_find_known(const struct data_files *files, const char *name,
                                               const char *from) {
  struct data_file *file = files->list;
  while (file && (strcmp(file->name, name) != 0 || strcmp(file->from, from) != 0))
    file = file->next;
  return file;
}

/* Returns whether the file on disk is unchanged since it was hashed. Returns false if there is no
   file at the path, as for most files in memory and shipped files. */
static bool unchanged(const struct data_file *file) {
  struct stat now;
  return stat(file->path, &now) == 0 && now.st_size == file->info.st_size &&
         now.st_ino == file->info.st_ino && now.st_mtim.tv_sec == file->info.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == file->info.st_mtim.tv_nsec;
}

static void data_files_remember(struct data_files *files, const char *name, const char *from,
                                const char *path, struct hash hash) {
  struct data_file *file = data_files_find_known(files, name, from);
  struct stat info;
  if (stat(path, &info)) return;
  if (!file) {
    file = calloc(1, sizeof *file);
    if (!file) return;
    file->name = strdup(name);
    file->from = strdup(from);
    file->next = files->list;
    if (!file->name || !file->from) {
      data_files_forget(file);
      return;
    }
    files->list = file;
  }
  free(file->path);
  file->path = strdup(path);
  file->info = info;
  file->hash = hash;
}

struct hash data_file_hash(struct data_files *files, const struct sources *sources,
                           const char *name, const char *from) {
  struct data_file *known = data_files_find_known(files, name, from);
  struct text path = {0};
  if (known && known->path && unchanged(known)) return known->hash;
  const struct hash hash = data_files_hash_data(sources, name, from, &path);
  if (hash.hex[0]) data_files_remember(files, name, from, text_get(&path), hash);
  text_free(&path);
  return hash;
}

void data_files_close(struct data_files *files) {
  while (files->list) {
    struct data_file *next = files->list->next;
    data_files_forget(files->list);
    files->list = next;
  }
}
