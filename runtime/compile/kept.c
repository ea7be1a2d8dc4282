/* Keeping compiled images in memory; see kept.h. */
#include "kept.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/system.h"

struct image {
  struct hash key;
  struct compiled compiled;
  bool ready;   /* false: the image is being compiled */
  pthread_t by; /* the thread that compiles the image */
  struct image *next;
};

struct kept_images {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct image *all; /* newest first */
  size_t most_bytes;
};

struct kept_images *kept_images_new(size_t most_bytes) {
  struct kept_images *kept = calloc(1, sizeof *kept);
  if (!kept) return NULL;
  kept->most_bytes = most_bytes;
  pthread_mutex_init(&kept->mutex, NULL);
  condition_open(&kept->changed);
  return kept;
}

static void image_free(struct image *image) {
  compiled_free(&image->compiled);
  free(image);
}

void kept_images_free(struct kept_images *kept) {
  if (!kept) return;
  while (kept->all) {
    struct image *next = kept->all->next;
    image_free(kept->all);
    kept->all = next;
  }
  pthread_cond_destroy(&kept->changed);
  pthread_mutex_destroy(&kept->mutex);
  free(kept);
}

/* Returns the link to the image with that key, or the last link of the list, which is NULL. */
static struct image **kept_find(struct kept_images *kept, const struct hash *key) {
  struct image **at = &kept->all;
  while (*at && strcmp((*at)->key.hex, key->hex) != 0) at = &(*at)->next;
  return at;
}

/* Marks an image as being compiled. Without memory for the mark, two threads may compile the
   same image. */
static void kept_mark(struct kept_images *kept, const struct hash *key) {
  struct image *image = calloc(1, sizeof *image);
  if (!image) return;
  image->key = *key;
  image->by = pthread_self();
  image->next = kept->all;
  kept->all = image;
}

bool kept_images_get(struct kept_images *kept, const struct hash *key,
                     const struct process_stop *stop, struct compiled *out) {
  bool found = false;
  pthread_mutex_lock(&kept->mutex);
  struct image *image = *kept_find(kept, key);
  while (image && !image->ready && !(stop->asked && stop->asked(stop->context))) {
    const struct timespec until = clock_after(0.05); /* so that a stop is noticed */
    pthread_cond_timedwait(&kept->changed, &kept->mutex, &until);
    image = *kept_find(kept, key);
  }
  if (!image)
    kept_mark(kept, key);
  else if (image->ready)
    found = compiled_copy(&image->compiled, out);
  pthread_mutex_unlock(&kept->mutex);
  return found;
}

/* Called with the mutex held. */
static void drop_oldest(struct kept_images *kept) {
  size_t bytes = 0; /* of the images so far; the oldest come last */
  for (struct image **at = &kept->all; *at;) {
    struct image *image = *at;
    bytes += sizeof *image + image->compiled.image_length +
             (image->compiled.ptx ? strlen(image->compiled.ptx) : 0);
    if (image->ready && bytes > kept->most_bytes) {
      *at = image->next;
      image_free(image);
    } else {
      at = &image->next;
    }
  }
}

void kept_images_put(struct kept_images *kept, const struct hash *key,
                     const struct compiled *compiled) {
  pthread_mutex_lock(&kept->mutex);
  struct image **at = kept_find(kept, key), *image = *at;
  if (image && !image->ready && pthread_equal(image->by, pthread_self())) {
    image->ready = compiled && compiled_copy(compiled, &image->compiled);
    if (!image->ready) {
      *at = image->next;
      image_free(image);
    }
    drop_oldest(kept);
    pthread_cond_broadcast(&kept->changed);
  }
  pthread_mutex_unlock(&kept->mutex);
}

bool kept_images_find(struct kept_images *kept, const struct hash *key, struct compiled *out) {
  pthread_mutex_lock(&kept->mutex);
  const struct image *image = *kept_find(kept, key);
  const bool found = image && image->ready && compiled_copy(&image->compiled, out);
  pthread_mutex_unlock(&kept->mutex);
  return found;
}

void kept_images_keep(struct kept_images *kept, const struct hash *key,
                      const struct compiled *compiled) {
  pthread_mutex_lock(&kept->mutex);
  const bool absent = !*kept_find(kept, key);
  if (absent) kept_mark(kept, key);
  pthread_mutex_unlock(&kept->mutex);
  if (absent) kept_images_put(kept, key, compiled);
}
