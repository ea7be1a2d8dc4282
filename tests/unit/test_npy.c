/* .npy files: what is read, and what is refused with which reason. */
#include "base/npy.h"
#include "base/text.h"
#include "tests/testing.h"

/* Builds a file of version 1 or 2 with the dictionary and so many bytes of elements. */
static void build(int version, const char *dictionary, size_t bytes, struct text *out) {
  size_t length = strlen(dictionary);
  text_add_n(out, "\x93NUMPY", 6);
  text_add_char(out, (char)version);
  text_add_char(out, 0);
  text_add_char(out, (char)(length & 0xff));
  text_add_char(out, (char)(length >> 8));
  if (version == 2) text_add_n(out, "\0\0", 2);
  text_add(out, dictionary);
  for (size_t i = 0; i < bytes; i++) text_add_char(out, (char)i);
}

static int parse(int version, const char *dictionary, size_t bytes, struct npy *out,
                 cugen_error *err) {
  FREED(text) file = {0};
  build(version, dictionary, bytes, &file);
  int status = npy_parse(text_get(&file), file.length, file.length, out, err);
  return status;
}

static void expect(int version, const char *dictionary, size_t bytes, const char *type,
                   bool fortran, int rank) {
  struct npy npy;
  cugen_error err = {0};
  if (parse(version, dictionary, bytes, &npy, &err)) fail_msg("%s: %s", dictionary, err.message);
  assert_string_equal(npy.type, type);
  assert_int_equal(npy.fortran, fortran);
  assert_int_equal(npy.rank, rank);
  assert_int_equal(npy.offset, (version == 1 ? 10 : 12) + strlen(dictionary));
}

TEST(files_are_read) {
  expect(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }    \n", 48, "f4", false,
         2);
  expect(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 12, "f4", false, 1);
  expect(1, "{\"shape\": (1, 2, 3, 4), \"descr\": \"|u1\", \"fortran_order\": True}", 24, "u1",
         true, 4);
  expect(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", 2, "b1", false, 1);
  expect(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (2,)}", 4, "V2", false, 1);
}

static void expect_refusal(const char *dictionary, size_t bytes, const char *why) {
  struct npy npy;
  cugen_error err = {0};
  assert_int_equal(parse(1, dictionary, bytes, &npy, &err), CUGEN_ERROR_CONFIG);
  if (!strstr(err.message, why)) fail_msg("%s: %s", dictionary, err.message);
}

#define WITH(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }"

TEST(others_are_refused) {
  expect_refusal(WITH("'<f4'", "(3,)"), 11, "ends before its last element");
  expect_refusal(WITH("'<f4'", "(3,)"), 13, "goes on behind its last element");
  expect_refusal(WITH("'>f4'", "(3,)"), 12, "big-endian");
  expect_refusal(WITH("'<c8'", "(3,)"), 24, "no numbers of 1, 2, 4 or 8 bytes");
  expect_refusal(WITH("'<f16'", "(3,)"), 48, "no numbers of 1, 2, 4 or 8 bytes");
  expect_refusal(WITH("[('a', '<f4')]", "(3,)"), 12, "no plain numbers");
  expect_refusal(WITH("'<f4'", "()"), 4, "no dimensions");
  expect_refusal(WITH("'<f4'", "(3)"), 12, "shape cannot be read");
  expect_refusal(WITH("'<f4'", "(3 4)"), 48, "shape cannot be read");
  expect_refusal(WITH("'<f4'", "(-3,)"), 12, "shape cannot be read");
  expect_refusal(WITH("'<f4'", "(0,)"), 0, "no elements");
  expect_refusal(WITH("'<f4'", "(1, 1, 1, 1, 1)"), 4, "more than 4 dimensions");
  expect_refusal(WITH("'<f4'", "(99999999999999999999,)"), 4, "shape cannot be read");
  expect_refusal(WITH("'<f4'", "(4611686018427387904, 4)"), 4, "shape is too large");
  expect_refusal("{'descr': '<f4', 'shape': (3,)}", 12, "lacks");
  expect_refusal("{'descr': '<f4', 'descr': '<f4'}", 12, "a key twice");
  expect_refusal("{'descr': '<f4', 'evil': 1}", 12, "unknown key");
  expect_refusal("{'descr': '<f4', 'fortran_order': Maybe}", 12, "neither True nor False");
  expect_refusal("{'descr': '<f4' 'shape': (3,)}", 12, "header cannot be read");
  expect_refusal(WITH("'<f4'", "(3,)") " x", 12, "header cannot be read");
  expect_refusal("", 0, "header cannot be read");
}

TEST(shortened_files_are_refused) {
  FREED(text) file = {0};
  struct npy npy;
  build(1, WITH("'<f4'", "(3,)"), 12, &file);
  for (size_t i = 0; i < file.length; i++)
    assert_int_equal(npy_parse(text_get(&file), i, i, &npy, NULL), CUGEN_ERROR_CONFIG);
  file.data[6] = 3;
  assert_int_equal(npy_parse(text_get(&file), file.length, file.length, &npy, NULL),
                   CUGEN_ERROR_CONFIG);
}
