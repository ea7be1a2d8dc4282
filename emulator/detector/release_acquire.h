/* Release and acquire: a fence followed by an atomic operation (or a volatile write) on a word
   releases the earlier accesses, and an atomic (or volatile) access that reads the written value,
   followed by a fence, acquires them. PTX ISA, "Memory Consistency Model: Release and Acquire
   Patterns". Orders threads of a block, and blocks when the earlier one has ended before the later
   one runs. */
#ifndef EMULATOR_DETECTOR_RELEASE_ACQUIRE_H
#define EMULATOR_DETECTOR_RELEASE_ACQUIRE_H

#include "happens_before.h"

struct release_acquire;

int ra_open(struct release_acquire **out, struct happens_before *hb, cugen_error *err);
void ra_close(struct release_acquire *ra);

void ra_launch(struct release_acquire *ra);
void ra_block(struct release_acquire *ra);
/* Must be called after hb_barrier. */
void ra_barrier(struct release_acquire *ra, unsigned rank);

/* A __threadfence(), or with device false a __threadfence_block(). */
void ra_fence(struct release_acquire *ra, unsigned thread, bool device);
/* Returns the epoch of the thread's last __threadfence() in this block; 0: none. */
uint32_t ra_last_fence(const struct release_acquire *ra, unsigned thread);
/* Returns an array with the epoch of each thread's last plain write to global memory, which the
   caller sets. */
uint32_t *ra_written(struct release_acquire *ra);

enum ra_use { RA_READ = 1, RA_WRITE = 2 };
/* Notes an atomic or volatile access to a word of memory, which may be a flag. *release: the number
   of the last release at that word, 0: none. The caller keeps it by word, and sets it to 0 at a
   plain write; this function updates it. */
void ra_use(struct release_acquire *ra, unsigned thread, uint32_t *release, int use);
/* Returns whether the release is of this launch; false for 0. */
bool ra_is_flag(const struct release_acquire *ra, uint32_t release);

/* Returns true if releases and acquires order `then`, an action of this launch, before the thread's
   present action, or if there are too many to tell. strong: the present access bypasses caches, and
   needs no fence before it. */
bool ra_orders(struct release_acquire *ra, const struct event *then, unsigned thread, bool strong);

#endif
