/* The queue of candidates; see queue.h. */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

int queue_open(struct queue *q, size_t busy, size_t most, size_t returned, cugen_error *err) {
  q->busy = busy;
  q->most = most;
  q->all = calloc(most + returned, sizeof *q->all);
  return q->all ? CUGEN_OK : error_memory(err);
}

void queue_close(struct queue *q, struct bench *bench) {
  for (size_t i = 0; i < q->count; i++) candidate_close(bench, q->all[i]);
  free(q->all);
}

int queue_begin(struct queue *q, struct proposals *proposals, struct candidate *c,
                cugen_error *err) {
  int status = candidate_build(&proposals->run->bench, c, err);
  if (status) {
    candidate_close(&proposals->run->bench, c);
    return status;
  }
  proposals_count_prior(proposals, c->index);
  q->begun++;
  q->all[q->count++] = c;
  return CUGEN_OK;
}

void queue_put_back(struct queue *q, struct candidate *c) {
  memmove(q->all + 1, q->all, q->count++ * sizeof *q->all);
  q->all[0] = c;
}

struct candidate *queue_take(struct queue *q, size_t place) {
  struct candidate *c = q->all[place];
  q->count--;
  memmove(&q->all[place], &q->all[place + 1], (q->count - place) * sizeof *q->all);
  return c;
}
