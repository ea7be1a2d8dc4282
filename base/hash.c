/* Content hashes by libxxhash; see hash.h. */
#include "hash.h"

#include <xxhash.h>

struct hash hash_bytes(const void *data, size_t length) {
  static const char digits[] = "0123456789abcdef";
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, length));
  struct hash hash;
  for (int i = 0; i < 16; i++) {
    hash.hex[2 * i] = digits[canonical.digest[i] >> 4];
    hash.hex[2 * i + 1] = digits[canonical.digest[i] & 15];
  }
  hash.hex[32] = '\0';
  return hash;
}

uint64_t hash_next(uint64_t before, const void *piece, size_t length) {
  return XXH3_64bits_withSeed(piece, length, before);
}
