/* Reading machine code: which loads are under way together, by the barriers that they set and
   that are waited for. */
#include "runtime/model/cubin.h"
#include "tests/testing.h"

enum { BYTES = 16, MOST = 16, NONE = 7, LDG = 0x981, LDS = 0x984, STG = 0x986, NOP = 0x918 };

struct code {
  unsigned char bytes[MOST * BYTES];
  size_t length;
};

/* Adds an instruction; opcode: its lowest 12 bits, as nvdisasm -hex shows them. */
static void add(struct code *code, uint64_t opcode, uint64_t releases, uint64_t waits) {
  uint64_t words[2] = {opcode, releases << 46 | UINT64_C(7) << 49 | waits << 52};
  memcpy(code->bytes + code->length, words, sizeof words);
  code->length += sizeof words;
}

TEST(test_together) {
  struct code code = {0};
  for (int i = 0; i < 3; i++) add(&code, LDG, (uint64_t)i % 2, 0);
  add(&code, STG, NONE, 1 << 0);
  add(&code, LDG, 0, 1 << 1);
  add(&code, STG, NONE, 1 << 0);
  add(&code, NOP, NONE, 0);
  struct sass_facts facts = sass_read(code.bytes, code.length);
  assert_int_equal(facts.instructions, 6);
  assert_int_equal(facts.loads, 4);
  /* the fourth load begins when two have arrived, and waits for the third */
  assert_int_equal(facts.in_flight, 3);
}

TEST(test_little) {
  struct code code = {0};
  struct sass_facts facts = sass_read(code.bytes, 0);
  assert_int_equal(facts.instructions, 0);
  add(&code, LDG, NONE, 0); /* a prefetch: nothing waits for it */
  facts = sass_read(code.bytes, code.length + BYTES - 1);
  assert_int_equal(facts.instructions, 1);
  assert_int_equal(facts.in_flight, 0);
}

/* LDS, LDS.64, LDS.128, and a load of 16 bytes from global memory. */
TEST(test_widths) {
  struct code code = {0};
  const uint64_t words[] = {4, 5, 6, 6};
  for (size_t i = 0; i < 4; i++) {
    add(&code, i < 3 ? LDS : LDG, 0, 0);
    uint64_t high = words[i] << 9 | UINT64_C(7) << 49;
    memcpy(code.bytes + code.length - sizeof high, &high, sizeof high);
  }
  struct sass_facts facts = sass_read(code.bytes, code.length);
  assert_int_equal(facts.shared_pairs, 1);
  assert_int_equal(facts.shared_quads, 1);
}
