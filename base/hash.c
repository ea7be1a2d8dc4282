/* Content hashes by libxxhash; see hash.h. */
#include "hash.h"

#define XXH_STATIC_LINKING_ONLY /* for a hash state on the stack, without malloc */
#include <xxhash.h>

static struct hash to_text(XXH128_hash_t value) {
  static const char digits[] = "0123456789abcdef";
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, value);
  struct hash hash;
  for (int i = 0; i < 16; i++) {
    hash.hex[2 * i] = digits[canonical.digest[i] >> 4];
    hash.hex[2 * i + 1] = digits[canonical.digest[i] & 15];
  }
  hash.hex[32] = '\0';
  return hash;
}

struct hash hash_bytes(const void *data, size_t length) {
  return to_text(XXH3_128bits(data, length));
}

struct hash hash_pieces(const struct hash_piece *pieces, size_t count) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (size_t i = 0; i < count; i++) XXH3_128bits_update(&state, pieces[i].data, pieces[i].length);
  return to_text(XXH3_128bits_digest(&state));
}

int hash_stream(int (*next)(void *context, struct hash_piece *out), void *context,
                struct hash *out) {
  XXH3_state_t state;
  struct hash_piece piece;
  int status;
  XXH3_128bits_reset(&state);
  while (!(status = next(context, &piece)) && piece.length)
    XXH3_128bits_update(&state, piece.data, piece.length);
  if (!status) *out = to_text(XXH3_128bits_digest(&state));
  return status;
}

uint64_t hash_next(uint64_t before, const void *piece, size_t length) {
  return XXH3_64bits_withSeed(piece, length, before);
}
