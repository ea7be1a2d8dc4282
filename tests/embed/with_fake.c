/* What tests over the fake driver share; see with_fake.h. */
#include "with_fake.h"
#include "tests/testing.h"

#include <dlfcn.h>

static void keep_image(cugen_kernel *k, uint64_t index) {
  char name[] = "kernel", empty[] = "";
  struct compiled image = {
      .image = name, .image_length = 6, .entry_count = 1, .entries = {name}, .log = empty};
  FREED(kernel_spec) spec;
  struct cache *cache;
  FREED(text) key = {0};
  assert_int_equal(lookup_expander(&k->lookup, NULL), CUGEN_OK);
  assert_int_equal(api_cache(k->lookup.lib, &cache, NULL), CUGEN_OK);
  assert_int_equal(lookup_expand(&k->lookup, index, &spec, NULL), 0);
  assert_int_equal(cache_image_key(&spec, k->lookup.arch, text_get(&k->lookup.options),
                                   k->lookup.nvrtc_version, &key, NULL),
                   0);
  FREED(compiled) kept;
  bool found;
  assert_int_equal(cache_image_load(cache, text_get(&key), &kept, &found, NULL), CUGEN_OK);
  if (!found) assert_int_equal(cache_image_store(cache, text_get(&key), &image, NULL), CUGEN_OK);
}

void fake_keep_images(cugen_kernel *k) {
  assert_int_equal(lookup_space(&k->lookup, NULL), CUGEN_OK);
  for (uint64_t i = 0; i < 4 && i < space_valid(k->lookup.space); i++) keep_image(k, i);
  uint64_t index;
  for (size_t i = 0; i < config_tries(k->lookup.config); i++)
    if (space_try(k->lookup.space, i, &index)) keep_image(k, index);
}
