/* Exploration by a plan that serves: alternatives to the plan's variant, and their launches. */
#ifndef API_EXPLORING_H
#define API_EXPLORING_H

#include "api.h"
#include "runtime/plan.h"

struct exploration;

/* If the selection is exact, and earlier plans explored the problem after the last correct record,
   replaces *selection by the variant that they found and sets *settled. */
int exploration_recall(struct lookup *lookup, const cugen_outputs *outputs,
                       struct selection *selection, bool *settled, cugen_error *err);

/* What a plan explores. outputs: only variants with these outputs; NULL: any correct variant.
   exploration_open sets *out to NULL if there is nothing to explore. The device, the spec and the
   look-up's library must live until exploration_close. */
struct exploration_plan {
  struct device *device;
  const struct kernel_spec *spec;
  const struct cache_record *record;
  const cugen_outputs *outputs;
  double share;
};
int exploration_open(struct lookup *lookup, const struct exploration_plan *plan,
                     struct exploration **out, cugen_error *err);
/* Stores the variant on which the exploration settled, if it did, and frees the exploration. */
void exploration_close(struct exploration *exploration);

/* Binds the alternatives into calls[1] and following; calls has RACE_MOST entries, and calls[0] is
   the plan's own call. An alternative that cannot take the arguments gets NULL. memory: as for
   call_bind, for each argument. */
void exploration_bind(struct exploration *exploration, const struct memory *memory,
                      struct call **calls);
void exploration_unbind(struct call **calls);
/* Launches like call_launch_on. */
int exploration_launch(struct exploration *exploration, struct call *const *calls, void *stream,
                       cugen_error *err);
/* Ends exploration and launches only the plan's own variant from now on. Needed before an
   application looks at the plan's variables, because each alternative has variables of its own. */
void exploration_stop(struct exploration *exploration);
void exploration_describe(struct exploration *exploration, cugen_plan_exploration *out);

#endif
