/* Images: compiled code that a device is to run. Whoever can write to a database can put any code into it, so an image is used only
   with a seal by this user's own key over all that is said of it; see cache.h and seal.h.

   The text that an image is kept under ends with which key sealed it. So users who share a database have one row each, and nobody
   replaces what is another's. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/measure_way.h"
#include "base/system.h"
#include "database.h"
#include "runtime/plan.h"

int cache_image_key(const struct kernel_spec *spec, const char *arch, const char *options, int nvrtc_version,
                    struct text *out, cugen_error *err) {
  size_t length;
  measure_way_of(options, &length);
  text_addf(out, "%s %s %.*s nvrtc %d", spec->source_hash.hex, arch, (int)length, options, nvrtc_version);
  plan_add_entries(spec, out);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

/* ---- The seal -------------------------------------------------------------------------------------------------- */

void cache_seal(struct cache *cache, bool memory) {
  if (!memory) seal_open(false, &cache->seal, &cache->unsealed);
  if (!cache->seal.known && !cache->in_file) seal_fresh(&cache->seal);
}

const char *cache_image_warning(const struct cache *cache) {
  return text_get(&cache->unsealed);
}

static const char sealed_by[] = " sealed by ";

static void write_name(const struct cache *cache, const char *key, struct text *out) {
  text_addf(out, "%s%s%s", key, sealed_by, cache->seal.id);
}

static bool is_own(const struct cache *cache, const char *name) {
  size_t length = strlen(name), end = sizeof sealed_by - 1 + SEAL_ID;
  return cache->seal.known && length > end && memcmp(name + length - end, sealed_by, sizeof sealed_by - 1) == 0 &&
         strcmp(name + length - SEAL_ID, cache->seal.id) == 0;
}

static void add_fact(struct text *out, const char *fact) {
  text_addf(out, "%zu:%s\n", strlen(fact), fact);
}

/* All that is believed of an image, its data aside: what it is kept under, its hash, the compiler's log, its entries. */
static void write_facts(const char *name, const struct compiled *compiled, struct text *out) {
  text_addf(out, "cugen image %d\n", 1);
  add_fact(out, name);
  add_fact(out, compiled->image_hash.hex);
  add_fact(out, compiled->log ? compiled->log : "");
  text_addf(out, "%zu\n", compiled->entry_count);
  for (size_t i = 0; i < compiled->entry_count; i++) {
    const struct kernel_resources *r = &compiled->resources[i];
    add_fact(out, compiled->entries[i]);
    text_addf(out, "%d %d %lld %lld %lld %lld\n", r->registers, r->max_threads, (long long)r->static_shared,
              (long long)r->local_bytes, (long long)r->spill_bytes, (long long)r->constant_bytes);
  }
}

/* ---- Loading ---------------------------------------------------------------------------------------------------- */

/* Where a compiled entry's resources stand in image_entry, from the column after the name on. */
static void read_resources(sqlite3_stmt *statement, struct kernel_resources *out) {
  out->registers = sqlite3_column_int(statement, 1);
  out->max_threads = sqlite3_column_int(statement, 2);
  out->static_shared = sqlite3_column_int64(statement, 3);
  out->local_bytes = sqlite3_column_int64(statement, 4);
  out->spill_bytes = sqlite3_column_int64(statement, 5);
  out->constant_bytes = sqlite3_column_int64(statement, 6);
}

