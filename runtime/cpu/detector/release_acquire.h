/* Release and acquire: a fence and then an atomic operation (or a volatile write) on a word releases what came before, and an
   atomic (or volatile) access that finds it there, with a fence behind it, acquires it: a ticket, a lock, a flag. PTX ISA,
   "Memory Consistency Model: Release and Acquire Patterns". It orders threads of a block, and blocks, of which the earlier has
   ended when the later runs. ra_ is release and acquire. */
#ifndef RUNTIME_CPU_DETECTOR_RELEASE_ACQUIRE_H
#define RUNTIME_CPU_DETECTOR_RELEASE_ACQUIRE_H

#include "happens_before.h"

struct release_acquire;

int ra_open(struct release_acquire **out, struct happens_before *hb, cugen_error *err);
void ra_close(struct release_acquire *ra);

void ra_launch(struct release_acquire *ra);
void ra_block(struct release_acquire *ra);
/* After hb_barrier. */
void ra_barrier(struct release_acquire *ra, unsigned rank);

/* __threadfence(), or with device false __threadfence_block(). */
void ra_fence(struct release_acquire *ra, unsigned thread, bool device);
/* The thread's last __threadfence() in this block; 0: there was none. */
uint32_t ra_last_fence(const struct release_acquire *ra, unsigned thread);
/* The epoch in which each thread last wrote to global memory, plainly: whoever sees such a write sets it. */
uint32_t *ra_written(struct release_acquire *ra);

/* *word: what was released at the word that is used as a flag; 0: nothing. A plain write to it sets it to 0. */
enum ra_use { RA_READ = 1, RA_WRITE = 2 };
void ra_use(struct release_acquire *ra, unsigned thread, uint32_t *word, int use);
/* Whether something was released there in this launch. */
bool ra_is_flag(const struct release_acquire *ra, uint32_t word);

/* Whether releases and acquires order `then`, of this launch, before what the thread does now. strong: that looks past caches, and needs no
   fence before it. */
bool ra_orders(struct release_acquire *ra, const struct event *then, unsigned thread, bool strong);

#endif
