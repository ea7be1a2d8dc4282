/* A record is found by the text that describes a kernel's arguments, so everything that a
   kernel, its data or its verification depends on must change that text. Each row changes one
   field and names the aspect that differs. */
#include "base/kernel.h"
#include "tests/testing.h"

/* A square tensor map with packed rows: its extent is the same whichever dimension is
   contiguous. */
static struct kernel_argument square(void) {
  return (struct kernel_argument){.name = "A",
                                  .kind = CUGEN_ARGUMENT_INPUT,
                                  .dtype = &dtype_table[DTYPE_f32],
                                  .rank = 2,
                                  .shape = {64, 64},
                                  .stride = {64, 1},
                                  .elements = 64 * 64,
                                  .access = ACCESS_TENSOR,
                                  .box = {8, 32},
                                  .tolerance = 1e-3};
}

static void change(int i, struct kernel_argument *a) {
  switch (i) {
  case 0: a->kind = CUGEN_ARGUMENT_INOUT; break;
  case 1: a->dtype = &dtype_table[DTYPE_i32]; break;
  case 2: a->memory = MEMORY_PINNED; break;
  case 3: a->elements += 64; break;
  case 4: a->stride[0] = 1, a->stride[1] = 64; break;
  case 5: a->shape[1] = 32; break;
  case 6: a->fill = FILL_ONES; break;
  case 7: a->overwrite = true; break;
  case 8: a->data = DATA_GENERATOR, a->data_hash = hash_bytes("x", 1); break;
  case 9: a->tolerance = 2e-3; break;
  case 10: a->norm = 1e-3; break;
  case 11: a->box[0] = 16; break;
  case 12: a->swizzle = 128; break;
  case 13: a->parts = 2; break;
  case 14: a->access = ACCESS_SYMBOL; break;
  case 15: a->access = ACCESS_POINTER; break;
  default: a->access = ACCESS_FIELD; break;
  }
}

TEST(every_change_is_told) {
  static const unsigned aspects[] = {
      ARGUMENT_STORAGE,   ARGUMENT_STORAGE, ARGUMENT_STORAGE, ARGUMENT_STORAGE, ARGUMENT_STORAGE,
      ARGUMENT_SHAPE,     ARGUMENT_FILL,    ARGUMENT_FILL,    ARGUMENT_FILL,    ARGUMENT_TOLERANCE,
      ARGUMENT_TOLERANCE, ARGUMENT_ACCESS,  ARGUMENT_ACCESS,  ARGUMENT_ACCESS,  ARGUMENT_ACCESS,
      ARGUMENT_ACCESS,    ARGUMENT_ACCESS};
  for (size_t i = 0; i < sizeof aspects / sizeof *aspects; i++) {
    struct kernel_argument before = square(), after = square();
    FREED(text) was = {0}, is = {0};
    change((int)i, &after);
    kernel_argument_describe(&before, aspects[i], &was);
    kernel_argument_describe(&after, aspects[i], &is);
    if (strcmp(text_get(&was), text_get(&is)) == 0)
      fail_msg("change %zu: both are '%s'", i, text_get(&was));
  }
}

TEST(a_texture_tells_its_addressing) {
  for (int i = 1; i < ADDRESS_KIND_COUNT; i++) {
    struct kernel_argument a = square(), b = square();
    FREED(text) first = {0}, other = {0};
    a.access = b.access = ACCESS_TEXTURE;
    b.address = (enum address_kind)i;
    kernel_argument_describe(&a, ARGUMENT_ACCESS, &first);
    kernel_argument_describe(&b, ARGUMENT_ACCESS, &other);
    assert_string_not_equal(text_get(&first), text_get(&other));
  }
}

/* The kernel on the check problem is a part of the proof that can be left out, as earlier versions
   did. It does not depend on a parameter that the problem lacks. */
TEST(the_check_kernel_is_part_of_the_proof) {
  static const char plain[] = "reference\nM=1\nN=2", lacking[] = "reference\nN=2";
  struct kernel_spec spec = {.hash = hash_bytes("k", 1),
                             .proof = strdup(plain),
                             .proof_lines = 2,
                             .proof_hash = hash_bytes(plain, strlen(plain))};
  struct kernel_spec less = {.hash = hash_bytes("l", 1),
                             .proof = strdup(lacking),
                             .proof_lines = 1,
                             .proof_hash = hash_bytes(lacking, strlen(lacking))};
  const struct kernel_spec before = spec;
  struct kernel_compared check = kernel_spec_compared(&spec), other = kernel_spec_compared(&less);
  assert_memory_equal(&check, &other, sizeof check);
  check.launches = hash_bytes("g", 1);
  assert_int_equal(kernel_spec_add_check(&spec, &check, 1, NULL), CUGEN_OK);
  assert_int_equal(kernel_spec_add_check(&less, &check, 1, NULL), CUGEN_OK);
  assert_string_equal(spec.plain_hash.hex, before.hash.hex);
  assert_string_not_equal(spec.hash.hex, before.hash.hex);
  assert_string_not_equal(spec.proof_hash.hex, before.proof_hash.hex);
  assert_string_equal(kernel_spec_proof_without(&spec, 0, false).hex, spec.proof_hash.hex);
  assert_string_equal(kernel_spec_proof_without(&spec, 0, true).hex, before.proof_hash.hex);
  assert_string_equal(kernel_spec_proof_without(&spec, 1, true).hex,
                      hash_bytes(lacking, strlen(lacking)).hex);
  assert_string_equal(kernel_spec_proof_without(&spec, 1, false).hex, less.proof_hash.hex);
  kernel_spec_free(&spec);
  kernel_spec_free(&less);
}

/* A problem may lack the first of two parameters. Its proof then leaves out the first of their
   lines, which come last. */
TEST(the_lacked_line_is_left_out) {
  char proof[] = "reference\nM=1\nN=2", first[] = "reference\nN=2", second[] = "reference\nM=1";
  const struct kernel_spec spec = {
      .proof = proof, .proof_lines = 2, .proof_hash = hash_bytes(proof, strlen(proof))};
  assert_string_equal(kernel_spec_proof_without(&spec, 0, false).hex, spec.proof_hash.hex);
  assert_string_equal(kernel_spec_proof_without(&spec, 1, false).hex,
                      hash_bytes(first, strlen(first)).hex);
  assert_string_equal(kernel_spec_proof_without(&spec, 2, false).hex,
                      hash_bytes(second, strlen(second)).hex);
}
