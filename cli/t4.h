/* Converts records to T4, the format in which autotuners exchange measurements (docs/cache.md). */
#ifndef CLI_T4_H
#define CLI_T4_H

#include "cli.h"

struct t4 {
  json_t *results; /* in the order of the lines */
  json_t *names;   /* object whose keys are "implementation" and the tunables, as they first
                      appear */
  json_t *first;   /* the first record, whose space all other records must have; NULL: no record
                      yet */
  json_t *other;   /* a record of another space; NULL: none */
};

void t4_open(struct t4 *t4);
/* Adds whole lines of wisdom. */
void t4_add(struct t4 *t4, const char *text, size_t length);
/* Returns the whole document, which the caller releases. NULL: cli->error is set, because the
   records are of several spaces, or there are none. */
json_t *t4_whole(const struct t4 *t4, struct cli *cli);
/* Like t4_whole, but makes the document that Kernel Tuner's simulation mode reads. */
json_t *t4_as_cache(const struct t4 *t4, struct cli *cli);
void t4_close(struct t4 *t4);

#endif
