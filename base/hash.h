/* Content hashes: 128 bits of XXH3 (libxxhash), as 32 hexadecimal digits. For telling contents apart, not for
   security. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
  char hex[33];
};

struct hash hash_bytes(const void *data, size_t length);
/* 64 bits, of contents that come in pieces: `before` is what the pieces before gave, 0 at first. */
uint64_t hash_next(uint64_t before, const void *piece, size_t length);

/* A small seeded generator (SplitMix64, Steele et al. 2014) for repeatable orders and data. */
uint64_t random_next(uint64_t *state);

#endif
