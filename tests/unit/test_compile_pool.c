/* The pool of compiles with a compiler made for this test: compiles that are not begun when time
   is short, that are stopped, and that are made once. */

#include <stdatomic.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "runtime/compile/kept.h"
#include "tests/testing.h"
#include "tune/compile_pool.h"

static atomic_int begun, may_end;
static size_t image_bytes;             /* bytes of all images */
static _Atomic enum compile_more more; /* `more` of the last request */

/* A compile that takes a twentieth of a second, or until it is told to end. */
static int compile(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  *out = (struct compiled){0};
  atomic_fetch_add(&begun, 1);
  more = request->more;
  for (int i = 0; i < 50 || !atomic_load(&may_end); i++) {
    if (request->stop.asked && request->stop.asked(request->stop.context))
      return error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped");
    usleep(1000);
  }
  out->image = calloc(1, image_bytes + 1);
  out->image_length = image_bytes;
  return CUGEN_OK;
}

static const struct device_ops ops = {.compile = compile};

static struct compile_pool *open_pool_for(size_t variants, double seconds, int threads) {
  struct compile_pool_options options = {
      .ops = &ops, .arch = "", .threads = threads, .variants = variants};
  struct compile_pool *pool;
  if (seconds > 0) options.until = clock_seconds() + seconds;
  atomic_store(&begun, 0);
  atomic_store(&may_end, 1);
  assert_int_equal(compile_pool_open(&options, &pool, NULL), CUGEN_OK);
  return pool;
}

static struct compile_pool *open_pool(double seconds, int threads) {
  return open_pool_for(0, seconds, threads);
}

static struct compile_job *request(struct compile_pool *pool, char *name) {
  struct kernel_launch launch = {.entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};
  const struct kernel_spec spec = {.variant = name,
                                   .source = name,
                                   .source_hash = hash_bytes(name, 1),
                                   .launches = &launch,
                                   .launch_count = 1};
  struct compile_job *build;
  assert_int_equal(compile_pool_request(pool, &spec, &build, NULL), CUGEN_OK);
  return build;
}

TEST(what_would_end_too_late_is_not_begun) {
  struct compile_pool *pool = open_pool(3600, 1);
  struct compile_job *a = request(pool, (char[]){"a"});
  compile_pool_finish(pool, a);
  assert_true(a->seconds >= 0.05);
  assert_false(compile_pool_over(pool));
  compile_job_release(pool, a);
  compile_pool_close(pool);

  /* the first compile begins before the deadline, however long it takes */
  pool = open_pool(0.04, 1);
  a = request(pool, (char[]){"a"});
  compile_pool_finish(pool, a); /* somebody needs this one, so it is finished in any case */
  struct compile_job *b = request(pool, (char[]){"b"});
  compile_pool_wait(pool, 0.1);
  assert_false(b->taken);
  assert_true(compile_pool_over(pool));
  assert_int_equal(begun, 1);
  compile_pool_finish(pool, b);
  assert_true(compile_job_finished(pool, b));
  assert_int_equal(compile_pool_count(pool), 2);
  compile_job_release(pool, a);
  compile_job_release(pool, b);
  compile_pool_close(pool);
}

TEST(without_a_limit_nothing_is_over) {
  struct compile_pool *pool = open_pool(0, 2);
  struct compile_job *a = request(pool, (char[]){"a"}), *b = request(pool, (char[]){"b"});
  compile_pool_finish(pool, a);
  compile_pool_finish(pool, b);
  assert_false(compile_pool_over(pool));
  assert_int_equal(compile_pool_count(pool), 2);
  compile_job_release(pool, a);
  compile_job_release(pool, b);
  compile_pool_close(pool);
}

TEST(a_compile_under_way_is_told_to_stop) {
  struct compile_pool *pool = open_pool(0, 1);
  atomic_store(&may_end, 0); /* it never ends by itself */
  struct compile_job *a = request(pool, (char[]){"a"}), *b = request(pool, (char[]){"b"});
  while (!atomic_load(&begun)) usleep(1000);
  compile_pool_stop(pool);
  assert_true(compile_job_finished(pool, a));
  assert_int_equal(a->status, CUGEN_ERROR_INTERRUPTED);
  assert_false(b->taken);
  assert_true(compile_pool_over(pool));
  assert_int_equal(compile_pool_count(pool), 0);
  compile_job_release(pool, a);
  compile_job_release(pool, b);
  compile_pool_close(pool);
}

