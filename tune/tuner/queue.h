/* The expanded candidates that are being compiled or wait to be measured, oldest first. */
#ifndef TUNE_TUNER_QUEUE_H
#define TUNE_TUNER_QUEUE_H

#include "proposals.h"

struct queue {
  struct candidate **all;
  size_t count;
  size_t busy; /* number of candidates that keep the compile threads and the workers busy */
  size_t most; /* limit of `count` for new candidates; sharing_room may set a lower limit */
  size_t begun;
};

/* Makes room for `most` candidates and for `returned` ones that workers put back. Call queue_close
   even after an error. */
int queue_open(struct queue *q, size_t busy, size_t most, size_t returned, cugen_error *err);
void queue_close(struct queue *q, struct bench *bench);
/* Begins to compile the candidate, and queues it to be measured. Takes over the candidate. */
int queue_begin(struct queue *q, struct proposals *proposals, struct candidate *c,
                cugen_error *err);
/* Puts a candidate in front of all others. */
void queue_put_back(struct queue *q, struct candidate *c);
struct candidate *queue_take(struct queue *q, size_t place);

#endif
