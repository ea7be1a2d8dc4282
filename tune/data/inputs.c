/* Digests inputs in host memory and in device memory; see inputs.h. */
#include "inputs.h"

#include "base/hash.h"

enum { MOST_PIECES = 64 };

static size_t piece_count(size_t bytes) {
  size_t count = (bytes + INPUTS_PIECE - 1) / INPUTS_PIECE;
  return count < MOST_PIECES ? count : MOST_PIECES;
}

/* Returns the offset of the k-th piece, and its length through *length. */
static size_t inputs_piece_at(size_t bytes, size_t k, size_t *length) {
  *length = bytes < INPUTS_PIECE ? bytes : INPUTS_PIECE;
  if (bytes > (size_t)MOST_PIECES * INPUTS_PIECE) {
    size_t room = bytes - INPUTS_PIECE;
    return k + 1 < MOST_PIECES ? room / (MOST_PIECES - 1) * k : room;
  }
  size_t at = k * INPUTS_PIECE;
  if (bytes - at < *length) *length = bytes - at;
  return at;
}

uint64_t inputs_digest(const void *data, size_t bytes) {
  uint64_t digest = 0;
  size_t length;
  for (size_t k = 0; k < piece_count(bytes); k++) {
    size_t at = inputs_piece_at(bytes, k, &length);
    digest = hash_next(digest, (const char *)data + at, length);
  }
  return digest;
}

int inputs_digest_device(struct device *device, const struct memory *memory, size_t bytes,
                         void *piece, uint64_t *digest, cugen_error *err) {
  int status = CUGEN_OK;
  size_t length;
  *digest = 0;
  for (size_t k = 0; k < piece_count(bytes) && !status; k++) {
    size_t at = inputs_piece_at(bytes, k, &length);
    status = device->ops->download(device, piece, (char *)memory->device + at, length, err);
    *digest = hash_next(*digest, piece, length);
  }
  return status;
}
