/* The memory that one access of a warp touches, by the addresses of its lanes. */
#ifndef BASE_WARP_H
#define BASE_WARP_H

#include <stdbool.h>
#include <stdint.h>

enum { WARP_LANES = 32 };

/* Counts the passes over the banks of shared memory that a load or store needs. at: the address of
   each lane; lanes: a mask of the lanes that take part; bytes: 1 to 16 for each lane. *ideal: the
   fewest passes for as many distinct words of the lanes that are served together. */
void warp_banks(const uintptr_t at[WARP_LANES], unsigned lanes, unsigned bytes, bool store,
                unsigned *needed, unsigned *ideal);

/* Counts the distinct words of 4 bytes that a load asks for; constant memory serves one word at a
   time. *ideal: the number if all lanes asked for the same bytes. */
void warp_words(const uintptr_t at[WARP_LANES], unsigned lanes, unsigned bytes, unsigned *needed,
                unsigned *ideal);

/* The global memory that a load or store touches. */
struct warp_touched {
  unsigned sectors, lines; /* of 32 and of 128 bytes */
  unsigned bytes;          /* each byte is counted once */
  unsigned sectors_ideal;  /* the fewest sectors that hold so many bytes */
};
struct warp_touched warp_sectors(const uintptr_t at[WARP_LANES], unsigned lanes, unsigned bytes);

#endif
