/* Line tables of a foreign object are read by addr2line. A program of that name in front of the
   system's checks what it is allowed to do. */

#include <sys/stat.h>
#include <unistd.h>

#include "base/jail.h"
#include "base/system.h"
#include "emulator/lines.h"
#include "tests/testing.h"

static struct text folder; /* contains bin/addr2line and a secret */

FIXTURE(setup) {
  FREED(text) path = {0};
  assert_int_equal(folder_temporary(&folder, NULL), CUGEN_OK);
  text_addf(&path, "%s/programs/bin", text_get(&folder));
  assert_int_equal(folder_make(text_get(&path), NULL), CUGEN_OK);
  text_addf(&path, ":%s", getenv("PATH"));
  setenv("PATH", text_get(&path), 1);
  text_clear(&path);
  text_addf(&path, "%s/secret", text_get(&folder));
  assert_int_equal(file_put(text_get(&path), "secret", 6, NULL), CUGEN_OK);
  return 0;
}

FIXTURE(teardown) {
  folder_remove(text_get(&folder));
  text_free(&folder);
  return 0;
}

/* Expects the answer of `script` to one question; an @ in the script is the folder's name. */
static void answer(const char *script, const char *image, struct source_place *out, int *status) {
  const struct line_site site = {.site = 64};
  FREED(text) text = {0};
  cugen_error err;
  text_add(&text, "#!/bin/sh\necho 0x3f\n");
  for (; *script; script++)
    *script == '@' ? text_add(&text, text_get(&folder)) : text_add_char(&text, *script);
  const char *path = formed("%s/programs/bin/addr2line", text_get(&folder));
  assert_int_equal(file_put(path, text_get(&text), text.length, NULL), CUGEN_OK);
  assert_int_equal(chmod(path, 0755), 0);
  *status = lines_find(image, strlen(image), &site, 1, out, &err);
}

TEST(what_it_says_is_taken) {
  struct source_place place;
  int status;
  answer("cat \"$4\"\n", "k.cu:7\n", &place, &status);
  assert_int_equal(status, CUGEN_OK);
  assert_string_equal(place.file, "k.cu");
  assert_int_equal(place.line, 7);
}

TEST(it_opens_nothing_else) {
  static const char script[] = "test \"$(cat @/secret)\" && echo read.cu:1 && exit\n"
                               "echo x >@/made && echo written.cu:1 && exit\necho kept.cu:1\n";
  struct source_place place;
  int status;
  const int jail = jail_make(NULL, 0);
  if (jail < 0) skip();
  close(jail);
  answer(script, "", &place, &status);
  assert_string_equal(place.file, "kept.cu");
}

TEST(its_memory_has_a_limit) {
  struct source_place place;
  int status;
  answer("echo k.cu:$(ulimit -v)\n", "", &place, &status);
  assert_int_equal(place.line, LINES_MEMORY_MB * 1024);
}

TEST(its_end_costs_the_lines) {
  struct source_place place;
  int status;
  answer("echo k.cu:7\nkill -SEGV $$\n", "", &place, &status);
  assert_int_equal(status, CUGEN_OK);
  assert_int_equal(place.line, 0);
}

ALL_TESTS_WITH(setup, teardown);
