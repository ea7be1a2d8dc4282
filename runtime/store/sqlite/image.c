/* Images as rows; runtime/store/image.c checks their seals. See database.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system.h"
#include "database.h"

/* ---- Loading -------------------------------------------------------------------------------- */

static bool sqlite_image_read_entries(sqlite3_stmt *statement, struct compiled *out) {
  while (out->entry_count < KERNEL_MAX_ENTRIES && sqlite3_step(statement) == SQLITE_ROW) {
    char **name = &out->entries[out->entry_count];
    *name = strdup(cache_column_text(statement, 0));
    if (!*name) return false;
    int64_t numbers[CACHE_RESOURCES]; /* the columns after the name */
    for (int i = 0; i < CACHE_RESOURCES; i++) numbers[i] = sqlite3_column_int64(statement, 1 + i);
    /* compiled_free frees the name: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    out->resources[out->entry_count++] = cache_resources_of(numbers);
  }
  return true;
}

static bool read_row(sqlite3_stmt *row, sqlite3_stmt *entries, struct cache_image_row *out) {
  struct compiled *compiled = &out->compiled;
  const void *mac = sqlite3_column_blob(row, 3);
  out->sealed = mac && sqlite3_column_bytes(row, 3) == SEAL_BYTES;
  if (out->sealed) memcpy(out->mac, mac, SEAL_BYTES);
  strncat(compiled->image_hash.hex, cache_column_text(row, 0), sizeof compiled->image_hash.hex - 1);
  compiled->log = strdup(cache_column_text(row, 1));
  if (!compiled->log || !sqlite_image_read_entries(entries, compiled)) return false;
  const void *data = sqlite3_column_blob(row, 2);
  const size_t length = data ? (size_t)sqlite3_column_bytes(row, 2) : 0;
  compiled->image = malloc(length ? length : 1);
  if (!compiled->image) return false;
  if (data) memcpy(compiled->image, data, length);
  compiled->image_length = length;
  return true;
}

int sqlite_image_load(struct cache *base, const char *name, struct cache_image_row *out,
                      bool *found, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *image = cache->statements[IMAGE_LOAD], *entries = cache->statements[IMAGE_ENTRIES];
  bool memory = true;
  bool good = cache_bind_text(image, 1, name) && cache_bind_text(entries, 1, name);
  *found = good && sqlite3_step(image) == SQLITE_ROW;
  if (*found) memory = read_row(image, entries, out);
  const int codes[] = {sqlite3_reset(image), sqlite3_reset(entries)};
  if (!memory) return error_memory(err);
  if (codes[0] == SQLITE_TOOBIG || codes[1] == SQLITE_TOOBIG) return *found = false, CUGEN_OK;
  return good && !codes[0] && !codes[1] ? CUGEN_OK
                                        : cache_error(cache, "read a compiled kernel", err);
}

/* ---- Storing -------------------------------------------------------------------------------- */

static bool store_entries(struct sqlite_cache *cache, const char *name,
                          const struct compiled *compiled) {
  sqlite3_stmt *statement = cache->statements[IMAGE_ENTRY_ADD];
  bool good = true;
  for (size_t i = 0; good && i < compiled->entry_count; i++) {
    int64_t numbers[CACHE_RESOURCES];
    cache_resources_get(&compiled->resources[i], numbers);
    good = cache_bind_text(statement, 1, name) &&
           sqlite3_bind_int(statement, 2, (int)i) == SQLITE_OK &&
           cache_bind_text(statement, 3, compiled->entries[i]);
    for (int n = 0; good && n < CACHE_RESOURCES; n++)
      good = sqlite3_bind_int64(statement, 4 + n, numbers[n]) == SQLITE_OK;
    good = good && cache_step(cache, IMAGE_ENTRY_ADD);
  }
  return good;
}

/* The checksum is stored for processes of an older cugen (format 6) that have the file open. */
int sqlite_image_store(struct cache *base, const char *name, const struct compiled *compiled,
                       const unsigned char *mac, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *drop = cache->statements[IMAGE_DROP], *add = cache->statements[IMAGE_ADD];
  struct hash checksum = hash_bytes(compiled->image, compiled->image_length);
  cache_hurry(cache, true);
  bool good = cache_bind_text(drop, 1, name) && cache_bind_text(add, 1, name) &&
              cache_bind_text(add, 2, checksum.hex) &&
              cache_bind_text(add, 3, compiled->image_hash.hex) &&
              sqlite3_bind_int64(add, 4, clock_unix()) == SQLITE_OK &&
              cache_bind_text(add, 5, compiled->log) &&
              sqlite3_bind_blob64(add, 6, compiled->image, compiled->image_length, SQLITE_STATIC) ==
                  SQLITE_OK &&
              sqlite3_bind_blob(add, 7, mac, SEAL_BYTES, SQLITE_STATIC) == SQLITE_OK &&
              cache_step(cache, BEGIN) && cache_step(cache, IMAGE_DROP) &&
              cache_step(cache, IMAGE_ADD) && store_entries(cache, name, compiled);
  int status = cache_finish(cache, good, "keep a compiled kernel", err);
  sqlite3_clear_bindings(add); /* the binding pointed at the caller's memory */
  cache_hurried(cache, status);
  return status;
}

int sqlite_image_trim(struct cache *base, size_t most, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite3_stmt *statement = cache->statements[IMAGE_TRIM];
  cache_hurry(cache, true);
  bool good = sqlite3_bind_int64(statement, 1, (int64_t)most) == SQLITE_OK &&
              cache_step(cache, BEGIN) && cache_step(cache, IMAGE_TRIM);
  int status = cache_finish(cache, good, "remove the oldest compiled kernels", err);
  cache_hurried(cache, status);
  return status;
}
