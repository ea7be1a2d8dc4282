/* Records in T4, the format in which autotuners exchange what they measured; docs/cache.md has the fields. */
#ifndef CLI_T4_H
#define CLI_T4_H

#include "cli.h"

struct t4 {
  json_t *results; /* as they come */
  json_t *names;   /* an object whose members are the tunables, in the order they came */
  json_t *first;   /* whose key all others must have; NULL: none came yet */
  json_t *other;   /* one that has another; NULL: none */
};

void t4_open(struct t4 *t4);
/* Whole lines of wisdom. */
void t4_add(struct t4 *t4, const char *text, size_t length);
/* The whole, to be released; NULL: cli->error is set, since records are of more than one space, or of none. */
json_t *t4_whole(const struct t4 *t4, struct cli *cli);
/* The same as Kernel Tuner's simulation mode reads it. */
json_t *t4_as_cache(const struct t4 *t4, struct cli *cli);
void t4_close(struct t4 *t4);

#endif
