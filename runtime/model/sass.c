/* Reading machine code; see sass.h. From Volta on an instruction has 16 bytes: the opcode in the
   lowest 12 bits, whose upper three bits give the kinds of operands. Bits 73 to 75 of a load are
   its width: 4 for a word, 5 for two, 6 for four. From bit 105 on stand the compiler's hints for
   the scheduler: stall (4 bits), yield (1), the barrier that the result will release (3), the
   barrier that the reading of operands will release (3), barriers to wait for (6 bits, one
   each). Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018,
   section 2; nvdisasm 13.0 shows the same for sm_75 to sm_120. */
#include "sass.h"

#include <stdint.h>
#include <string.h>

enum {
  BYTES = 16,
  BARRIERS = 6,
  LDG = 0x181,
  LDS = 0x184,
  NOP = 0x118,
  TWO_WORDS = 5,
  FOUR_WORDS = 6
};

struct instruction {
  unsigned opcode, width, releases, waits;
};

static struct instruction sass_read_instruction(const unsigned char *code) {
  uint64_t low, high;
  memcpy(&low, code, sizeof low);
  memcpy(&high, code + sizeof low, sizeof high);
  return (struct instruction){low & 0x1ff, high >> 9 & 7, high >> 46 & 7, high >> 52 & 0x3f};
}

/* Loads that release one barrier are waited for together. */
struct flights {
  int of_barrier[BARRIERS], all;
};

static void sass_land(struct flights *f, unsigned barriers) {
  for (int b = 0; b < BARRIERS; b++) {
    if (!(barriers >> b & 1)) continue;
    f->all -= f->of_barrier[b];
    f->of_barrier[b] = 0;
  }
}

struct sass_facts sass_read(const void *code, size_t length) {
  struct sass_facts out = {0};
  struct flights flights = {0};
  const unsigned char *at = code;
  for (size_t i = 0; i + BYTES <= length; i += BYTES) {
    struct instruction in = sass_read_instruction(at + i);
    if (in.opcode == NOP) continue;
    out.instructions++;
    sass_land(&flights, in.waits);
    out.shared_quads += in.opcode == LDS && in.width == FOUR_WORDS;
    out.shared_pairs += in.opcode == LDS && in.width == TWO_WORDS;
    if (in.opcode != LDG || in.releases >= BARRIERS) continue;
    out.loads++;
    flights.of_barrier[in.releases]++;
    if (++flights.all > out.in_flight) out.in_flight = flights.all;
  }
  return out;
}
