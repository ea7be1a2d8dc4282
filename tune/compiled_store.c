/* A store of compiled images in memory; see compiled_store.h. */
#include "compiled_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const size_t most_bytes = (size_t)128 << 20;

struct entry {
  struct hash key;
  struct compiled compiled;
  size_t bytes;
};

struct compiled_store {
  pthread_mutex_t mutex;
  struct entry *entries; /* oldest first */
  size_t count, bytes;
};

struct compiled_store *compiled_store_open(void) {
  struct compiled_store *store = calloc(1, sizeof *store);
  if (store) pthread_mutex_init(&store->mutex, NULL);
  return store;
}

void compiled_store_close(struct compiled_store *store) {
  if (!store) return;
  for (size_t i = 0; i < store->count; i++) compiled_free(&store->entries[i].compiled);
  free(store->entries);
  pthread_mutex_destroy(&store->mutex);
  free(store);
}

static const struct entry *tune_compiled_store_find(const struct compiled_store *store,
                                                    const struct hash *key) {
  for (size_t i = store->count; i-- > 0;)
    if (strcmp(store->entries[i].key.hex, key->hex) == 0) return &store->entries[i];
  return NULL;
}

bool compiled_store_find(struct compiled_store *store, const char *key, struct compiled *out) {
  const struct hash hash = hash_bytes(key, strlen(key));
  pthread_mutex_lock(&store->mutex);
  const struct entry *entry = tune_compiled_store_find(store, &hash);
  const bool found = entry && compiled_copy(&entry->compiled, out);
  pthread_mutex_unlock(&store->mutex);
  return found;
}

static void compiled_store_drop_oldest(struct compiled_store *store) {
  size_t dropped = 0;
  for (; store->bytes > most_bytes && dropped + 1 < store->count; dropped++) {
    store->bytes -= store->entries[dropped].bytes;
    compiled_free(&store->entries[dropped].compiled);
  }
  store->count -= dropped;
  if (dropped)
    memmove(store->entries, store->entries + dropped, store->count * sizeof *store->entries);
}

void compiled_store_keep(struct compiled_store *store, const char *key,
                         const struct compiled *compiled) {
  struct entry entry = {.key = hash_bytes(key, strlen(key)),
                        .bytes =
                            compiled->image_length + (compiled->ptx ? strlen(compiled->ptx) : 0)};
  pthread_mutex_lock(&store->mutex);
  if (!tune_compiled_store_find(store, &entry.key) && ARRAY_ROOM(store->entries, store->count) &&
      compiled_copy(compiled, &entry.compiled)) {
    store->entries[store->count++] = entry;
    store->bytes += entry.bytes;
    compiled_store_drop_oldest(store);
  }
  pthread_mutex_unlock(&store->mutex);
}
