/* Tests of base: errors, text buffers, values and dtypes, device facts, hashes; files, folders
   and processes. */

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/capability.h"
#include "base/cause.h"
#include "base/error.h"
#include "base/facts.h"
#include "base/includes.h"
#include "base/kernel.h"
#include "base/system.h"
#include "tests/testing.h"

/* ---- error ---------------------------------------------------------------------------------- */

TEST(error_messages_compose) {
  cugen_error err = {0};
  assert_int_equal(error_set(&err, CUGEN_ERROR_CONFIG, "line %d", 3), CUGEN_ERROR_CONFIG);
  assert_int_equal(error_prefix(&err, "%s", "a.lua"), CUGEN_ERROR_CONFIG);
  assert_int_equal(error_append(&err, "; %s", "see help"), CUGEN_ERROR_CONFIG);
  assert_string_equal(err.message, "a.lua: line 3; see help");
}

TEST(error_places_are_the_innermost) {
  cugen_error err = {0};
  assert_int_equal(error_set_at(&err, CUGEN_ERROR_CONFIG, "b.lua", 3, "no %s", "output"),
                   CUGEN_ERROR_CONFIG);
  assert_int_equal(error_prefix_at(&err, "a.lua", 7, "include %d", 1), CUGEN_ERROR_CONFIG);
  error_prefix_at(&err, "t.cu", 9, NULL);
  assert_string_equal(err.message, "t.cu:9: a.lua:7: include 1: b.lua:3: no output");
  assert_string_equal(err.file, "b.lua");
  assert_int_equal(err.line, 3);
  error_set(&err, CUGEN_ERROR_CONFIG, "another");
  assert_string_equal(err.file, "");
  assert_int_equal(err.line, 0);
  error_prefix_at(&err, "a.lua", 7, "include");
  assert_string_equal(err.message, "a.lua:7: include: another");
  assert_string_equal(err.file, "a.lua");
  assert_int_equal(err.line, 7);
  assert_string_equal(error_without_place(&err), "include: another");
  error_prefix(&err, "scan");
  assert_string_equal(error_without_place(&err), "scan: a.lua:7: include: another");
  assert_int_equal(error_set_at(NULL, CUGEN_ERROR_IO, "a.lua", 7, "lost"), CUGEN_ERROR_IO);
  assert_true(error_prefix_at(NULL, "a.lua", 7, "x") < 0);
  error_place(NULL, "a.lua", 7);
}

