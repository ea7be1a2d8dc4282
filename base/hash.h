/* Content hashes: 128 bits of XXH3 (libxxhash), printed as 32 hexadecimal digits. The hashes are
   not cryptographic. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
  char hex[33];
};

struct hash hash_bytes(const void *data, size_t length);
/* Hashes the concatenation of pieces that lie apart in memory. */
struct hash_piece {
  const void *data;
  size_t length;
};
struct hash hash_pieces(const struct hash_piece *pieces, size_t count);
/* Hashes the concatenation of pieces that `next` gives one after another; a piece of length 0 ends
   them. Returns CUGEN_OK, or the status with which next failed. */
int hash_stream(int (*next)(void *context, struct hash_piece *out), void *context,
                struct hash *out);
/* A hash of 64 bits over contents that come in pieces: `before` is the result for the earlier
   pieces, 0 at first. Equal contents in other pieces give another hash. */
uint64_t hash_next(uint64_t before, const void *piece, size_t length);

/* A small seeded generator for repeatable orders and data (SplitMix64; Steele, Lea, Flood: Fast
   splittable pseudorandom number generators, OOPSLA 2014). */
static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif
