/* A plan that explores while it serves: its alternatives, and its calls' launches. */
#ifndef API_EXPLORING_H
#define API_EXPLORING_H

#include "api.h"
#include "runtime/plan.h"

struct exploration;

/* What earlier plans found out while serving, if nothing right of this problem was measured since: it takes *selection's place, and *settled. */
int exploration_recall(struct lookup *lookup, const cugen_outputs *outputs, struct selection *selection,
                       bool *settled, cugen_error *err);

/* What is there besides the plan's own variant. outputs: only what gave these; NULL: whatever is right. *out is NULL where there is
   nothing to explore. What is passed is borrowed until exploration_close; the lookup only until this returns. */
struct exploration_plan {
  struct device *device;
  const struct kernel_spec *spec;
  const struct cache_record *record;
  const cugen_outputs *outputs;
  double share;
};
int exploration_open(struct lookup *lookup, const struct exploration_plan *plan, struct exploration **out,
                     cugen_error *err);
/* Remembers what was found out. */
void exploration_close(struct exploration *exploration);

/* The alternatives' calls into calls[1] on, which holds RACE_MOST; calls[0] is the plan's own. One that cannot take the arguments stays
   NULL. given: what cugen_call_bind was given. */
void exploration_bind(struct exploration *exploration, const struct memory *memory, struct call **calls);
void exploration_unbind(struct call **calls);
/* As call_launch_on. */
int exploration_launch(struct exploration *exploration, struct call *const *calls, void *stream, cugen_error *err);
/* From now on the plan's own variant alone: the others have variables of their own, and an application looks at the plan's. */
void exploration_stop(struct exploration *exploration);
void exploration_describe(struct exploration *exploration, cugen_plan_exploration *out);

#endif