/* A heading does not stand for what it announces. */
TEST(the_essence_of_a_message) {
  static const struct {
    const char *message, *essence;
  } cases[] = {
      {"a.lua:3: no such size", "a.lua:3: no such size"},
      {"two things:", "two things:"},
      {"no room\nerror: of no matter", "no room"},
      {"NVRTC refused the source:\nk.cu:3: error: x", "k.cu:3: error: x"},
      {"refused:\nk.cu: In function 'k':\nk.cu:9:   required from here\nk.cu:3: error: y\n",
       "k.cu:3: error: y"},
      {"refused:\nin 'k':\nsyntax\nmore", "syntax"},
      {"refused:\nk.cu:1: warning: the mirror: is off\nk.cu:2: error: z", "k.cu:2: error: z"},
      {"refused:\n\nk.cu(5): catastrophe", "k.cu(5): catastrophe"},
      {"refused:\nptxas info    : 1\nptxas error   : 2", "ptxas error   : 2"},
      {"refused:\n", "refused:"},
      {"", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int length;
    const char *line = error_essence(cases[i].message, &length);
    assert_int_equal(length, strlen(cases[i].essence));
    assert_memory_equal(line, cases[i].essence, (size_t)length);
  }
}

/* A name that was cut would be the name of another file. */
TEST(error_places_are_whole) {
  cugen_error err = {0};
  char name[sizeof err.file + 1];
  memset(name, 'a', sizeof name);
  name[sizeof name - 1] = '\0';
  error_set_at(&err, CUGEN_ERROR_CONFIG, name, 3, "no");
  assert_string_equal(err.file, "");
  assert_int_equal(err.line, 0);
  error_place(&err, name + 1, 3);
  assert_string_equal(err.file, name + 1);
  assert_int_equal(err.line, 3);
}

TEST(error_causes_stay) {
  cugen_error err = {0}, copy = {0};
  assert_int_equal(error_set_cause(&err, CUGEN_ERROR_DEVICE, CUGEN_CAUSE_DEVICE_LOST, "gone"),
                   CUGEN_ERROR_DEVICE);
  error_prefix(&err, "cuda:0");
  assert_int_equal(error_copy(&copy, &err), CUGEN_ERROR_DEVICE);
  assert_int_equal(copy.cause, CUGEN_CAUSE_DEVICE_LOST);
  assert_string_equal(copy.message, "cuda:0: gone");
  error_set(&err, CUGEN_ERROR_DEVICE, "another");
  assert_int_equal(err.cause, CUGEN_CAUSE_NONE);
  assert_int_equal(cause_outcome(CUGEN_CAUSE_RESOURCES), CUGEN_OUTCOME_LAUNCH);
  /* a worker may have written any number */
  assert_int_equal(cause_outcome((cugen_cause)99), CUGEN_OUTCOME_TRAP);
  assert_string_equal(cause_prefix((cugen_cause)99), "");
}

TEST(error_accepts_null) {
  assert_int_equal(error_copy(NULL, &(cugen_error){.status = CUGEN_ERROR_IO}), CUGEN_ERROR_IO);
  assert_int_equal(error_set(NULL, CUGEN_ERROR_IO, "lost"), CUGEN_ERROR_IO);
  assert_int_equal(error_memory(NULL), CUGEN_ERROR_MEMORY);
  assert_true(error_prefix(NULL, "x") < 0);
  assert_true(error_append(NULL, "x") < 0);
}

TEST(error_cuts_what_is_too_long) {
  cugen_error err = {0};
  FREED(text) text = {0};
  for (int i = 0; i < 5000; i++) text_add_char(&text, 'x');
  error_set(&err, CUGEN_ERROR_IO, "%s", text_get(&text));
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  error_prefix(&err, "front");
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  assert_memory_equal(err.message, "front: xx", 9);
  error_append(&err, "more");
  assert_int_equal(err.message[sizeof err.message - 2], 'x');
}

/* ---- text ----------------------------------------------------------------------------------- */

TEST(text_grows) {
  struct text text = {0};
  assert_string_equal(text_get(&text), "");
  for (int i = 0; i < 1000; i++) text_addf(&text, "%d,", i);
  assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
  assert_int_equal(strlen(text_get(&text)), text.length);
  text_clear(&text);
  assert_string_equal(text_get(&text), "");
  text_add_n(&text, "a\0b", 3);
  assert_int_equal(text.length, 3);
  assert_memory_equal(text.data, "a\0b", 4);
  text_clear(&text);
  text_add_count(&text, 999);
  text_add_count(&text, 1000);
  text_add_count(&text, UINT64_MAX);
  assert_string_equal(text_get(&text), "9991,00018,446,744,073,709,551,615");
  text_free(&text);
  assert_null(text.data);
}

TEST(text_take_hands_over) {
  struct text text = {0};
  char *empty = text_take(&text);
  assert_string_equal(empty, "");
  free(empty);
  text_add(&text, "mine");
  char *mine = text_take(&text);
  assert_string_equal(mine, "mine");
  assert_int_equal(text.length, 0);
  free(mine);
}

TEST(text_failure_sticks) {
  struct text text = {0};
  text_add(&text, "before");
  text_add_n(&text, "x", SIZE_MAX / 2); /* more memory than there is */
  assert_true(text.failed);
  text_add(&text, "after");
  assert_string_equal(text_get(&text), "before");
  text_clear(&text);
  assert_true(text.failed);
  assert_null(text_take(&text));
}

TEST(an_architecture_has_two_or_three_digits) {
  static const char *const wrong[] = {"",        "sm_",    "sm_9",       "sm_09",   "sm_9a",
                                      "sm_1000", "sm_90b", "sm_90aa",    "sm_90a ", "sm_ 90",
                                      "SM_90",   "90",     "compute_90", "sm_-90"};
  struct arch arch;
  assert_true(arch_parse("sm_90a", &arch) && arch.capability == 90 && arch.suffix == 'a');
  assert_true(arch_parse("sm_75", &arch) && arch.capability == 75 && arch.suffix == 0);
  assert_true(arch_parse("sm_120f", &arch) && arch.capability == 120 && arch.suffix == 'f');
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (arch_parse(wrong[i], &arch)) fail_msg("%s", wrong[i]);
}

TEST(text_nearest_suggests_only_what_is_near) {
  static const char *const names[] = {"tile", "pad", "rows_per_thread"};
  assert_string_equal(text_nearest("tiel", names, 3), "tile");
  assert_string_equal(text_nearest("row_per_thread", names, 3), "rows_per_thread");
  assert_string_equal(text_nearest("pad", names, 3), "pad");
  assert_null(text_nearest("swizzle", names, 3));
  assert_null(text_nearest("time_", names, 3)); /* two of its five letters differ */
  assert_null(text_nearest("", names, 3));
  static const char *const sizes[] = {"M", "N", "dtype"};
  assert_string_equal(text_nearest("m", sizes, 3), "M");
  assert_string_equal(text_nearest("MM", sizes, 3), "M");
  assert_string_equal(text_nearest("DTPYE", sizes, 3), "dtype");
  assert_null(text_nearest("x", sizes, 3)); /* a name of one letter is not near to every other */
  assert_null(text_nearest("xy", sizes, 3));
  static const char *const near[] = {"ab1", "ab2"};
  assert_string_equal(text_nearest("ab2", near, 2), "ab2");
  assert_string_equal(text_nearest("ab", near, 2), "ab1");
  char endless[300];
  memset(endless, 'M', sizeof endless);
  endless[sizeof endless - 1] = '\0';
  assert_null(text_nearest(endless, sizes, 3));
  assert_null(text_nearest("tile", names, 0));
}

/* ---- value ---------------------------------------------------------------------------------- */

static void assert_prints(struct value value, const char *want) {
  FREED(text) text = {0};
  value_print(value, &text);
  assert_string_equal(text_get(&text), want);
}

TEST(values_print_as_written) {
  assert_prints(value_int(INT64_MIN), "-9223372036854775808");
  assert_prints(value_bool(true), "true");
  assert_prints(value_string("none"), "none");
  assert_prints(value_float(0.5), "0.5");
  assert_prints(value_float(0.1), "0.1");
  assert_prints(value_float(2), "2.0");
  assert_prints(value_float(1e300), "1e+300");
  assert_prints(value_float(1.0 / 3), "0.3333333333333333");
  assert_prints((struct value){.type = VALUE_NIL}, "nil");
}

TEST(values_print_alike_in_any_locale) {
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE.utf8")) {
    print_message("skipped: no locale with a decimal comma is installed\n");
    skip();
  }
  assert_prints(value_float(0.5), "0.5");
  setlocale(LC_NUMERIC, "C");
}