/* Compiles sources a, b, c, ... and gives each back. */
static void compile_all(struct compile_pool *pool, int count) {
  struct compile_job *jobs[26];
  for (int i = 0; i < count; i++) jobs[i] = request(pool, (char[]){(char)('a' + i), 0});
  for (int i = 0; i < count; i++) compile_pool_finish(pool, jobs[i]);
  for (int i = 0; i < count; i++) compile_job_release(pool, jobs[i]);
}

TEST(what_was_compiled_is_found_until_it_fills_memory) {
  struct compile_pool *pool = open_pool(0, 26);
  image_bytes = (size_t)4 << 20;
  for (int i = 0; i < 3; i++) compile_all(pool, 26);
  assert_int_equal(compile_pool_count(pool), 26);
  compile_pool_close(pool);

  pool = open_pool(0, 10);
  image_bytes = (size_t)40 << 20;
  compile_all(pool, 10);
  struct compile_job *last = request(pool, (char[]){"j"}), *first = request(pool, (char[]){"a"});
  compile_pool_finish(pool, first);
  compile_pool_finish(pool, last);
  assert_int_equal(compile_pool_count(pool), 11);
  compile_job_release(pool, first);
  compile_job_release(pool, last);
  compile_pool_close(pool);
  image_bytes = 0;
}

/* Returns the hint that the second compile of one thread gets. */
static enum compile_more second_of(size_t variants, double seconds) {
  struct compile_pool *pool = open_pool_for(variants, seconds, 1);
  for (int i = 0; i < 2; i++) {
    struct compile_job *job = request(pool, i ? (char[]){"b"} : (char[]){"a"});
    compile_pool_finish(pool, job);
    if (i == 0) assert_int_equal(more, COMPILE_UNKNOWN);
    compile_job_release(pool, job);
  }
  compile_pool_close(pool);
  return more;
}

TEST(a_compile_knows_whether_many_follow) {
  assert_int_equal(second_of(0, 0), COMPILE_UNKNOWN);
  assert_int_equal(second_of(5, 0), COMPILE_FEW);
  assert_int_equal(second_of(6, 0), COMPILE_MANY);
  assert_int_equal(second_of(1000, 3600), COMPILE_MANY);
  assert_int_equal(second_of(1000, 0.2), COMPILE_FEW); /* five compiles of 0.05 s do not fit */
}

/* ---- What is kept of compiles --------------------------------------------------------------- */

static struct compiled fake_compiled(size_t bytes) {
  return (struct compiled){
      .image = calloc(1, bytes), .image_length = bytes, .log = strdup(""), .ptx = strdup("ptx")};
}

/* Keeps copies until they have too many bytes; then the oldest is dropped. */
TEST(what_is_kept_for_predictions_is_found_until_it_is_too_much) {
  const size_t much = (size_t)70 << 20; /* of the 128 MiB that are kept */
  struct compiled small = fake_compiled(3), large = fake_compiled(much), found;
  const struct hash one = hash_bytes("small", 5), other = hash_bytes("other", 5),
                    two = hash_bytes("large", 5), three = hash_bytes("larger", 6);
  struct kept_images *store = kept_images_new((size_t)128 << 20);
  assert_non_null(store);
  memcpy(small.image, "abc", 3);
  kept_images_keep(store, &one, &small);
  memcpy(small.image, "xyz", 3);
  kept_images_keep(store, &one, &small); /* the store has a copy of it already */
  assert_true(kept_images_find(store, &one, &found));
  assert_memory_equal(found.image, "abc", 3);
  assert_string_equal(found.ptx, "ptx");
  compiled_free(&found);
  assert_false(kept_images_find(store, &other, &found));
  kept_images_keep(store, &two, &large);
  kept_images_keep(store, &three, &large);
  assert_false(kept_images_find(store, &one, &found));
  assert_false(kept_images_find(store, &two, &found));
  assert_true(kept_images_find(store, &three, &found));
  compiled_free(&found);
  compiled_free(&small);
  compiled_free(&large);
  kept_images_free(store);
}
