/* Order by flags: a fence and then an atomic operation (or a volatile write) on a word, and a fence behind an atomic (or
   volatile) access that found it there: a ticket, a lock, a flag. PTX ISA, "Memory Consistency Model: Release and Acquire
   Patterns". It orders threads of a block, and blocks, of which the earlier has ended when the later runs. */
#ifndef RUNTIME_CPU_FLAGS_H
#define RUNTIME_CPU_FLAGS_H

#include "order.h"

struct flags;

int flags_open(struct flags **out, struct order *order, cugen_error *err);
void flags_close(struct flags *flags);

void flags_launch(struct flags *flags);
void flags_block(struct flags *flags);
/* After order_barrier. */
void flags_barrier(struct flags *flags, unsigned rank);

/* __threadfence(), or with device false __threadfence_block(). */
void flags_fence(struct flags *flags, unsigned thread, bool device);
/* A plain write to global memory. */
void flags_written(struct flags *flags, unsigned thread);

/* *word: what is known at the word that is used as a flag; 0: nothing. A plain write to it sets it to 0. */
enum flags_use { FLAGS_READ = 1, FLAGS_WRITE = 2 };
void flags_use(struct flags *flags, unsigned thread, uint32_t *word, int use);
/* Whether somebody has said something there in this launch. */
bool flags_is_flag(const struct flags *flags, uint32_t word);

/* Whether flags order `then`, of this launch, before what the thread does now. strong: that looks past caches, and needs no
   fence before it. */
bool flags_order(struct flags *flags, const struct moment *then, unsigned thread, bool strong);

#endif
