/* What variants are ranked by: the time of a run, its energy, a rate, or an expression of these. A value that configs and options give
   and that whoever compares records gets; NULL is the time, with the simplest of those that tie. */
#ifndef BASE_OBJECTIVE_H
#define BASE_OBJECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum objective_kind {
  OBJECTIVE_TIME,
  OBJECTIVE_FLOPS, /* the declared work in a second */
  OBJECTIVE_BYTES,
  OBJECTIVE_ENERGY,
  OBJECTIVE_ENERGY_DELAY, /* energy times time */
  OBJECTIVE_EXPRESSION,
  OBJECTIVES
};
extern const char
    *const objective_names[OBJECTIVES]; /* the words: "time", ...; the last is "expression", which is none */

/* What the objective takes of those whose costs tie. */
enum preference { PREFER_SIMPLEST, PREFER_REGISTERS, PREFER_ENERGY, PREFERENCES };
extern const char *const preference_names[PREFERENCES]; /* "simplest", ... */

/* What a run took, and the work that it did. 0: not known. */
struct objective_values {
  double seconds, joules, flops, bytes;
};

struct objective {
  enum objective_kind kind;
  enum preference prefer;
  char *text;        /* as it was given: a word, or an expression */
  struct expr *cost; /* over the values */
  bool rate;         /* an expression of which the greatest is the best: it falls when time and energy rise */
  bool needs_energy, needs_flops, needs_bytes;
};

/* A word of objective_names or an expression over time (s), energy (J), power (W), flops and bytes. The message of a refusal is to be
   prefixed with where the text stands. */
int objective_open(const char *text, struct objective **out, cugen_error *err);
void objective_close(struct objective *objective);
/* CUGEN_ERROR_USAGE: no such word. */
int preference_find(const char *text, enum preference *out, cugen_error *err);

enum objective_kind objective_kind_of(const struct objective *objective);
bool objective_needs_energy(const struct objective *objective);
enum preference objective_prefers(const struct objective *objective);
/* Less is better. Without the energy that it needs, it is more than any that is known, and by time: OBJECTIVE_UNKNOWN times the seconds.
   Infinite without work, or where it comes out as no number above 0. */
#define OBJECTIVE_UNKNOWN 1e60
double objective_cost(const struct objective *objective, const struct objective_values *values);
/* The cost where all draw the same power: by it a search ranks what has no energy yet. */
double objective_cost_of_time(const struct objective *objective, double seconds, double flops, double bytes);
/* The time of that cost, as objective_cost_of_time has it; 0: none, or more than one. */
double objective_seconds_for(const struct objective *objective, double cost, double flops, double bytes);
/* Whether the declared work that it ranks by is the same. */
bool objective_same_work(const struct objective *objective, const struct objective_values *a,
                         const struct objective_values *b);

#endif
