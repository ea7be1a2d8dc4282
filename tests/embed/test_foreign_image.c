/* An application's plan on a database with an image that somebody else made: the kernel is
   compiled anew, and the foreign image is not loaded. */

#include <cugen.h>
#include <sqlite3.h>

#include "base/hash.h"
#include "base/system.h"
#include "tests/opening.h"

static const char owned[] = "CUGEN_TEST_THEIR_CODE_WAS_LOADED";

/* Makes a shared object that leaves a mark in the process that loads it. */
static void make_code(const char *folder, struct text *out) {
  static const char source[] =
      "#include <stdlib.h>\n__attribute__((constructor)) static void run(void) "
      "{ setenv(\"CUGEN_TEST_THEIR_CODE_WAS_LOADED\", \"1\", 1); }\n";
  FREED(text) output = {0};
  int code;
  cugen_error err;
  const char *from = formed("%s/evil.c", folder);
  const char *to = formed("%s/evil.so", folder);
  assert_int_equal(file_put(from, source, sizeof source - 1, NULL), CUGEN_OK);
  const char *const argv[] = {"cc", "-shared", "-fPIC", "-o", to, from, NULL};
  if (process_run(argv, 60, &output, &code, &err) || code) fail_msg("cc: %s", text_get(&output));
  assert_int_equal(file_read(to, out, NULL), CUGEN_OK);
}

/* Returns whether the plan's image came from the cache. */
static int open_plan(const char *path) {
  CLOSED(cugen) *lib;
  CLOSED(cugen_kernel) *kernel;
  lib = OPEN_LIBRARY(.device = "cpu", .cache = path);
  kernel = kernel_of(lib, "tests/configs/hazards.lua", NULL, 0);
  CLOSED(cugen_plan) *plan = plan_of(kernel, NULL);
  int cached = cugen_plan_about(plan)->image_from_cache;
  return cached;
}

/* Stores the code with a right checksum, which older formats relied on, and with any seal. */
static void plant(const char *path, const struct text *code, const char *seal) {
  sqlite3 *db;
  sqlite3_stmt *statement;
  const char *sql = formed("UPDATE image SET data = ?1, checksum = ?2, seal = %s", seal);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
  struct hash checksum = hash_bytes(code->data, code->length);
  sqlite3_bind_blob(statement, 1, code->data, (int)code->length, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, checksum.hex, -1, SQLITE_STATIC);
  assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
  assert_true(sqlite3_changes(db) > 0);
  sqlite3_finalize(statement);
  sqlite3_close(db);
}

TEST(their_code_is_not_loaded) {
  static const char *const seals[] = {"seal", "x''", "zeroblob(32)", "randomblob(32)",
                                      "zeroblob(1000)"};
  FREED(text) folder = {0}, code = {0};
  assert_int_equal(folder_temporary(&folder, NULL), CUGEN_OK);
  const char *path = formed("%s/cugen.db", text_get(&folder));
  make_code(text_get(&folder), &code);
  assert_false(open_plan(path));
  assert_true(open_plan(path));
  for (size_t i = 0; i < sizeof seals / sizeof *seals; i++) {
    plant(path, &code, seals[i]);
    assert_false(open_plan(path));
    assert_null(getenv(owned));
    assert_true(open_plan(path)); /* the new image was stored in its place */
  }
  folder_remove(text_get(&folder));
}