TEST(values_compare_as_in_lua) {
  assert_true(value_equal(value_int(1), value_float(1.0)));
  assert_true(value_equal(value_float(-0x1p63), value_int(INT64_MIN)));
  assert_false(value_equal(value_int(1), value_string("1")));
  assert_false(value_equal(value_int(1), value_bool(true)));
  assert_true(value_equal(value_string("xor"), value_string("xor")));
  int64_t big = ((int64_t)1 << 53) + 1; /* no double equals this number */
  assert_false(value_equal(value_int(big), value_float((double)big)));
  assert_false(value_equal(value_int(INT64_MAX), value_float(0x1p63)));
  assert_false(value_equal(value_float(NAN), value_float(NAN)));
  assert_false(value_equal(value_int(0), value_float(NAN)));
}

TEST(arrays_keep_what_they_hold) {
  size_t capacity = 0;
  int *grown = NULL, *reserved = NULL;
  for (int i = 0; i < 1000; i++) {
    int *more = array_grow(grown, (size_t)i, sizeof *more);
    int *room = array_reserve(reserved, &capacity, (size_t)i, sizeof *room);
    assert_non_null(more);
    assert_non_null(room);
    grown = more, reserved = room;
    grown[i] = reserved[i] = i;
  }
  for (int i = 0; i < 1000; i++) assert_true(grown[i] == i && reserved[i] == i);
  assert_true(capacity >= 1000);
  capacity = SIZE_MAX / 4;
  assert_null(array_reserve(reserved, &capacity, capacity, sizeof *reserved));
  assert_true(capacity == SIZE_MAX / 4);
  free(grown);
  free(reserved);
}

TEST(dtypes_are_complete) {
  size_t count = 0;
  for (const char *const *name = dtype_names; *name; name++, count++) {
    const struct dtype *dtype = dtype_find(*name);
    assert_non_null(dtype);
    const struct dtype *wide = dtype->wide;
    assert_non_null(wide);
    assert_int_equal(wide->bytes, 8);
    assert_int_equal(wide->floating, dtype->floating);
    if ((*name)[0] == 'e') { // the name has the numbers of bits of exponent and mantissa
      assert_int_equal(atoi(*name + 1), dtype->format.exponent_bits);
      assert_int_equal(atoi(strchr(*name, 'm') + 1), dtype->format.fraction_bits);
    } else
      assert_int_equal(atoi(strpbrk(*name, "0123456789")), dtype->bytes * 8);
  }
  assert_int_equal(count, DTYPE_COUNT);
  assert_null(dtype_find("f23"));
}

/* ---- facts, kernels, hashes ----------------------------------------------------------------- */

TEST(facts_have_their_names) {
  struct device_facts facts = {.compute_capability = 90, .is_gpu = 1};
  assert_string_equal(device_fact_names[DEVICE_FACT_compute_capability],
                      "device.compute_capability");
  assert_int_equal(device_fact_get(&facts, DEVICE_FACT_compute_capability), 90);
  assert_int_equal(device_fact_get(&facts, DEVICE_FACT_is_gpu), 1);
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    assert_memory_equal(device_fact_names[i], "device.", 7);
}

TEST(arguments_have_their_bytes) {
  struct kernel_argument matrix = {.dtype = dtype_find("f64"), .rank = 2, .elements = 100};
  struct kernel_argument scalar = {.dtype = dtype_find("f16")};
  assert_int_equal(kernel_argument_bytes(&matrix), 800);
  assert_int_equal(kernel_argument_bytes(&scalar), 2);
}

TEST(specs_free_twice) {
  struct kernel_spec spec = {.variant = strdup("v"), .source = strdup("s")};
  text_add(&spec.strings, "name");
  kernel_spec_free(&spec);
  assert_null(spec.variant);
  kernel_spec_free(&spec);
}

/* The digest of the empty input is the one published for XXH3. Caches contain hashes, which must
   never change. */
TEST(hashes_are_stable) {
  assert_string_equal(hash_bytes("", 0).hex, "99aa06d3014798d86001c324468d497f");
  assert_string_not_equal(hash_bytes("a", 1).hex, hash_bytes("b", 1).hex);
}

/* The first outputs of SplitMix64 from 0, as published with its reference implementation. */
TEST(random_repeats) {
  uint64_t seed = 0;
  assert_true(random_next(&seed) == 0xe220a8397b1dcdafu);
  assert_true(random_next(&seed) == 0x6e789e6aa1b965f4u);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Makes a folder for each test, which is removed afterwards. */
static int make_folder(void **state) {
  struct text folder = {0};
  if (folder_temporary(&folder, NULL)) return -1;
  *state = text_take(&folder);
  return *state ? 0 : -1;
}

static int drop_folder(void **state) {
  int status = folder_remove(*state);
  free(*state);
  return status;
}

static char *inside(void **state, const char *name) {
  struct text path = {0};
  text_addf(&path, "%s/%s", (const char *)*state, name);
  return text_take(&path);
}

static size_t entries(const char *folder) {
  const char *const argv[] = {"ls", "-A", folder, NULL};
  FREED(text) names = {0};
  assert_int_equal(process_run(argv, 10, &names, NULL, NULL), CUGEN_OK);
  size_t count = 0;
  for (const char *c = text_get(&names); *c; c++) count += *c == '\n';
  return count;
}

TEST_WITH(files_come_back_as_written, make_folder, drop_folder) {
  char *path = inside(state, "data");
  struct text big = {0}, back = {0};
  for (int i = 0; i < 50000; i++) text_addf(&big, "%d", i);
  assert_false(file_exists(path));
  assert_int_equal(file_write(path, "old", 3, NULL), CUGEN_OK);
  assert_int_equal(file_write(path, big.data, big.length, NULL), CUGEN_OK);
  assert_true(file_exists(path));
  text_add(&back, ">");
  assert_int_equal(file_read(path, &back, NULL), CUGEN_OK);
  assert_int_equal(back.length, big.length + 1);
  assert_memory_equal(back.data + 1, big.data, big.length);
  assert_int_equal(entries(*state), 1);
  text_free(&big);
  text_free(&back);
  free(path);
}

TEST_WITH(file_errors_name_the_file, make_folder, drop_folder) {
  char *path = inside(state, "no/such/file");
  struct text text = {0};
  FAILS(file_read(path, &text, &err), CUGEN_ERROR_MISSING, path);
  FAILS(file_read(*state, &text, &err), CUGEN_ERROR_IO); /* the path is a folder */
  FAILS(file_write(path, "x", 1, &err), CUGEN_ERROR_IO, path, "there is no folder");
  text_free(&text);
  free(path);
}

/* In a child process, because the limit of the file size stays. RLIMIT_FSIZE fails a write half
   way, as a full disk does. */
TEST_WITH(a_failed_write_keeps_the_old_file, make_folder, drop_folder) {
  char *path = inside(state, "data");
  assert_int_equal(file_write(path, "old", 3, NULL), CUGEN_OK);
  pid_t pid = fork();
  if (pid == 0) {
    struct rlimit limit = {1000, 1000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    static char much[5000];
    cugen_error err = {0};
    int status = file_write(path, much, sizeof much, &err);
    _exit(status == CUGEN_ERROR_IO && strstr(err.message, path) ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  assert_int_equal(status, 0);
  struct text back = {0};
  assert_int_equal(file_read(path, &back, NULL), CUGEN_OK);
  assert_string_equal(text_get(&back), "old");
  assert_int_equal(entries(*state), 1);
  text_free(&back);
  free(path);
}

TEST_WITH(folders_are_made_with_parents, make_folder, drop_folder) {
  char *deep = inside(state, "a/b//c");
  assert_int_equal(folder_make(deep, NULL), CUGEN_OK);
  assert_int_equal(folder_make(deep, NULL), CUGEN_OK);
  char *file = inside(state, "a/b/c/file");
  assert_int_equal(file_write(file, "", 0, NULL), CUGEN_OK);
  FAILS(folder_make(file, &err), CUGEN_ERROR_IO, file);
  char *top = inside(state, "a");
  assert_int_equal(folder_remove(top), CUGEN_OK);
  assert_false(file_exists(top));
  free(deep);
  free(file);
  free(top);
}

/* folder_remove must not follow a link out of the folder. */
TEST_WITH(folder_remove_keeps_what_links_point_to, make_folder, drop_folder) {
  char *kept = inside(state, "kept"), *folder = inside(state, "folder"),
       *link = inside(state, "folder/link");
  assert_int_equal(file_write(kept, "x", 1, NULL), CUGEN_OK);
  assert_int_equal(folder_make(folder, NULL), CUGEN_OK);
  assert_int_equal(symlink(*state, link), 0);
  assert_int_equal(folder_remove(folder), CUGEN_OK);
  assert_true(file_exists(kept));
  free(kept);
  free(folder);
  free(link);
}

/* Makes a folder of that process in parent, with a file in it, dated some seconds ago. */
static void make_left_over(const char *parent, long owner, const char *end, time_t age,
                           struct text *out) {
  text_addf(out, "%s/cugen-%ld-%s", parent, owner, end);
  const char *file = formed("%s/kernel.cpp", text_get(out));
  assert_int_equal(folder_make(text_get(out), NULL), CUGEN_OK);
  assert_int_equal(file_write(file, "x", 1, NULL), CUGEN_OK);
  const struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
  assert_int_equal(utimensat(AT_FDCWD, text_get(out), times, 0), 0);
}

TEST_WITH(temporary_folders_of_the_dead_are_removed, make_folder, drop_folder) {
  struct text mine = {0}, fresh = {0}, old = {0}, new = {0}, released = {0}, held = {0};
  const char *set = getenv("TMPDIR");
  char *before = set ? strdup(set) : NULL;
  pid_t dead = fork();
  if (dead == 0) _exit(0);
  assert_int_equal(waitpid(dead, NULL, 0), dead);
  make_left_over(*state, getpid(), "aXXXX1", 7200, &mine);
  make_left_over(*state, dead, "bXXXX2", 1, &fresh);
  make_left_over(*state, dead, "dXXXX4", 60, &released);
  /* like a folder of a process that has another number in its own namespace */
  make_left_over(*state, dead, "eXXXX5", 7200, &held);
  const int hold = folder_hold(text_get(&held));
  assert_true(hold >= 0);
  make_left_over(*state, dead, "cXXXX3", 7200, &old);
  setenv("TMPDIR", *state, 1);
  assert_int_equal(folder_temporary(&new, NULL), CUGEN_OK);
  assert_true(file_exists(text_get(&mine)) && file_exists(text_get(&fresh)) &&
              file_exists(text_get(&new)));
  assert_false(file_exists(text_get(&old)));
  assert_false(file_exists(text_get(&released)));
  assert_true(file_exists(text_get(&held)));
  close(hold);
  if (before)
    setenv("TMPDIR", before, 1);
  else
    unsetenv("TMPDIR");
  free(before);
  struct text *texts[] = {&mine, &fresh, &old, &new, &released, &held};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) text_free(texts[i]);
}

/* Removed is only what file_write itself leaves, of a process that has ended, after an hour. */
TEST_WITH(what_a_killed_write_left_is_removed, make_folder, drop_folder) {
  static const struct {
    const char *end; /* behind the number of the process */
    bool living, folder, goes;
    time_t age;
  } rows[] = {{"-0.new", false, false, true, 7200},  {"-12.new", false, false, true, 7200},
              {"-0.new", true, false, false, 7200},  {"-1.new", false, false, false, 60},
              {"-.new", false, false, false, 7200},  {"-0.newer", false, false, false, 7200},
              {"-notes", false, false, false, 7200}, {"-7.new", false, true, false, 7200}};
  FREED(text) name = {0};
  pid_t dead = fork();
  if (dead == 0) _exit(0);
  assert_int_equal(waitpid(dead, NULL, 0), dead);
  const char *path = formed("%s/out.wisdom", (const char *)*state);
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      text_clear(&name);
      text_addf(&name, "%s.%ld%s", path, rows[i].living ? (long)getpid() : (long)dead, rows[i].end);
      if (round == 0 && rows[i].folder)
        assert_int_equal(folder_make(text_get(&name), NULL), CUGEN_OK);
      if (round == 0 && !rows[i].folder)
        assert_int_equal(file_put(text_get(&name), "x", 1, NULL), CUGEN_OK);
      const struct timespec times[2] = {{time(NULL) - rows[i].age, 0},
                                        {time(NULL) - rows[i].age, 0}};
      if (round == 0) assert_int_equal(utimensat(AT_FDCWD, text_get(&name), times, 0), 0);
      if (round == 1) assert_int_equal(file_exists(text_get(&name)), !rows[i].goes);
    }
    assert_int_equal(file_write(path, "x", 1, NULL), CUGEN_OK);
  }
}

TEST_WITH(temporary_folders_follow_tmpdir, make_folder, drop_folder) {
  const char *set = getenv("TMPDIR");
  char *old = set ? strdup(set) : NULL;
  setenv("TMPDIR", *state, 1);
  struct text one = {0}, two = {0};
  assert_int_equal(folder_temporary(&one, NULL), CUGEN_OK);
  assert_int_equal(folder_temporary(&two, NULL), CUGEN_OK);
  assert_memory_equal(text_get(&one), *state, strlen(*state));
  assert_string_not_equal(text_get(&one), text_get(&two));
  setenv("TMPDIR", "/no/such/place", 1);
  FAILS(folder_temporary(&one, &err), CUGEN_ERROR_MISSING, "/no/such/place");
  if (old)
    setenv("TMPDIR", old, 1);
  else
    unsetenv("TMPDIR");
  text_free(&one);
  text_free(&two);
  free(old);
}

static void assert_folder(const char *path, const char *want) {
  FREED(text) text = {0};
  path_folder(path, &text);
  assert_string_equal(text_get(&text), want);
}

TEST(paths_split) {
  assert_folder("a/b/c.lua", "a/b");
  assert_folder("c.lua", ".");
  assert_folder("/c.lua", "/");
  assert_string_equal(path_base("a/b/c.lua"), "c.lua");
  assert_string_equal(path_base("c.lua"), "c.lua");
  assert_string_equal(path_base("a/"), "");
}

TEST_WITH(programs_are_found, make_folder, drop_folder) {
  FREED(text) self = {0}, found = {0};
  assert_int_equal(path_self(&self, NULL), CUGEN_OK);
  assert_non_null(strstr(text_get(&self), "test_base"));
  assert_true(path_find_program("sh", &found));
  assert_non_null(strstr(text_get(&found), "/sh"));
  text_clear(&found);
  assert_false(path_find_program("no-such-program", &found));
  assert_false(path_find_program(*state, &found)); /* a folder is executable, too */
  assert_string_equal(text_get(&found), "");
  assert_true(path_find_program(text_get(&self), &found));
  assert_string_equal(text_get(&found), text_get(&self));
}

TEST(clocks_go_forward) {
  double start = clock_seconds();
  usleep(2000);
  double passed = clock_seconds() - start;
  assert_true(passed >= 0.002 && passed < 100);
  assert_true(clock_unix() > 1700000000);
  assert_in_range(cpu_count(), 1, 100000);
}

/* ---- processes ------------------------------------------------------------------------------ */

TEST(run_collects) {
  const char *const argv[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
  FREED(text) output = {0};
  int code = -1;
  assert_int_equal(process_run(argv, 10, &output, &code, NULL), CUGEN_OK);
  assert_string_equal(text_get(&output), "out\nerr\n");
  assert_int_equal(code, 3);
  assert_int_equal(process_run(argv, 0, NULL, &code, NULL), CUGEN_OK);
  assert_int_equal(code, 3);
}

TEST(run_collects_more_than_a_pipe_holds) {
  const char *const argv[] = {
      "sh", "-c", "i=0; while [ $i -lt 40000 ]; do echo 0123456; i=$((i+1)); done", NULL};
  FREED(text) output = {0};
  assert_int_equal(process_run(argv, 60, &output, NULL, NULL), CUGEN_OK);
  assert_int_equal(output.length, 40000 * 8);
}

TEST(run_reports_signals) {
  const char *const argv[] = {"sh", "-c", "kill -SEGV $$", NULL};
  int code = -1;
  assert_int_equal(process_run(argv, 10, NULL, &code, NULL), CUGEN_OK);
  assert_int_equal(code, 128 + SIGSEGV);
}

TEST(run_without_a_program) {
  const char *const argv[] = {"no-such-program", NULL};
  FAILS_WITH(process_run(argv, 10, NULL, NULL, &err), CUGEN_ERROR_MISSING,
             "no-such-program: cannot start: No such file or directory");
}

/* A file with the mode of a program that is not one: execv refuses it. */
TEST_WITH(run_of_what_is_no_program, make_folder, drop_folder) {
  char *path = inside(state, "garbage");
  assert_int_equal(file_write(path, "\177ELF", 4, NULL), CUGEN_OK);
  chmod(path, 0755);
  const char *const argv[] = {path, NULL};
  FAILS(process_run(argv, 10, NULL, NULL, &err), CUGEN_ERROR_IO, "Exec format error");
  free(path);
}

/* Waits for some 30 s, longer on a busy machine. */
enum { TRIES = 3000 };

static bool gone_soon(pid_t pid) {
  for (int i = 0; i < TRIES; i++, usleep(10000))
    if (kill(pid, 0) && errno == ESRCH) return true;
  return false;
}

/* Returns true once the process has ended, even if it has not been reaped (its new parent in a
   container may not do so). */
static bool ended_soon(pid_t pid) {
  for (int i = 0; i < TRIES; i++, usleep(10000)) {
    struct text stat = {0};
    bool there = file_read(formed("/proc/%ld/stat", (long)pid), &stat, NULL) == CUGEN_OK;
    const char *state = strrchr(text_get(&stat), ')');
    bool ended = !there || !state || state[2] == 'Z';
    text_free(&stat);
    if (ended) return true;
  }
  return false;
}

TEST(a_time_out_kills_the_group) {
  const char *const argv[] = {"sh", "-c", "sleep 1000 & echo $!; wait", NULL};
  FREED(text) output = {0};
  double start = clock_seconds();
  FAILS(process_run(argv, 0.5, &output, NULL, &err), CUGEN_ERROR_DEVICE, "0.5 s");
  assert_true(clock_seconds() - start < 100);
  assert_true(ended_soon(atoi(text_get(&output))));
}

/* A grandchild that keeps the pipe open does not block process_run, and is ended. */
TEST(what_a_program_leaves_behind_ends) {
  const char *const argv[] = {"sh", "-c", "sleep 1000 & echo $!", NULL};
  FREED(text) output = {0};
  double start = clock_seconds();
  assert_int_equal(process_run(argv, 200, &output, NULL, NULL), CUGEN_OK);
  assert_true(clock_seconds() - start < 100);
  assert_true(ended_soon(atoi(text_get(&output))));
}

TEST(children_get_only_what_they_should) {
  int leak = open("/dev/null", O_RDONLY); /* opened as an application might do, without O_CLOEXEC */
  const char *const argv[] = {"sh", "-c", "ls /proc/$$/fd; trap", NULL};
  signal(SIGUSR1, SIG_IGN);
  FREED(text) output = {0};
  assert_int_equal(process_run(argv, 10, &output, NULL, NULL), CUGEN_OK);
  assert_string_equal(text_get(&output), "0\n1\n2\n");
  signal(SIGUSR1, SIG_DFL);
  close(leak);
}

TEST(spawn_talks_over_descriptor_3) {
  const char *const argv[] = {"sh", "-c", "read line <&3; echo \"got $line\" >&3; cat <&3", NULL};
  pid_t pid;
  int fd;
  assert_int_equal(process_spawn(argv, &pid, &fd, NULL), CUGEN_OK);
  assert_int_equal(getpgid(pid), pid);
  assert_int_equal(write(fd, "hello\n", 6), 6);
  char back[32] = "";
  assert_int_equal(read(fd, back, sizeof back - 1), 10);
  assert_string_equal(back, "got hello\n");
  FREED(text) how = {0};
  process_end(pid, &how);
  assert_string_equal(text_get(&how), "signal 9 (Killed)");
  assert_true(gone_soon(pid));
  close(fd);
}

TEST(spawn_tells_how_it_ended) {
  const char *const argv[] = {"sh", "-c", "exit 3", NULL};
  pid_t pid;
  int fd;
  char byte;
  assert_int_equal(process_spawn(argv, &pid, &fd, NULL), CUGEN_OK);
  assert_int_equal(read(fd, &byte, 1), 0); /* the child has closed its end */
  FREED(text) how = {0};
  process_end(pid, &how);
  assert_string_equal(text_get(&how), "exit code 3");
  close(fd);
}

TEST(spawn_without_a_program) {
  const char *const argv[] = {"/no/such/program", NULL};
  pid_t pid = 7;
  int fd = 7;
  FAILS(process_spawn(argv, &pid, &fd, &err), CUGEN_ERROR_MISSING);
  assert_int_equal(pid, -1);
  assert_int_equal(fd, -1);
}

/* The parent is killed and cannot clean up; its child must end all the same. */
TEST(children_die_with_their_parent) {
  int tell[2];
  assert_int_equal(pipe(tell), 0);
  pid_t parent = fork();
  if (parent == 0) {
    const char *const argv[] = {"sleep", "1000", NULL};
    pid_t child = -1;
    int fd = -1;
    process_spawn(argv, &child, &fd, NULL);
    ssize_t told = write(tell[1], &child, sizeof child);
    _exit(told < 0 ? 1 : pause());
  }
  pid_t child = -1;
  assert_int_equal(read(tell[0], &child, sizeof child), sizeof child);
  assert_true(child > 0);
  assert_int_equal(kill(child, 0), 0);
  process_end(parent, NULL);
  assert_true(ended_soon(child));
  close(tell[0]);
  close(tell[1]);
}

static void check_clean(const char *bytes, size_t length, const char *expected) {
  FREED(text) text = {0};
  text_add_clean(&text, bytes, length);
  assert_string_equal(text_get(&text), expected);
}

TEST(test_text_clean) {
#define CHECK(bytes, expected) check_clean(bytes, sizeof(bytes) - 1, expected)
  CHECK("", "");
  CHECK("a\tb\nc \\u001b \xc3\xa9 \xf0\x9f\x98\x80", "a\tb\nc \\u001b \xc3\xa9 \xf0\x9f\x98\x80");
  CHECK("\x1b[31m\r\x07\x7f", "\\u001b[31m\\u000d\\u0007\\u007f");
  CHECK("a\0b", "a\\u0000b");
  CHECK("\xc2\x9b"
        "31m",
        "\\u009b31m");
  CHECK("\xe2\x80\xae"
        "a\xe2\x81\xa6"
        "b\xe2\x80\x8f"
        "c\xd8\x9c",
        "\\u202ea\\u2066b\\u200fc\\u061c");
  CHECK("\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029");
  CHECK("\x9b"
        "31m\xff\xc3",
        "\\x9b31m\\xff\\xc3");
  CHECK("\xc0\x9b\xe0\x80\x9b\xed\xa0\x80", "\\xc0\\x9b\\xe0\\x80\\x9b\\xed\\xa0\\x80");
  CHECK("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
#undef CHECK
}

TEST(test_error_clean) {
  cugen_error err;
  char long_name[5000];
  error_set(&err, CUGEN_ERROR_CONFIG, "no '%s'", "\x1b]0;x\x07");
  assert_string_equal(err.message, "no '\\u001b]0;x\\u0007'");
  error_append(&err, "; %s", "\xe2\x80\xae");
  assert_string_equal(err.message, "no '\\u001b]0;x\\u0007'; \\u202e");
  error_prefix(&err, "%s", "\x9b");
  assert_string_equal(err.message, "\\x9b: no '\\u001b]0;x\\u0007'; \\u202e");
  for (size_t i = 0; i + 1 < sizeof long_name; i += 2) memcpy(long_name + i, "\xc3\xa9", 2);
  long_name[sizeof long_name - 2] = '\0';
  error_set(&err, CUGEN_ERROR_CONFIG, "%s", long_name);
  assert_int_equal(strlen(err.message), 4094); /* a letter of several bytes is cut as a whole */
}

TEST(test_includes) {
  static const char *const good[] = {"#include <cuda_fp16.h>\n",
                                     "  # /* a */ include \"lib/a.h\"\n",
                                     "int a; // #include X\n",
                                     "/* the #include below */\n",
                                     "const char *a = \"#include X\";\n",
                                     "#define include x\n",
                                     "#includes X\n",
                                     "#ifdef import\n",
                                     ""};
  static const char *const bad[] = {"#include </etc/passwd>\n",
                                    "#include <a/../../b>\n",
                                    "#include X\n",
                                    "/* */ #import \"/a\"\n",
                                    "%:include <.ssh/id>\n",
                                    "?\?=include \"/a\"\n",
                                    "#inc\\\nlude \"/a\"\n",
                                    "#inc\\ \t\nlude \"/a\"\n",
                                    "#inc?\?/\nlude \"/a\"\n",
                                    "#embed \"/a\"\n",
                                    "#include_next \"/a\"\n",
                                    "#include \"a\n",
                                    "#\\\n/**/include \"../a\"\n",
                                    "\f#include \"/a\"\n",
                                    "#include <a?\?/b>\n"};
  cugen_error err;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    if (includes_check(good[i], &err)) fail_msg("%s: %s", good[i], err.message);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (includes_check(bad[i], &err) != CUGEN_ERROR_COMPILE) fail_msg("taken: %s", bad[i]);
}

/* Each type holds its smallest and its largest number, and neither of the numbers beyond them. */
TEST(whole_numbers_fit_their_type) {
  static const struct {
    const char *dtype;
    int64_t least, greatest;
  } cases[] = {{"i8", -128, 127},
               {"u8", 0, 255},
               {"i16", -32768, 32767},
               {"u16", 0, 65535},
               {"i32", INT32_MIN, INT32_MAX},
               {"u32", 0, UINT32_MAX},
               {"i64", INT64_MIN, INT64_MAX},
               {"u64", 0, INT64_MAX}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct dtype *dtype = dtype_find(cases[i].dtype);
    assert_true(dtype_fits(dtype, cases[i].least) && dtype_fits(dtype, cases[i].greatest));
    assert_true(cases[i].least == INT64_MIN || !dtype_fits(dtype, cases[i].least - 1));
    assert_true(cases[i].greatest == INT64_MAX || !dtype_fits(dtype, cases[i].greatest + 1));
  }
}
