/* The next block, here or in one of several processes; see watch_state.h and share.h. */
#include "watch_state.h"

/* Processes cost some milliseconds: what is left must take longer. */
static bool worth_spreading(const struct watch *w, uint64_t next) {
  static const double pays = 0.06;
  if (w->entangled || w->fenced || w->report->processes < 2) return false;
  const double spent = (double)(clock() - w->began) / CLOCKS_PER_SEC;
  return spent > pays / 6 && spent * (double)(w->blocks - next) / (double)next > pays;
}

static struct launch_counters *current_counters(const struct watch *w) {
  return &w->report->launches[w->report->launch_count - 1];
}

static void become_process(struct watch *w) {
  struct watch_report *own = share_report(w->share);
  *own = *w->report;
  w->report = own;
  traffic_move(w->traffic, current_counters(w));
}

static uint64_t next_in_process(struct watch *w) {
  const uint64_t next = share_next(w->share);
  if (next < w->blocks) return next;
  if (w->counting) watch_all_met(w);
  share_end(w->share);
}

/* What the processes have written is written for the launches that follow. */
static void take_written(struct watch *w, const struct share *share) {
  for (size_t i = 0; i < w->region_count; i++)
    for (uintptr_t at = 0; at < w->regions[i].end - w->regions[i].start; at++)
      if (share_written(share, i, at))
        w->regions[i].cells[at / WATCH_WORD].written |= (uint8_t)(1u << at % WATCH_WORD);
}

static uint64_t take_results(struct watch *w, const struct share *share) {
  const struct watch_report *report;
  const uint32_t slot = w->report->launch_count - 1;
  for (size_t i = 0; (report = share_result(share, i)) != NULL; i++)
    traffic_add(current_counters(w), &report->launches[slot]);
  take_written(w, share);
  w->report->spread++;
  return w->blocks;
}

static uint64_t take_hang(struct watch *w, const struct share *share) {
  const struct watch_report *report;
  for (size_t i = 0; (report = share_result(share, i)) != NULL; i++)
    for (uint32_t f = 0; f < report->finding_count; f++)
      if (report->findings[f].kind == WATCH_HANG) *w->report = *report;
  return WATCH_HUNG;
}

static uint64_t spread(struct watch *w, uint64_t next, uint64_t step) {
  struct share_memory memory[WATCH_MOST_BUFFERS];
  for (size_t i = 0; i < w->region_count; i++) {
    const struct region *r = &w->regions[i];
    memory[i] = (struct share_memory){(void *)r->start, r->read_only ? 0 : r->end - r->start};
  }
  if (w->counting) watch_all_met(w);
  w->entangled = true; /* once is enough */
  const int processes = (int)w->report->processes;
  const struct share_range range = {next, w->blocks, step, w->fork ? *w->fork : 0};
  const enum share_outcome outcome = share_run(memory, w->region_count, processes, &range, &w->share);
  struct share *share = w->share;
  if (outcome == SHARE_CHILD) {
    become_process(w);
    return next_in_process(w);
  }
  w->share = NULL;
  if (outcome == SHARE_DONE) next = take_results(w, share);
  if (outcome == SHARE_HANG) next = take_hang(w, share);
  share_close(share);
  return next;
}

static uint64_t divisor(uint64_t a, uint64_t b) {
  return b ? divisor(b, a % b) : a;
}

/* Each of how many blocks, for so many of all; so that they come from all rows and columns of the grid. */
uint64_t spread_evenly(const struct watch *w, uint64_t wanted) {
  uint64_t step = w->blocks > wanted ? w->blocks / wanted : 1;
  while (step > 1 && (divisor(step, w->launch.grid.x) > 1 || divisor(step, w->launch.grid.y) > 1)) step++;
  return step;
}

uint64_t spread_next(struct watch *w) {
  const uint64_t wanted = w->report->count_blocks;
  const uint64_t step = wanted ? spread_evenly(w, wanted) : 1;
  if (w->share) return next_in_process(w);
  const uint64_t next = w->block + step;
  if (next >= w->blocks) return w->blocks;
  return worth_spreading(w, next) ? spread(w, next, step) : next;
}
