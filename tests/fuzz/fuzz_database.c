/* Fuzz target: any bytes as the cache's file. The file is refused, or its contents can be
   listed, loaded and extended. A refused file of the present format stays as it was; an older
   one has been migrated before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"
#include "fuzz.h"
#include "runtime/store/cache.h"

enum { FORMAT_AT = 63 }; /* the last byte of PRAGMA user_version: the format */

static const struct cache_key key = {"device", "config", "problem", "options", NULL, NULL, 0};
static char path[64], state[80];

int LLVMFuzzerInitialize(int *argc, char ***argv);
static void remove_state(void) {
  folder_remove(state);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  /* In memory if there is such a folder, since nothing here needs a disk. */
  snprintf(path, sizeof path, "%s/cugen-fuzz-%ld.db",
           access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
  /* The key of images must not be the user's own. */
  snprintf(state, sizeof state, "%s.state", path);
  setenv("XDG_STATE_HOME", state, 1);
  atexit(remove_state);
  return 0;
}

static void remove_files(void) {
  static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char name[80];
    snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
    unlink(name);
  }
}

static void write_file(const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  require(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static void require_untouched(const uint8_t *data, size_t size) {
  struct text content = {0};
  require(file_read(path, &content, NULL) == CUGEN_OK && content.length == size);
  require(size == 0 || memcmp(text_get(&content), data, size) == 0);
  text_free(&content);
}

static int visit(void *context, const char *problem, cugen_error *err) {
  (void)err;
  *(size_t *)context += strlen(problem);
  return CUGEN_OK;
}

static void check(struct cache *cache) {
  cugen_cache_counts checked;
  struct text wrong = {0}, foreign = {0};
  cugen_error err = {0};
  int status = cache_verify(cache, &checked, &wrong, &foreign, &err);
  require(status == CUGEN_OK || err.message[0]);
  text_free(&wrong);
  text_free(&foreign);
}

static void load(struct cache *cache) {
  struct cache_record *records;
  struct compiled image;
  size_t count, length = 0;
  bool found;
  cugen_error err = {0};
  int status = cache_load(cache, &key, &records, &count, &err);
  require(status == CUGEN_OK || (err.message[0] && !records));
  for (size_t i = 0; i < count; i++) {
    require(records[i].variant && records[i].reason);
    cache_record_free(&records[i]);
  }
  free(records);
  cache_problems(cache, &key, visit, &length, &err);
  check(cache);
  status = cache_image_load(cache, "image", &image, &found, &err);
  require(status == CUGEN_OK || (err.message[0] && !found));
  compiled_free(&image);
}

/* Storing fails with an error, or the record is there afterwards. */
static void store(struct cache *cache) {
  char variant[] = "new", name[] = "kernel", log[] = "", data[] = "data";
  struct cache_record record = {
      .variant = variant, .hash = hash_bytes(variant, 3), .reason = log, .seconds = 1};
  struct compiled image = {
      .image = data, .image_length = sizeof data, .entry_count = 1, .entries = {name}, .log = log};
  cugen_error err = {0};
  int status = cache_store(cache, &key, &record, &err);
  require(status == CUGEN_OK || err.message[0]);
  status = cache_image_store(cache, "image", &image, &err);
  require(status == CUGEN_OK || err.message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct cache *cache;
  cugen_error err = {0};
  write_file(data, size);
  int status = cache_open(path, &cache, NULL, &err);
  require((status == CUGEN_OK) == (cache != NULL));
  if (status) {
    require(err.status == status && strstr(err.message, path));
    if (size <= FORMAT_AT || data[FORMAT_AT] >= 3) require_untouched(data, size);
  } else {
    load(cache);
    store(cache);
    load(cache);
    cache_close(cache);
  }
  remove_files();
  return 0;
}
