/* Canaries around memory; see canaries.h. */
#include "canaries.h"

#include <string.h>

enum { CANARY = 0xca };

void canaries_write(const struct canaries *c) {
  memset(c->low, CANARY, (size_t)(c->start - c->low));
  memset(c->end, CANARY, (size_t)(c->high - c->end));
}

static const unsigned char *first_changed(const unsigned char *at, const unsigned char *end) {
  while (at < end && *at == CANARY) at++;
  return at < end ? at : NULL;
}

bool canaries_changed(const struct canaries *c, bool *before, size_t *distance) {
  const unsigned char *above = first_changed(c->end, c->high),
                      *below = first_changed(c->low, c->start);
  if (!above && !below) return false;
  *before = !above;
  *distance = above ? (size_t)(above - c->end) : (size_t)(c->start - below);
  canaries_write(c);
  return true;
}
