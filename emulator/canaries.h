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
/* Whether a canary has changed; all of them are then written again. *distance: the bytes from the
   end of the memory to the first changed byte; with *before, if none behind the memory has changed,
   the bytes from the first changed byte to the start. */
bool canaries_changed(const struct canaries *canaries, bool *before, size_t *distance);

#endif
