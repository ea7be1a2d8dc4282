/* Reading machine code; see cubin.h. From Volta on an instruction has 16 bytes: the opcode in the
   lowest 12 bits, whose upper three bits give the kinds of operands. Bits 73 to 75 of a load are
   its width: 4 for a word, 5 for two, 6 for four. From bit 105 on stand the compiler's hints for
   the scheduler: stall (4 bits), yield (1), the barrier that the result will release (3), the
   barrier that the reading of operands will release (3), barriers to wait for (6 bits, one
   each). Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018,
   section 2; nvdisasm 13.0 shows the same for sm_75 to sm_120. */
#include "cubin.h"

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

struct sass_facts sass_read(const void *code, size_t length) {
  struct sass_facts out = {0};
  /* loads under way: by the barrier that they release, on which they are waited for together, and
     all of them */
  int of_barrier[BARRIERS] = {0}, all = 0;
  for (size_t i = 0; i + BYTES <= length; i += BYTES) {
    uint64_t low, high;
    memcpy(&low, (const char *)code + i, sizeof low);
    memcpy(&high, (const char *)code + i + sizeof low, sizeof high);
    const unsigned opcode = low & 0x1ff, width = high >> 9 & 7, releases = high >> 46 & 7,
                   waits = high >> 52 & 0x3f;
    if (opcode == NOP) continue;
    out.instructions++;
    for (int b = 0; b < BARRIERS; b++) {
      if (!(waits >> b & 1)) continue;
      all -= of_barrier[b];
      of_barrier[b] = 0;
    }
    out.shared_quads += opcode == LDS && width == FOUR_WORDS;
    out.shared_pairs += opcode == LDS && width == TWO_WORDS;
    if (opcode != LDG || releases >= BARRIERS) continue;
    out.loads++;
    of_barrier[releases]++;
    if (++all > out.in_flight) out.in_flight = all;
  }
  return out;
}
