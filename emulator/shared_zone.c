/* Laying out dynamic shared memory; see shared_zone.h. A block's memory is in the middle of its
   room, with its end as near to a page's end as alignment permits. */
#include "shared_zone.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "canaries.h"

enum { UNWRITTEN = 0xff, SOFT = 1 << 14 };

/* Returns one block's memory, with the writable bytes around it as canaries. */
static struct canaries shared_zone_canaries_of(const struct shared_zone *z, unsigned block) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t used = (z->bytes + z->alignment - 1) / z->alignment * z->alignment;
  unsigned char *middle = (unsigned char *)z->base + block * (size_t)SHARED_ROOM + SHARED_ROOM / 2;
  unsigned char *start = middle - used, *low = middle - (used + page - 1) / page * page;
  const size_t around = z->soft ? SOFT : 0;
  return (struct canaries){low - around, start, start + z->bytes, middle + around};
}

void shared_zone_free(struct shared_zone *z) {
  if (z->base) munmap(z->base, z->reserved);
  *z = (struct shared_zone){.soft = z->soft};
}

int shared_zone_prepare(struct shared_zone *z, unsigned blocks, size_t bytes, size_t alignment,
                        cugen_error *err) {
  if (z->base && blocks <= z->blocks && bytes == z->bytes && alignment == z->alignment)
    return CUGEN_OK;
  const size_t reserved = blocks * (size_t)SHARED_ROOM;
  shared_zone_free(z);
  char *base = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return error_set(err, CUGEN_ERROR_MEMORY, "shared memory: %s", strerror(errno));
  *z = (struct shared_zone){.base = base,
                            .reserved = reserved,
                            .blocks = blocks,
                            .bytes = bytes,
                            .alignment = alignment,
                            .soft = z->soft};
  z->start = (char *)shared_zone_canaries_of(z, 0).start;
  for (unsigned i = 0; i < blocks; i++) {
    const struct canaries e = shared_zone_canaries_of(z, i);
    if (e.low == e.high) continue;
    if (mprotect(e.low, (size_t)(e.high - e.low), PROT_READ | PROT_WRITE)) {
      const int status = error_set(err, CUGEN_ERROR_MEMORY, "shared memory: %s", strerror(errno));
      shared_zone_free(z);
      return status;
    }
    memset(e.start, UNWRITTEN, bytes);
    canaries_write(&e);
  }
  return CUGEN_OK;
}

int shared_zone_check(const struct shared_zone *z, cugen_error *err) {
  size_t distance;
  bool before;
  for (unsigned i = 0; i < z->blocks; i++) {
    const struct canaries canaries = shared_zone_canaries_of(z, i);
    if (!canaries_changed(&canaries, &before, &distance)) continue;
    return error_set_cause(
        err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS,
        "write at byte %zu %s of %zu bytes of dynamic shared memory" SHARED_ZONE_HINT, distance,
        before ? "before the start" : "past the end", z->bytes);
  }
  return CUGEN_OK;
}

bool shared_zone_find(const struct shared_zone *z, const void *address, bool *before,
                      size_t *distance) {
  const uintptr_t offset = (uintptr_t)address - (uintptr_t)z->base;
  if (!z->base || offset >= z->reserved) return false;
  const uintptr_t start = (uintptr_t)z->start + offset / SHARED_ROOM * SHARED_ROOM;
  *before = (uintptr_t)address < start;
  *distance = *before ? start - (uintptr_t)address : (uintptr_t)address - start - z->bytes;
  return true;
}
