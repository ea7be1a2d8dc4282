/* Fuzz target: any bytes as a wisdom file, and as one whose lines all end with the right checksum. Reading ends; what is
   refused says where and leaves the cache as it was; what is taken is as it should be, comes back as it was, and is
   known when it comes again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "runtime/store/wisdom.h"

static void require(bool condition) {
  if (!condition) abort();
}

static struct cache *open_cache(void) {
  struct cache *cache;
  require(cache_open("none", &cache, NULL, NULL) == CUGEN_OK);
  return cache;
}

static size_t count_spaces(struct cache *cache) {
  struct cache_space *spaces;
  size_t count;
  require(cache_spaces(cache, &spaces, &count, NULL) == CUGEN_OK);
  cache_spaces_free(spaces, count);
  return count;
}

static void export_all(struct cache *cache, struct text *out) {
  static const struct cache_filter all = {0};
  size_t count;
  require(wisdom_export(cache, &all, out, &count, NULL) == CUGEN_OK);
}

/* What was taken. */
static void check_taken(struct cache *cache, const char *data, size_t size, const struct cache_merged *first) {
  struct cache *other = open_cache();
  struct cache_merged merged;
  struct cache_checked checked;
  struct text once = {0}, twice = {0}, wrong = {0};
  require(first->better + first->worse + first->known == 0);
  require(wisdom_import(cache, "again", data, size, &merged, NULL) == CUGEN_OK && merged.known == first->added);
  require(merged.added + merged.better + merged.worse == 0);
  require(cache_verify(cache, &checked, &wrong, &wrong, NULL) == CUGEN_OK && wrong.length == 0);
  require(checked.records == first->added);
  export_all(cache, &once);
  require(wisdom_import(other, "other", text_get(&once), once.length, &merged, NULL) == CUGEN_OK);
  export_all(other, &twice);
  require(strcmp(text_get(&once), text_get(&twice)) == 0);
  text_free(&once);
  text_free(&twice);
  text_free(&wrong);
  cache_close(other);
}

static void check(const char *data, size_t size) {
  static struct cache *cache; /* new ones take longest */
  struct cache_merged merged;
  cugen_error err = {0};
  if (!cache) cache = open_cache();
  if (wisdom_import(cache, "fuzz", data, size, &merged, &err)) {
    require(strncmp(err.message, "fuzz:", 5) == 0 && count_spaces(cache) == 0);
    return;
  }
  check_taken(cache, data, size, &merged);
  if (count_spaces(cache) == 0) return;
  cache_close(cache);
  cache = NULL;
}

/* Each line with its checksum. */
static void seal(const char *data, size_t size, struct text *out) {
  for (const char *end = data + size; data < end;) {
    const char *stop = memchr(data, '\n', (size_t)(end - data));
    size_t length = (size_t)((stop ? stop : end) - data);
    text_add_n(out, data, length);
    text_addf(out, ",\"checksum\":\"%s\"}\n", hash_bytes(data, length).hex);
    data += length + (stop != NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct text sealed = {0};
  check((const char *)data, size);
  seal((const char *)data, size, &sealed);
  check(text_get(&sealed), sealed.length);
  text_free(&sealed);
  return 0;
}
