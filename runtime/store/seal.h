/* The seal of executable code: a MAC by a key that only this user can read. A cache uses only
   compiled kernels with a seal of this user's, so that a database which somebody else writes to
   cannot inject code. */
#ifndef RUNTIME_STORE_SEAL_H
#define RUNTIME_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { SEAL_BYTES = 32, SEAL_ID = 16 /* hexadecimal digits */ };

struct seal {
  bool known; /* false: there is no key, so nothing can be sealed and no seal is accepted */
  unsigned char key[SEAL_BYTES];
  char id[SEAL_ID + 1]; /* identifies the key without revealing it */
};

/* Opens the user's key: $XDG_STATE_HOME/cugen/image.key, else ~/.local/state/cugen/image.key, a
   file of mode 0600. make: create a missing key. If the key may not be used (for example because
   others can read it), *why (may be NULL) says so and what to do; if there is no key,
   *why stays empty. Two processes that create the key at once get the same key. */
void seal_open(bool make, struct seal *out, struct text *why);
/* Makes a random key that is never stored. */
void seal_fresh(struct seal *out);
void seal_forget(struct seal *seal);
/* Computes the MAC of facts and data together. */
void seal_make(const struct seal *seal, const struct text *facts, const void *data, size_t length,
               unsigned char mac[SEAL_BYTES]);
bool seal_holds(const struct seal *seal, const struct text *facts, const void *data, size_t length,
                const unsigned char mac[SEAL_BYTES]);

#endif
