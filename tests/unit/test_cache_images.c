/* Images in the cache: which come back, which are dropped, and which user they belong to. */
#include "base/hash.h"
#include "caches.h"
#include "runtime/store/seal.h"
#include "tests/testing.h"

/* ---- Images --------------------------------------------------------------------------------- */

TEST_WITH(images_come_back, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct compiled image = image_of("cubin");
  assert_image(fixture->cache, "key", NULL);
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_image(reopen(fixture), "key", "cubin");
  assert_image(fixture->cache, "other", NULL);
}

TEST_WITH(a_later_image_replaces_the_earlier, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct compiled old = image_of("old"), new = image_of("new");
  assert_int_equal(cache_image_store(fixture->cache, "key", &old, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, "key", &new, NULL), CUGEN_OK);
  assert_image(fixture->cache, "key", "new");
  assert_sql(fixture, "SELECT count(*) FROM image_entry", "2");
}

TEST(images_are_replaced_in_memory_too) {
  CLOSED(cache) *cache;
  struct compiled old = image_of("old"), new = image_of("new");
  assert_int_equal(cache_open("none", &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(cache, "key", &old, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(cache, "key", &new, NULL), CUGEN_OK);
  assert_image(cache, "key", "new");
}

/* An image is loaded onto a device, so damage that SQLite cannot see must be found before. */
TEST_WITH(a_damaged_image_is_compiled_again, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct compiled image = image_of("cubin");
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_sql(fixture, "UPDATE image SET data = x'0102'", "");
  assert_image(fixture->cache, "key", NULL);
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_image(fixture->cache, "key", "cubin");
}

static bool has_image(struct cache *cache, const char *name) {
  FREED(compiled) got;
  bool found;
  assert_int_equal(cache_image_load(cache, name, &got, &found, NULL), CUGEN_OK);
  return found;
}

/* The newest images stay, and those of the fastest records, however old. In memory there is room
   for 32 MiB. */
TEST(the_oldest_images_go) {
  static const struct cache_key place = {"H200", "a", "", "arch sm_90a", NULL, NULL, 0};
  struct cache_record fast = record_of("fast", 1), slow = record_of("slow", 2);
  struct compiled image = image_of("cubin");
  struct text names[5] = {{0}};
  struct cache *cache;
  image.image_length = (size_t)17 << 20;
  image.image = calloc(1, image.image_length);
  assert_int_equal(cache_open("none", &cache, NULL, NULL), CUGEN_OK);
  for (int i = 0; i < 5; i++) {
    struct kernel_spec spec = {.source_hash = hash_bytes(&"fsabc"[i], 1)};
    if (i == 0) fast.source_hash = spec.source_hash, store(cache, &place, fast);
    if (i == 1) slow.source_hash = spec.source_hash, store(cache, &place, slow);
    assert_int_equal(cache_image_key(&spec, "sm_90a", "arch sm_90a", 13000, &names[i], NULL),
                     CUGEN_OK);
    assert_int_equal(cache_image_store(cache, text_get(&names[i]), &image, NULL), CUGEN_OK);
  }
  const bool stays[] = {true, false, false, false, true};
  for (int i = 0; i < 5; i++) {
    assert_int_equal(has_image(cache, text_get(&names[i])), stays[i]);
    text_free(&names[i]);
  }
  cache_close(cache);
  free(image.image);
}

/* Another source, architecture or compiler gives another image; so do other kernels, and a
   kernel that is launched in another way. */
TEST(a_key_names_what_made_the_image) {
  static const struct {
    const char *source, *arch;
    int nvrtc;
    const char *entry;
    bool cooperative;
  } cases[] = {{"a", "sm_90a", 13000, "f", false}, {"b", "sm_90a", 13000, "f", false},
               {"a", "sm_90", 13000, "f", false},  {"a", "sm_90a", 13010, "f", false},
               {"a", "sm_90a", 13000, "g", false}, {"a", "sm_90a", 13000, "f", true}};
  enum { CASES = sizeof cases / sizeof *cases };
  struct text keys[CASES] = {{0}};
  for (int i = 0; i < CASES; i++) {
    struct kernel_launch launch = {.entry = cases[i].entry, .cooperative = cases[i].cooperative};
    const struct kernel_spec spec = {
        .source_hash = hash_bytes(cases[i].source, 1), .launches = &launch, .launch_count = 1};
    assert_int_equal(
        cache_image_key(&spec, cases[i].arch, "arch x", cases[i].nvrtc, &keys[i], NULL), CUGEN_OK);
    for (int k = 0; k < i; k++) assert_string_not_equal(text_get(&keys[k]), text_get(&keys[i]));
  }
  for (int i = 0; i < CASES; i++) text_free(&keys[i]);
}

/* The limit on all images also holds if each image is far below it. */
TEST(small_images_go_too) {
  enum { IMAGES = 24 };
  struct compiled image = image_of("cubin");
  struct cache *cache;
  size_t left = 0;
  image.image_length = (size_t)4 << 20;
  image.image = calloc(1, image.image_length);
  assert_non_null(image.image);
  assert_int_equal(cache_open("none", &cache, NULL, NULL), CUGEN_OK);
  for (int i = 0; i < IMAGES; i++) {
    char name[8] = {(char)('a' + i)};
    assert_int_equal(cache_image_store(cache, name, &image, NULL), CUGEN_OK);
    assert_true(has_image(cache, name));
  }
  for (int i = 0; i < IMAGES; i++) left += has_image(cache, (char[2]){(char)('a' + i)});
  /* 16 MiB are added without a check */
  assert_true(left * image.image_length <= (size_t)(32 + 16) << 20);
  cache_close(cache);
  free(image.image);
}

/* An image stays as long as a record needs its source, or may need it. */
TEST_WITH(unwanted_images_go, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  static const struct cache_key keys[] = {{"H200", "a", "", "arch sm_90a", NULL, NULL, 0},
                                          {"H200", "old", "", "arch sm_90a", NULL, NULL, 0}};
  struct cache_record record = record_of("v", 1);
  struct compiled image = image_of("cubin");
  struct kernel_spec spec = {.source_hash = hash_bytes("a", 1)};
  FREED(text) wanted = {0}, unwanted = {0};
  cugen_cache_counts removed;
  record.source_hash = spec.source_hash;
  store(fixture->cache, &keys[0], record);
  assert_int_equal(cache_image_key(&spec, "sm_90a", "arch sm_90a", 13000, &wanted, NULL), CUGEN_OK);
  spec.source_hash = hash_bytes("b", 1);
  assert_int_equal(cache_image_key(&spec, "sm_90a", "arch sm_90a", 13000, &unwanted, NULL),
                   CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, text_get(&wanted), &image, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, text_get(&unwanted), &image, NULL), CUGEN_OK);
  store(fixture->cache, &keys[1], record_of("of unknown source", 1));
  const struct cache_filter nothing = {.config = "nothing"}, old = {.config = "old"}, all = {0};
  assert_int_equal(cache_remove(fixture->cache, &nothing, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.images, 0); /* the image may belong to a record of unknown source */
  assert_int_equal(cache_remove(fixture->cache, &old, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.images, 1);
  assert_int_equal(removed.image_bytes, 6);
  assert_image(fixture->cache, text_get(&wanted), "cubin");
  assert_image(fixture->cache, text_get(&unwanted), NULL);
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.images, 1);
  assert_sql(fixture, "SELECT (SELECT count(*) FROM image) + (SELECT count(*) FROM image_entry)",
             "0");
}

/* ---- Whose images --------------------------------------------------------------------------- */

static struct compiled large_image(size_t length) {
  struct compiled image = image_of("cubin");
  image.image = calloc(1, length);
  image.image_length = length;
  assert_non_null(image.image);
  return image;
}

TEST_WITH(an_image_over_64_mb_is_not_kept, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct compiled image = large_image(CACHE_MAX_IMAGE + 1);
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_sql(fixture, "SELECT count(*) FROM image", "0");
  image.image_length--;
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_sql(fixture, "SELECT length(data) FROM image", "67108864");
  free(image.image);
  struct compiled got;
  bool found;
  assert_int_equal(cache_image_load(fixture->cache, "key", &got, &found, NULL), CUGEN_OK);
  assert_true(found && got.image_length == CACHE_MAX_IMAGE);
  compiled_free(&got);
  assert_sql(fixture, "UPDATE image SET data = zeroblob(160000000)", "");
  assert_image(fixture->cache, "key", NULL);
  assert_verified(fixture, "is not what was stored");
}

/* Every value that an image relies on is changed by somebody who does not have the key. */
TEST_WITH(all_of_an_image_is_sealed, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  static const char *const changes[] = {
      "UPDATE image SET data = x'00'",
      "UPDATE image SET data = x''",
      "UPDATE image SET hash = 'beefbeefbeefbeefbeefbeefbeefbeef'",
      "UPDATE image SET log = 'other'",
      "UPDATE image SET seal = x''",
      "UPDATE image SET seal = zeroblob(32)",
      "UPDATE image_entry SET name = 'system' WHERE position = 0",
      "UPDATE image_entry SET position = 2 - position",
      "UPDATE image_entry SET registers = -1",
      "UPDATE image_entry SET max_threads = 1",
      "UPDATE image_entry SET static_shared = -9223372036854775808",
      "UPDATE image_entry SET local_bytes = 1",
      "UPDATE image_entry SET spill_bytes = 1",
      "UPDATE image_entry SET constant_bytes = 1",
      "DELETE FROM image_entry WHERE position = 1",
      "INSERT INTO image_entry SELECT key, 2, 'third', 1, 2, 3, 4, 5, 6 FROM image",
  };
  struct compiled image = image_of("cubin");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
    assert_image(fixture->cache, "key", "cubin");
    assert_sql(fixture, changes[i], "");
    assert_image(fixture->cache, "key", NULL);
  }
}

/* The seal of one kernel's image is not valid for another's. */
TEST_WITH(a_seal_is_of_one_image, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct compiled image = image_of("cubin");
  assert_int_equal(cache_image_store(fixture->cache, "a", &image, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, "b", &image, NULL), CUGEN_OK);
  assert_sql(
      fixture,
      "UPDATE image SET seal = (SELECT seal FROM image WHERE key LIKE 'b %') WHERE key LIKE 'a %'",
      "");
  assert_image(fixture->cache, "a", NULL);
  assert_image(fixture->cache, "b", "cubin");
  assert_sql(fixture, "UPDATE image SET key = 'c' || substr(key, 2) WHERE key LIKE 'b %'", "");
  assert_sql(fixture, "UPDATE image_entry SET key = 'c' || substr(key, 2) WHERE key LIKE 'b %'",
             "");
  assert_image(fixture->cache, "c", NULL);
  assert_sql(fixture, "DELETE FROM image WHERE key LIKE 'a %'", "");
  /* the image has entries */
  assert_int_equal(cache_image_store(fixture->cache, "a", &image, NULL), CUGEN_OK);
  assert_image(fixture->cache, "a", "cubin");
}

/* The seal covers the lengths of facts and data, so that a byte cannot move from one to the
   other. */
TEST(a_byte_stays_in_its_part) {
  static const char bytes[] = "facts and data";
  unsigned char mac[SEAL_BYTES];
  struct seal seal;
  FREED(text) facts = {0};
  seal_fresh(&seal);
  text_addf(&facts, "%.5s", bytes);
  seal_make(&seal, &facts, bytes + 5, sizeof bytes - 5, mac);
  assert_true(seal_holds(&seal, &facts, bytes + 5, sizeof bytes - 5, mac));
  for (int length = 0; length < 10; length++) {
    text_restart(&facts);
    text_addf(&facts, "%.*s", length, bytes);
    assert_int_equal(seal_holds(&seal, &facts, bytes + length, sizeof bytes - (size_t)length, mac),
                     length == 5);
  }
}

/* Two users share a database; each has images of its own. */
TEST_WITH(users_keep_their_images_apart, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct compiled mine = image_of("mine"), other = image_of("other");
  cugen_cache_counts checked;
  struct text wrong = {0}, foreign = {0};
  char *before = getenv("XDG_STATE_HOME") ? strdup(getenv("XDG_STATE_HOME")) : NULL;
  assert_int_equal(cache_image_store(fixture->cache, "key", &mine, NULL), CUGEN_OK);
  assert_int_equal(setenv("XDG_STATE_HOME", formed("%s/state", text_get(&fixture->folder)), 1), 0);
  assert_image(reopen(fixture), "key", NULL);
  assert_int_equal(cache_image_store(fixture->cache, "key", &other, NULL), CUGEN_OK);
  assert_image(reopen(fixture), "key", "other");
  assert_int_equal(cache_verify(fixture->cache, &checked, &wrong, &foreign, NULL), CUGEN_OK);
  assert_string_equal(text_get(&wrong), "");
  assert_non_null(strstr(text_get(&foreign), "image 'key sealed by "));
  text_free(&foreign);
  assert_int_equal(checked.images, 2);
  assert_int_equal(checked.foreign_images, 1);
  before ? setenv("XDG_STATE_HOME", before, 1) : unsetenv("XDG_STATE_HOME");
  assert_image(reopen(fixture), "key", "mine");
  free(before);
}