static bool read_entries(sqlite3_stmt *statement, struct compiled *out) {
  while (out->entry_count < KERNEL_MAX_ENTRIES && sqlite3_step(statement) == SQLITE_ROW) {
    char **name = &out->entries[out->entry_count];
    *name = strdup(cache_column_text(statement, 0));
    if (!*name) return false;
    /* compiled_free does, in another file: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    read_resources(statement, &out->resources[out->entry_count++]);
  }
  return true;
}

/* Whether the row, of these entries, is what was sealed under this name. The data is read in place; the rest of *out is filled
   from the row. False when memory ran out. */
static bool check_row(const struct cache *cache, const char *name, sqlite3_stmt *row, sqlite3_stmt *entries,
                      struct compiled *out, bool *holds) {
  struct text facts = {0};
  const void *data = sqlite3_column_blob(row, 2), *mac = sqlite3_column_blob(row, 3);
  size_t length = data ? (size_t)sqlite3_column_bytes(row, 2) : 0;
  *holds = false;
  if (!mac || sqlite3_column_bytes(row, 3) != SEAL_BYTES) return true;
  strncat(out->image_hash.hex, cache_column_text(row, 0), sizeof out->image_hash.hex - 1);
  out->log = strdup(cache_column_text(row, 1));
  if (!out->log || !read_entries(entries, out)) return false;
  write_facts(name, out, &facts);
  bool memory = !facts.failed;
  *holds = memory && seal_holds(&cache->seal, &facts, data, length, mac);
  text_free(&facts);
  return memory;
}

static bool take_data(sqlite3_stmt *row, struct compiled *out) {
  const void *data = sqlite3_column_blob(row, 2);
  size_t length = data ? (size_t)sqlite3_column_bytes(row, 2) : 0;
  out->image = malloc(length ? length : 1);
  if (!out->image) return false;
  if (data) memcpy(out->image, data, length);
  out->image_length = length;
  return true;
}

/* One that is not what was stored counts as not found: it is compiled again, and storing that replaces it. So does one that is
   larger than any. */
static int load_image(struct cache *cache, const char *name, struct compiled *out, bool *found, cugen_error *err) {
  sqlite3_stmt *image = cache->statements[IMAGE_LOAD], *entries = cache->statements[IMAGE_ENTRIES];
  bool memory = true;
  bool good = cache_bind_text(image, 1, name) && cache_bind_text(entries, 1, name);
  if (good && sqlite3_step(image) == SQLITE_ROW) memory = check_row(cache, name, image, entries, out, found);
  if (memory && *found) memory = take_data(image, out);
  const int codes[] = {sqlite3_reset(image), sqlite3_reset(entries)};
  if (!memory) return error_memory(err);
  if (codes[0] == SQLITE_TOOBIG || codes[1] == SQLITE_TOOBIG) return *found = false, CUGEN_OK;
  return good && !codes[0] && !codes[1] ? CUGEN_OK : cache_error(cache, "read a compiled kernel", err);
}

int cache_image_load(struct cache *cache, const char *key, struct compiled *out, bool *found, cugen_error *err) {
  struct text name = {0};
  *out = (struct compiled){0};
  *found = false;
  pthread_mutex_lock(&cache->lock);
  write_name(cache, key, &name);
  int status = !cache->seal.known ? CUGEN_OK
               : name.failed      ? error_memory(err)
                                  : load_image(cache, text_get(&name), out, found, err);
  pthread_mutex_unlock(&cache->lock);
  text_free(&name);
  if (status || !*found) {
    compiled_free(out);
    *found = false;
  }
  return status;
}

/* ---- Storing ------------------------------------------------------------------------------------------------------ */

static bool bind_resources(sqlite3_stmt *statement, const struct kernel_resources *resources) {
  const int64_t values[] = {resources->registers,   resources->max_threads, resources->static_shared,
                            resources->local_bytes, resources->spill_bytes, resources->constant_bytes};
  for (int i = 0; i < 6; i++)
    if (sqlite3_bind_int64(statement, 4 + i, values[i]) != SQLITE_OK) return false;
  return true;
}

static bool store_entries(struct cache *cache, const char *name, const struct compiled *compiled) {
  sqlite3_stmt *statement = cache->statements[IMAGE_ENTRY_ADD];
  for (size_t i = 0; i < compiled->entry_count; i++)
    if (!cache_bind_text(statement, 1, name) || sqlite3_bind_int(statement, 2, (int)i) != SQLITE_OK ||
        !cache_bind_text(statement, 3, compiled->entries[i]) || !bind_resources(statement, &compiled->resources[i]) ||
        !cache_step(cache, IMAGE_ENTRY_ADD))
      return false;
  return true;
}

/* The checksum is for cugens of format 6 that have the file open. */
static int store_image(struct cache *cache, const char *name, const struct compiled *compiled,
                       const unsigned char *mac, cugen_error *err) {
  sqlite3_stmt *drop = cache->statements[IMAGE_DROP], *add = cache->statements[IMAGE_ADD];
  struct hash checksum = hash_bytes(compiled->image, compiled->image_length);
  bool good = cache_bind_text(drop, 1, name) && cache_bind_text(add, 1, name) &&
              cache_bind_text(add, 2, checksum.hex) && cache_bind_text(add, 3, compiled->image_hash.hex) &&
              sqlite3_bind_int64(add, 4, clock_unix()) == SQLITE_OK && cache_bind_text(add, 5, compiled->log) &&
              sqlite3_bind_blob64(add, 6, compiled->image, compiled->image_length, SQLITE_STATIC) == SQLITE_OK &&
              sqlite3_bind_blob(add, 7, mac, SEAL_BYTES, SQLITE_STATIC) == SQLITE_OK && cache_step(cache, BEGIN) &&
              cache_step(cache, IMAGE_DROP) && cache_step(cache, IMAGE_ADD) && store_entries(cache, name, compiled);
  int status = cache_finish(cache, good, "keep a compiled kernel", err);
  sqlite3_clear_bindings(add); /* it pointed at the caller's memory */
  return status;
}

/* So many bytes of all images may stay, and so many more be added before the oldest go. */
static const size_t most_in_file = (size_t)256 << 20, most_in_memory = (size_t)32 << 20, step = (size_t)16 << 20;

static int trim(struct cache *cache, size_t added, cugen_error *err) {
  sqlite3_stmt *statement = cache->statements[IMAGE_TRIM];
  if (added < cache->may_add) {
    cache->may_add -= added;
    return CUGEN_OK;
  }
  cache->may_add = step;
  size_t most = cache->in_file ? most_in_file : most_in_memory;
  bool good = sqlite3_bind_int64(statement, 1, (int64_t)most) == SQLITE_OK && cache_step(cache, BEGIN) &&
              cache_step(cache, IMAGE_TRIM);
  return cache_finish(cache, good, "remove the oldest compiled kernels", err);
}

static int seal_and_store(struct cache *cache, const char *key, const struct compiled *compiled, cugen_error *err) {
  struct text name = {0}, facts = {0};
  unsigned char mac[SEAL_BYTES];
  if (!cache->seal.known && cache->in_file) seal_open(true, &cache->seal, NULL);
  if (!cache->seal.known) return CUGEN_OK;
  write_name(cache, key, &name);
  write_facts(text_get(&name), compiled, &facts);
  int status = name.failed || facts.failed ? error_memory(err) : CUGEN_OK;
  if (!status) {
    seal_make(&cache->seal, &facts, compiled->image, compiled->image_length, mac);
    status = store_image(cache, text_get(&name), compiled, mac, err);
    if (!status) status = trim(cache, compiled->image_length, err);
  }
  text_free(&name);
  text_free(&facts);
  return status;
}

int cache_image_store(struct cache *cache, const char *key, const struct compiled *compiled, cugen_error *err) {
  if (compiled->image_length > CACHE_MAX_IMAGE) return CUGEN_OK;
  pthread_mutex_lock(&cache->lock);
  cache_hurry(cache);
  int status = seal_and_store(cache, key, compiled, err);
  cache_hurried(cache, status);
  pthread_mutex_unlock(&cache->lock);
  return status;
}

/* ---- Looking at all of them ------------------------------------------------------------------------------------------ */

static int state_of(struct cache *cache, const char *name, enum cache_image_state *out, cugen_error *err) {
  struct compiled compiled = {0};
  bool found = false;
  *out = CACHE_IMAGE_FOREIGN;
  if (!is_own(cache, name)) return CUGEN_OK;
  int status = load_image(cache, name, &compiled, &found, err);
  *out = found ? CACHE_IMAGE_OWN : CACHE_IMAGE_CHANGED;
  compiled_free(&compiled);
  return status;
}

int cache_images_visit(struct cache *cache,
                       void (*visit)(void *context, const char *name, int64_t bytes, enum cache_image_state state),
                       void *context, cugen_error *err) {
  sqlite3_stmt *row = cache_query(cache, "SELECT key, length(data) FROM images");
  int status = row ? CUGEN_OK : cache_error(cache, "check", err);
  while (!status && sqlite3_step(row) == SQLITE_ROW) {
    enum cache_image_state state;
    const char *name = cache_column_text(row, 0);
    status = state_of(cache, name, &state, err);
    if (!status) visit(context, name, sqlite3_column_int64(row, 1), state);
  }
  if (row && sqlite3_reset(row) && !status) status = cache_error(cache, "check", err);
  sqlite3_finalize(row);
  return status;
}
