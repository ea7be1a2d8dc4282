/* The memory that one access of a warp touches, by the addresses of its lanes. */
#ifndef BASE_WARP_H
#define BASE_WARP_H

#include <stdbool.h>
#include <stdint.h>

enum { WARP_LANES = 32 };

/* Passes over the banks of shared memory that these loads or stores need, `bytes` each (1 to 16),
   of the lanes in a mask, and the smallest possible number. */
void warp_banks(const uintptr_t at[WARP_LANES], unsigned lanes, unsigned bytes, bool store,
                unsigned *needed, unsigned *ideal);

/* Distinct words of 4 bytes that these loads ask for, which constant memory serves one after the
   other, and the number if all lanes asked for the same. */
void warp_words(const uintptr_t at[WARP_LANES], unsigned lanes, unsigned bytes, unsigned *needed,
                unsigned *ideal);

/* The global memory that the accesses touch. */
struct warp_touched {
  unsigned sectors, lines; /* of 32 and of 128 bytes */
  /* each byte counted once; the fewest sectors that hold so many bytes */
  unsigned bytes, sectors_ideal;
};
struct warp_touched warp_sectors(const uintptr_t at[WARP_LANES], unsigned lanes, unsigned bytes);

#endif
