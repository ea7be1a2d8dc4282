/* Choosing the next block, in this process or in parallel processes; see speculation.h. */
#include "state.h"

/* Returns true if blocks may run in processes, and the remaining blocks take so long that starting
   processes pays. */
static bool worth_processes(const struct watch *w, uint64_t next) {
  static const double pays = 0.06; /* seconds */
  if (w->entangled || w->fenced || w->report->processes < 2) return false;
  const double spent = (double)(clock() - w->began) / CLOCKS_PER_SEC;
  return spent > pays / 6 && spent * (double)(w->blocks - next) / (double)next > pays;
}

static struct launch_counters *current_counters(const struct watch *w) {
  return &w->report->launches[w->report->launch_count - 1];
}

static void blocks_become_process(struct watch *w) {
  struct watch_report *own = speculation_report(w->speculation);
  *own = *w->report;
  own->elsewhere = 0;
  for (uint32_t i = 0; i < own->finding_count; i++) own->findings[i].count = 0;
  w->report = own;
  traffic_move(w->traffic, current_counters(w));
  access_forget(w); /* from here on accesses are claimed */
}

static uint64_t next_in_process(struct watch *w) {
  const uint64_t next = speculation_next(w->speculation);
  if (next < w->blocks) return next;
  if (w->counting) traffic_all_met(w->traffic, w->launch.padded);
  speculation_end(w->speculation);
}

/* Marks what the processes have written as written, for the next launches. */
static void take_written(struct watch *w, const struct speculation *speculation) {
  for (size_t i = 0; i < w->region_count; i++)
    for (uintptr_t at = 0; at < w->regions[i].end - w->regions[i].start; at++)
      if (speculation_written(speculation, i, at))
        w->regions[i].cells[at / WATCH_WORD].written |= (uint8_t)(1u << at % WATCH_WORD);
}

static void take_report(struct watch *w, const struct watch_report *report, uint32_t slot) {
  traffic_add(current_counters(w), &report->launches[slot]);
  w->report->elsewhere += report->elsewhere;
  w->report->dependent |= report->dependent;
  /* the findings are from before the fork, because a new finding ends the processes */
  for (uint32_t i = 0; i < w->report->finding_count; i++) {
    w->report->findings[i].count += report->findings[i].count;
    w->report->findings[i].same_value &= report->findings[i].same_value;
  }
  for (size_t i = 0; i < sizeof report->reached; i++) w->report->reached[i] |= report->reached[i];
}

static uint64_t blocks_take_results(struct watch *w, const struct speculation *speculation) {
  const struct watch_report *report;
  const uint32_t slot = w->report->launch_count - 1;
  for (size_t i = 0; (report = speculation_result(speculation, i)) != NULL; i++)
    take_report(w, report, slot);
  take_written(w, speculation);
  w->report->spread++;
  return w->blocks;
}

static uint64_t take_hang(struct watch *w, const struct speculation *speculation) {
  const struct watch_report *report;
  for (size_t i = 0; (report = speculation_result(speculation, i)) != NULL; i++)
    for (uint32_t f = 0; f < report->finding_count; f++)
      if (report->findings[f].kind == CUGEN_FINDING_HANG) *w->report = *report;
  return OBSERVER_HUNG;
}

static uint64_t speculate(struct watch *w, uint64_t next, uint64_t step) {
  struct speculation_memory memory[WATCH_MOST_BUFFERS];
  for (size_t i = 0; i < w->region_count; i++) {
    const struct region *r = &w->regions[i];
    memory[i] = (struct speculation_memory){(void *)r->start, r->read_only ? 0 : r->end - r->start};
  }
  if (w->counting) traffic_all_met(w->traffic, w->launch.padded);
  if (w->overwriting.finding) finding_compare(w);
  w->entangled = true; /* speculation is not tried again */
  const int processes = (int)w->report->processes;
  const struct speculation_range range = {next, w->blocks, step, w->fork ? *w->fork : 0};
  const enum speculation_outcome outcome =
      speculation_run(memory, w->region_count, processes, &range, &w->speculation);
  struct speculation *speculation = w->speculation;
  if (outcome == SPECULATION_CHILD) {
    blocks_become_process(w);
    return next_in_process(w);
  }
  w->speculation = NULL;
  if (outcome == SPECULATION_DONE) next = blocks_take_results(w, speculation);
  if (outcome == SPECULATION_HANG) next = take_hang(w, speculation);
  speculation_close(speculation);
  return next;
}

bool parallel_decided(const struct watch *w) {
  return !w->speculation && (w->entangled || w->report->processes < 2);
}

static uint64_t divisor(uint64_t a, uint64_t b) {
  return b ? divisor(b, a % b) : a;
}

uint64_t parallel_step(const struct watch *w, uint64_t wanted) {
  uint64_t step = w->blocks > wanted ? w->blocks / wanted : 1;
  while (step > 1 && (divisor(step, w->launch.grid.x) > 1 || divisor(step, w->launch.grid.y) > 1))
    step++;
  return step;
}

uint64_t parallel_next(struct watch *w) {
  const uint64_t wanted = w->report->count_blocks;
  const uint64_t step = wanted ? parallel_step(w, wanted) : 1;
  if (w->speculation) return next_in_process(w);
  const uint64_t next = w->block + step;
  if (next >= w->blocks) return w->blocks;
  return worth_processes(w, next) ? speculate(w, next, step) : next;
}
