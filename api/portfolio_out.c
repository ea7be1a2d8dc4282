/* Fills in cugen_portfolio; see portfolio_out.h. */
#include "portfolio_out.h"

#include <stdlib.h>

#include "base/array.h"

void portfolio_holding_drop(struct portfolio_holdings *h) {
  struct portfolio_holding *last = &h->all[--h->count];
  cache_portfolio_free(&last->kept);
  portfolio_body_free(&last->body);
  portfolio_data_free(&last->data);
  free(last->problems);
}

void portfolio_holdings_clear(void *from) {
  struct portfolio_holdings *h = from;
  while (h->count) portfolio_holding_drop(h);
  free(h->all);
  free(h->out);
  array_free_texts(h->skipped, h->skipped_count);
}

struct portfolio_holding *portfolio_holding_add(struct portfolio_holdings *h, cugen_error *err) {
  if (!ARRAY_ROOM(h->all, h->count) || !ARRAY_ROOM(h->out, h->count))
    return error_memory(err), NULL;
  h->all[h->count] = (struct portfolio_holding){0};
  h->out[h->count] = (cugen_portfolio){0};
  return &h->all[h->count++];
}

void portfolio_publish(const struct portfolio_holding *from, cugen_portfolio *out) {
  const struct portfolio_body *body = &from->body;
  int64_t missed = body->problems;
  for (size_t i = 0; i < body->count; i++) missed -= body->variants[i].serves;
  *out = (cugen_portfolio){.config = from->kept.config,
                           .problem_class = from->kept.class,
                           .device = from->kept.device,
                           .options = from->kept.options,
                           .objective = from->kept.objective,
                           .rule = body->rule,
                           .variants = body->variants,
                           .variant_count = body->count,
                           .doubted = body->doubted,
                           .kernels = (size_t)body->kernels,
                           .problems = (size_t)body->problems,
                           .mean = body->tuned_mean,
                           .worst = body->tuned_worst,
                           .held_out_mean = body->held_mean,
                           .held_out_worst = body->held_worst,
                           .learnt_at = from->kept.learnt_at,
                           .missed = missed > 0 ? (size_t)missed : 0};
}
