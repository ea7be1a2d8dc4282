/* Canaries: bytes of known content on both sides of a kernel's memory, which show afterwards that
   the kernel wrote outside. */
#ifndef EMULATOR_CANARIES_H
#define EMULATOR_CANARIES_H

#include <stdbool.h>
#include <stddef.h>

/* The memory is from start to end; the canaries are from low to start and from end to high. */
struct canaries {
  unsigned char *low, *start, *end, *high;
};

void canaries_write(const struct canaries *canaries);
/* Returns true if a canary has changed, and writes all canaries again. *distance: the bytes from
   the end of the memory to the first changed byte behind it. If only bytes in front have changed,
   *before is true, and *distance is from the first changed byte to the start. */
bool canaries_changed(const struct canaries *canaries, bool *before, size_t *distance);

#endif
