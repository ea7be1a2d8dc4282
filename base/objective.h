/* Objectives, by which variants are ranked: the time of a run, its energy, a rate, or an expression
   of these. NULL stands for the time, with the simplest variant preferred among those that tie. */
#ifndef BASE_OBJECTIVE_H
#define BASE_OBJECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum objective_kind {
  OBJECTIVE_TIME,
  OBJECTIVE_FLOPS, /* declared floating-point operations per second */
  OBJECTIVE_BYTES,
  OBJECTIVE_ENERGY,
  OBJECTIVE_ENERGY_DELAY, /* energy multiplied by time */
  OBJECTIVE_EXPRESSION,
  OBJECTIVES
};
extern const char *const objective_names[OBJECTIVES]; /* the words "time", ...; the last,
                                                         "expression", stands for any expression and
                                                         is not a word */

/* Which of the variants with tied costs an objective prefers. */
enum preference { PREFER_SIMPLEST, PREFER_REGISTERS, PREFER_ENERGY, PREFERENCES };

/* The time and energy of a run, and the declared work that it did; 0 if unknown. */
struct objective_values {
  double seconds, joules, flops, bytes;
};

struct objective {
  enum objective_kind kind;
  enum preference prefer;
  char *text;        /* as the user gave it: a word or an expression */
  struct expr *cost; /* the cost as an expression over the values */
  bool rate;         /* the greatest value is best, because the expression falls when time and
                        energy rise */
  bool needs_energy, needs_flops, needs_bytes; /* the cost mentions these values */
};

/* Parses a word of objective_names, or an expression over time (s), energy (J), power (W), flops
   and bytes. The message of a failure does not name the place of the text. */
int objective_open(const char *text, struct objective **out, cugen_error *err);
void objective_close(struct objective *objective);
/* Fails with CUGEN_ERROR_USAGE if there is no such word. */
int preference_find(const char *text, enum preference *out, cugen_error *err);

/* The kind, whether the cost needs an energy, and the preference; objective may be NULL. */
enum objective_kind objective_kind_of(const struct objective *objective);
bool objective_needs_energy(const struct objective *objective);
enum preference objective_prefers(const struct objective *objective);
/* The cost of a run; the smallest is best. If the objective needs an energy that is unknown, the
   cost is OBJECTIVE_UNKNOWN times the seconds, far above the costs of usual runs. Otherwise the
   cost is infinite if the declared work is missing or the expression gives no positive number. */
#define OBJECTIVE_UNKNOWN 1e60
double objective_cost(const struct objective *objective, const struct objective_values *values);
/* The cost if all variants drew the same power. */
double objective_cost_of_time(const struct objective *objective, double seconds, double flops,
                              double bytes);
/* The time at which objective_cost_of_time is `cost`; 0 if there is none between 1 ns and 1e6 s, or
   if the cost does not depend on the time. */
double objective_seconds_for(const struct objective *objective, double cost, double flops,
                             double bytes);
/* Returns whether the declared work that the objective uses is equal in a and b. */
bool objective_same_work(const struct objective *objective, const struct objective_values *a,
                         const struct objective_values *b);

#endif
