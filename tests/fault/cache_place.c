/* A cache in a folder of its own; see cache_place.h. */
#include <sqlite3.h>
#include <sys/stat.h>

#include "cache_place.h"
#include "tests/old_formats.h"
#include "tests/testing.h"

const struct cache_key place_key = {"device", "config", "problem", "options", NULL, NULL, 0};

int place_set_up(void **state) {
  struct place *fixture = calloc(1, sizeof *fixture);
  if (!fixture || folder_temporary(&fixture->folder, NULL)) return -1;
  text_addf(&fixture->path, "%s/cache.db", text_get(&fixture->folder));
  *state = fixture;
  return 0;
}

int place_tear_down(void **state) {
  struct place *fixture = *state;
  chmod(text_get(&fixture->folder), 0700);
  int status = folder_remove(text_get(&fixture->folder));
  text_free(&fixture->folder);
  text_free(&fixture->path);
  free(fixture);
  return status;
}

int place_store(struct cache *cache, const char *prefix, int number, cugen_error *err) {
  FREED(text) variant = {0};
  text_addf(&variant, "%s%d", prefix, number);
  struct cache_record record = {
      .variant = variant.data, .hash = hash_bytes(&number, sizeof number), .seconds = number + 1};
  int status = cache_store(cache, &place_key, &record, err);
  return status;
}

size_t place_count(struct cache *cache) {
  struct cache_record *records;
  size_t count;
  assert_int_equal(cache_load(cache, &place_key, &records, &count, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
  return count;
}

int place_store_image(struct cache *cache, size_t length, cugen_error *err) {
  FREED(compiled) image = {.image = calloc(1, length),
                           .image_length = length,
                           .entry_count = 1,
                           .entries = {strdup("kernel")},
                           .log = strdup("")};
  int status = cache_image_store(cache, "image", &image, err);
  return status;
}

/* Fills a cache with some hundred records and an image, and closes it. */
void place_fill(struct place *fixture) {
  CLOSED(cache) *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  for (int i = 0; i < 100; i++) assert_int_equal(place_store(cache, "variant ", i, NULL), CUGEN_OK);
  assert_int_equal(place_store_image(cache, 20000, NULL), CUGEN_OK);
}

void place_sql(struct place *fixture, const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

void place_back_to(struct place *fixture, int format) {
  FREED(text) sql = {0};
  old_format_sql(format, &sql, NULL);
  place_sql(fixture, text_get(&sql));
}
