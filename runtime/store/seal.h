/* The seal of what is executed: a keyed check (MAC) by a key that only this user can read. A cache keeps compiled kernels
   under it, so that a database of somebody else's cannot bring code along. */
#ifndef RUNTIME_STORE_SEAL_H
#define RUNTIME_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { SEAL_BYTES = 32, SEAL_ID = 16 /* hexadecimal digits */ };

struct seal {
  bool known; /* false: there is no key, nothing can be sealed and nothing is of this user */
  unsigned char key[SEAL_BYTES];
  char id[SEAL_ID + 1]; /* which key, without saying anything about it */
};

/* The user's key: $XDG_STATE_HOME/cugen/image.key, else ~/.local/state/cugen/image.key, a file of mode 0600. make: one that is
   not there is made. Where it may not be used (others can read it, it is somebody else's), *why, which may be NULL, says so and
   what to do; where there is none and no place for it, nothing is said. Of two processes that make it at once both get one key. */
void seal_open(bool make, struct seal *out, struct text *why);
/* A key that nobody else ever has. */
void seal_fresh(struct seal *out);
void seal_forget(struct seal *seal);
/* Of facts and data together. */
void seal_make(const struct seal *seal, const struct text *facts, const void *data, size_t length,
               unsigned char mac[SEAL_BYTES]);
bool seal_holds(const struct seal *seal, const struct text *facts, const void *data, size_t length,
                const unsigned char mac[SEAL_BYTES]);

#endif
