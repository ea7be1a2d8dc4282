/* Looking for blocks without work; see ptx_survey.h. If the first block works and the last does
   not, the working blocks are usually those below a limit in each dimension, because `if (index >=
   n) return` ends the other blocks: bisection finds the limits. A sample of the whole grid checks
   the limits, and gives the share of working blocks if the limits are wrong. */
#include "ptx_survey.h"

#include <string.h>

enum {
  MOST_STEPS = 1500, /* instructions of a warp, enough to tell work from an early return */
  /* a block works if it executes at least 1 / WORKS of the busiest block's instructions */
  WORKS = 4,
  SAMPLES = 48,
  AGREE = 44 /* number of samples that must agree with the limits */
};

struct search {
  const struct ptx_kernel *kernel;
  const struct ptx_machine *machine;
  struct ptx_launch launch;
  long most; /* ptx_steps of the busiest block */
  long idle; /* ptx_steps of the last idle block that was found */
  int status;
  cugen_error *err;
};

static long steps_at(struct search *s, const uint32_t at[3]) {
  long steps = 0;
  memcpy(s->launch.at, at, sizeof s->launch.at);
  if (!s->status)
    s->status = ptx_steps(s->kernel, s->machine, &s->launch, MOST_STEPS, &steps, s->err);
  if (steps > s->most) s->most = steps;
  return steps;
}

static bool works(struct search *s, const uint32_t at[3]) {
  const long steps = steps_at(s, at);
  const bool idle = steps * WORKS < s->most;
  if (idle) s->idle = steps;
  return !idle;
}

/* Lists the middle block, the last block, the first block, and the block at the end of each
   dimension that has several blocks. */
static size_t list_ends(const struct ptx_launch *l, uint32_t out[6][3]) {
  size_t count = 0;
  memset(out, 0, 6 * sizeof *out);
  for (int d = 0; d < 3; d++) out[0][d] = l->grid[d] / 2, out[1][d] = l->grid[d] - 1;
  count = 3; /* the third is the first block */
  for (int d = 0; d < 3; d++)
    if (l->grid[d] > 1) out[count++][d] = l->grid[d] - 1;
  return count;
}

/* Returns the number of working blocks along a dimension, from the first block on. */
static uint32_t ptx_survey_find_limit(struct search *s, int dimension) {
  uint32_t at[3] = {0}, works_at = 0, idle_at = s->launch.grid[dimension];
  at[dimension] = idle_at - 1;
  if (works(s, at)) return idle_at;
  while (idle_at - works_at > 1 && !s->status) {
    at[dimension] = works_at + (idle_at - works_at) / 2;
    if (works(s, at))
      works_at = at[dimension];
    else
      idle_at = at[dimension];
  }
  return idle_at;
}

/* Chooses a block of the grid; successive indices spread evenly over the grid (Weyl's sequence, by
   the golden ratio). */
static void place_sample(const struct ptx_launch *l, int index, uint32_t out[3]) {
  const double golden = 0.6180339887498949;
  const double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2], turn = golden * (index + 1);
  uint64_t flat = (uint64_t)((turn - (double)(uint64_t)turn) * blocks);
  out[0] = (uint32_t)(flat % l->grid[0]);
  out[1] = (uint32_t)(flat / l->grid[0] % l->grid[1]);
  out[2] = (uint32_t)(flat / l->grid[0] / l->grid[1] % l->grid[2]);
}

/* Computes the share from the limits if the samples agree with them, else from the samples. */
static void find_share(struct search *s, const uint32_t limit[3], struct ptx_survey *out) {
  int agree = 0, working = 0;
  uint32_t found[3] = {0};
  for (int i = 0; i < SAMPLES && !s->status; i++) {
    uint32_t at[3];
    place_sample(&s->launch, i, at);
    const bool does = works(s, at);
    agree += does == (at[0] < limit[0] && at[1] < limit[1] && at[2] < limit[2]);
    working += does;
    if (does) memcpy(found, at, sizeof found);
  }
  out->working = 1;
  for (int d = 0; d < 3; d++) {
    out->working *= (double)limit[d] / s->launch.grid[d];
    out->at[d] = limit[d] / 2;
  }
  if (agree >= AGREE || !working) return;
  out->working = (double)working / SAMPLES;
  memcpy(out->at, found, sizeof found);
}

int ptx_survey(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
               const struct ptx_launch *launch, struct ptx_survey *out, cugen_error *err) {
  struct search s = {.kernel = kernel, .machine = machine, .launch = *launch, .err = err};
  uint32_t ends[6][3], limit[3] = {1, 1, 1};
  long steps[6];
  bool alike = true;
  const size_t count = list_ends(launch, ends);
  *out = (struct ptx_survey){.working = 1};
  memcpy(out->at, ends[0], sizeof out->at);
  for (size_t i = 0; i < count; i++) steps[i] = steps_at(&s, ends[i]);
  for (size_t i = 0; i < count; i++) alike &= steps[i] * WORKS >= s.most;
  if (alike || s.status) return s.status;
  const uint32_t first[3] = {0};
  if (works(&s, first))
    for (int d = 0; d < 3; d++) limit[d] = ptx_survey_find_limit(&s, d);
  find_share(&s, limit, out);
  out->idle = (double)s.idle / 2;
  return s.status;
}
