/* A process compiles code for the cpu device once: equal code with another head is found again,
   other code is not. */

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "emulator/compile.h"
#include "runtime/compile/kept.h"
#include "runtime/compile/toolkit.h"
#include "tests/testing.h"

/* ---- With the compiler ---------------------------------------------------------------------- */

/* A watched image names the folder in which it was compiled, so two compiles give different
   images. */
static struct hash image_of(const struct toolkit *toolkit, const char *source, bool at_source) {
  const char *entry = "one";
  const struct compile_request request = {.toolkit = toolkit,
                                          .name = "one",
                                          .source = source,
                                          .entries = &entry,
                                          .entry_count = 1,
                                          .watched = true,
                                          .at_source = at_source};
  FREED(compiled) compiled;
  WORKS(cpu_compile(&request, &compiled, &err));
  assert_string_equal(compiled.entries[0], "cugen_entry_0");
  assert_string_equal(compiled.log, "");
  const struct hash hash = hash_bytes(compiled.image, compiled.image_length);
  assert_string_equal(hash.hex, compiled.image_hash.hex);
  return hash;
}

#define ONE "__global__ void one(float *x) { x[threadIdx.x] = 1; }\n"

TEST(equal_code_is_compiled_once) {
  CLOSED(toolkit) *toolkit, *other;
  WORKS(toolkit_open(&(struct toolkit_options){0}, &toolkit, &err));
  const struct hash first = image_of(toolkit, "// one\n// n=1\n" ONE, true);
  assert_string_equal(image_of(toolkit, "// one\n// n=2\n" ONE, true).hex, first.hex);
  assert_string_not_equal(image_of(toolkit, "// one\n// n=1\n" ONE, false).hex, first.hex);
  /* the lines have other numbers */
  assert_string_not_equal(image_of(toolkit, "// one\n" ONE, true).hex, first.hex);
  assert_string_not_equal(image_of(toolkit, "// one\n// \\\n" ONE ONE, true).hex,
                          first.hex); /* a comment that continues on the next line */
  assert_string_not_equal(image_of(toolkit, "// one\n// n=1\n__device__ int more;\n" ONE, true).hex,
                          first.hex);
  WORKS(toolkit_open(&(struct toolkit_options){0}, &other, &err));
  assert_string_not_equal(image_of(other, "// one\n// n=1\n" ONE, true).hex, first.hex);
}

/* A limit of files stands for a disk that is full. */
TEST(a_folder_without_room_has_a_way_out) {
  const char *entry = "one";
  struct rlimit before, small;
  CLOSED(toolkit) *toolkit;
  WORKS(toolkit_open(&(struct toolkit_options){0}, &toolkit, &err));
  const struct compile_request request = {
      .toolkit = toolkit, .name = "one", .source = ONE, .entries = &entry, .entry_count = 1};
  FREED(compiled) compiled;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  small = (struct rlimit){4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  cugen_error error = {0};
  const int status = cpu_compile(&request, &compiled, &error);
  setrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(status, CUGEN_ERROR_IO);
  assert_non_null(strstr(error.message, "kernel.cpp"));
  assert_non_null(strstr(error.message, "TMPDIR"));
}

/* ---- Between threads ------------------------------------------------------------------------ */

static const struct process_stop never = {NULL, NULL};

struct waiter {
  struct kept_images *kept;
  struct hash key;
  bool found;
  size_t length;
};

static void *wait_for(void *context) {
  struct waiter *w = context;
  FREED(compiled) got = {0};
  w->found = kept_images_get(w->kept, &w->key, &never, &got);
  w->length = got.image_length;
  if (!w->found) kept_images_put(w->kept, &w->key, NULL);
  return NULL;
}

/* Returns what another thread gets that waits while this one compiles and then puts `put`. */
static struct waiter beside(const struct compiled *put) {
  struct waiter w = {.kept = kept_images_new((size_t)16 << 20), .key = hash_bytes("a", 1)};
  struct compiled got;
  pthread_t thread;
  assert_non_null(w.kept);
  assert_false(kept_images_get(w.kept, &w.key, &never, &got));
  assert_int_equal(pthread_create(&thread, NULL, wait_for, &w), 0);
  usleep(100000);
  kept_images_put(w.kept, &w.key, put);
  pthread_join(thread, NULL);
  kept_images_free(w.kept);
  return w;
}

TEST(who_comes_second_waits) {
  struct compiled image = {.image = (char[]){"image"}, .image_length = 5};
  const struct waiter got = beside(&image), none = beside(NULL);
  assert_true(got.found);
  assert_int_equal(got.length, 5);
  assert_false(none.found);
}

static bool at_once(void *context) {
  return true;
}

static void *give_up(void *context) {
  struct waiter *w = context;
  struct compiled got;
  w->found = kept_images_get(w->kept, &w->key, &(struct process_stop){at_once, NULL}, &got);
  kept_images_put(w->kept, &w->key, NULL); /* as the thread does that was told to compile */
  return NULL;
}

/* A thread that is stopped while it waits does not disturb the thread that compiles. */
TEST(who_is_stopped_leaves_it) {
  struct waiter w = {
      .kept = kept_images_new((size_t)16 << 20), .key = hash_bytes("a", 1), .found = true};
  struct compiled got, image = {.image = (char[]){"image"}, .image_length = 5};
  pthread_t thread;
  assert_non_null(w.kept);
  assert_false(kept_images_get(w.kept, &w.key, &never, &got));
  assert_int_equal(pthread_create(&thread, NULL, give_up, &w), 0);
  pthread_join(thread, NULL);
  assert_false(w.found);
  kept_images_put(w.kept, &w.key, &image);
  assert_true(kept_images_get(w.kept, &w.key, &never, &got));
  compiled_free(&got);
  kept_images_free(w.kept);
}

/* The oldest images are dropped when all together have too many bytes. */
TEST(old_ones_go) {
  static char large[6 << 20];
  struct kept_images *kept = kept_images_new((size_t)16 << 20);
  struct compiled got, image = {.image = large, .image_length = sizeof large};
  const struct hash keys[] = {hash_bytes("a", 1), hash_bytes("b", 1), hash_bytes("c", 1)};
  assert_non_null(kept);
  for (size_t i = 0; i < 3; i++) {
    assert_false(kept_images_get(kept, &keys[i], &never, &got));
    kept_images_put(kept, &keys[i], &image);
  }
  assert_true(kept_images_get(kept, &keys[2], &never, &got));
  compiled_free(&got);
  assert_false(kept_images_get(kept, &keys[0], &never, &got));
  kept_images_put(kept, &keys[0], NULL);
  kept_images_free(kept);
}
