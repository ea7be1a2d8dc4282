/* Images: compiled code that a device will run. Whoever can write to a database can put any code
   into it, so an image is used only if all its facts are sealed with this user's own key; see
   cache.h and seal.h.

   The name that an image is stored under ends with the id of the sealing key, so that users who
   share a database do not replace each other's images. */
#include <string.h>

#include "base/error.h"
#include "base/key.h"
#include "engine.h"
#include "runtime/plan.h"

int cache_image_key(const struct kernel_spec *spec, const char *arch, const char *options,
                    int nvrtc_version, struct text *out, cugen_error *err) {
  text_addf(out, "%s %s %.*s nvrtc %d", spec->source_hash.hex, arch,
            (int)record_options_parse(options).compile, options, nvrtc_version);
  plan_add_entries(spec, out);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

/* ---- The seal ------------------------------------------------------------------------------- */

const char *cache_image_warning(const struct cache *cache) {
  return text_get(&cache->unsealed);
}

static const char sealed_by[] = " sealed by ";

static void write_name(const struct cache *cache, const char *key, struct text *out) {
  text_addf(out, "%s%s%s", key, sealed_by, cache->seal.id);
}

void cache_resources_get(const struct kernel_resources *r, int64_t out[CACHE_RESOURCES]) {
  const int64_t all[CACHE_RESOURCES] = {r->registers,   r->max_threads, r->static_shared,
                                        r->local_bytes, r->spill_bytes, r->constant_bytes};
  memcpy(out, all, sizeof all);
}

struct kernel_resources cache_resources_of(const int64_t from[CACHE_RESOURCES]) {
  return (struct kernel_resources){.registers = (int)from[0],
                                   .max_threads = (int)from[1],
                                   .static_shared = from[2],
                                   .local_bytes = from[3],
                                   .spill_bytes = from[4],
                                   .constant_bytes = from[5]};
}

static void image_add_fact(struct text *out, const char *fact) {
  text_addf(out, "%zu:%s\n", strlen(fact), fact);
}

/* Writes the sealed facts of an image besides its data: the name, the hash, the compiler's log, and
   the entries with their resources. */
static void write_facts(const char *name, const struct compiled *compiled, struct text *out) {
  text_addf(out, "cugen image %d\n", 1);
  image_add_fact(out, name);
  image_add_fact(out, compiled->image_hash.hex);
  image_add_fact(out, compiled->log ? compiled->log : "");
  text_addf(out, "%zu\n", compiled->entry_count);
  for (size_t i = 0; i < compiled->entry_count; i++) {
    int64_t numbers[CACHE_RESOURCES];
    cache_resources_get(&compiled->resources[i], numbers);
    image_add_fact(out, compiled->entries[i]);
    for (int n = 0; n < CACHE_RESOURCES; n++)
      text_addf(out, "%s%lld", n ? " " : "", (long long)numbers[n]);
    text_add_char(out, '\n');
  }
}

/* ---- Loading -------------------------------------------------------------------------------- */

/* Sets *holds to whether the row is what was sealed under this name. Returns false when memory ran
   out. */
static bool check_row(const struct cache *cache, const char *name,
                      const struct cache_image_row *row, bool *holds) {
  struct text facts = {0};
  const struct compiled *compiled = &row->compiled;
  *holds = false;
  if (!row->sealed) return true;
  write_facts(name, compiled, &facts);
  bool memory = !facts.failed;
  *holds =
      memory && seal_holds(&cache->seal, &facts, compiled->image, compiled->image_length, row->mac);
  text_free(&facts);
  return memory;
}

/* A changed image counts as not found, so that the kernel is compiled again and the new image
   replaces it. */
static int image_load_image(struct cache *cache, const char *name, struct compiled *out,
                            bool *found, cugen_error *err) {
  struct cache_image_row row = {0};
  int status = cache->engine->image_load(cache, name, &row, found, err);
  if (!status && *found && !check_row(cache, name, &row, found)) status = error_memory(err);
  if (status || !*found) {
    compiled_free(&row.compiled);
    row.compiled = (struct compiled){0};
    *found = false;
  }
  *out = row.compiled;
  return status;
}

int cache_image_load(struct cache *cache, const char *key, struct compiled *out, bool *found,
                     cugen_error *err) {
  struct text name = {0};
  *out = (struct compiled){0};
  *found = false;
  pthread_mutex_lock(&cache->lock);
  write_name(cache, key, &name);
  int status = !cache->seal.known ? CUGEN_OK
               : name.failed      ? error_memory(err)
                                  : image_load_image(cache, text_get(&name), out, found, err);
  pthread_mutex_unlock(&cache->lock);
  text_free(&name);
  return status;
}

/* ---- Storing -------------------------------------------------------------------------------- */

/* Limits of the size of all images, and the bytes that may be added before the limit is checked
   and the oldest images are removed. */
static const size_t most_in_file = (size_t)256 << 20, most_in_memory = (size_t)32 << 20,
                    step = (size_t)16 << 20;

static int trim(struct cache *cache, size_t added, cugen_error *err) {
  if (added < cache->may_add) {
    cache->may_add -= added;
    return CUGEN_OK;
  }
  cache->may_add = step;
  return cache->engine->image_trim(cache, cache->in_file ? most_in_file : most_in_memory, err);
}

static int seal_and_store(struct cache *cache, const char *key, const struct compiled *compiled,
                          cugen_error *err) {
  struct text name = {0}, facts = {0};
  unsigned char mac[SEAL_BYTES];
  if (!cache->seal.known && cache->in_file) seal_open(true, &cache->seal, NULL);
  if (!cache->seal.known) return CUGEN_OK;
  write_name(cache, key, &name);
  write_facts(text_get(&name), compiled, &facts);
  int status = name.failed || facts.failed ? error_memory(err) : CUGEN_OK;
  if (!status) {
    seal_make(&cache->seal, &facts, compiled->image, compiled->image_length, mac);
    status = cache->engine->image_store(cache, text_get(&name), compiled, mac, err);
    if (!status) status = trim(cache, compiled->image_length, err);
  }
  text_free(&name);
  text_free(&facts);
  return status;
}

int cache_image_store(struct cache *cache, const char *key, const struct compiled *compiled,
                      cugen_error *err) {
  if (compiled->image_length > CACHE_MAX_IMAGE) return CUGEN_OK;
  pthread_mutex_lock(&cache->lock);
  int status = seal_and_store(cache, key, compiled, err);
  pthread_mutex_unlock(&cache->lock);
  return status;
}

/* ---- Checking an image ---------------------------------------------------------------------- */

int cache_image_state(struct cache *cache, const char *name, enum cache_image_state *out,
                      cugen_error *err) {
  struct compiled compiled = {0};
  bool found = false;
  *out = CACHE_IMAGE_FOREIGN;
  const size_t length = strlen(name), end = sizeof sealed_by - 1 + SEAL_ID;
  const bool own = cache->seal.known && length > end &&
                   memcmp(name + length - end, sealed_by, sizeof sealed_by - 1) == 0 &&
                   strcmp(name + length - SEAL_ID, cache->seal.id) == 0;
  if (!own) return CUGEN_OK;
  int status = image_load_image(cache, name, &compiled, &found, err);
  *out = found ? CACHE_IMAGE_OWN : CACHE_IMAGE_CHANGED;
  compiled_free(&compiled);
  return status;
}
