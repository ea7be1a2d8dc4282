/* Finds out whether all variants share a fault; see faults.h. */
#include "faults.h"

enum { SAMPLES = 64 };

static bool faults_is_wanted(const struct space_implementation *one, const char *only) {
  return !only || space_list_means(only, one->implementation->name);
}

/* Sets *index to the index in the space of the i-th variant of those implementations; returns false
   if there are fewer. */
static bool find_index(const struct space *space, const char *only, uint64_t i, uint64_t *index) {
  size_t count;
  const struct space_implementation *all = space_implementations(space, &count);
  for (size_t k = 0; k < count; k++) {
    if (!faults_is_wanted(&all[k], only)) continue;
    *index = all[k].first + i;
    if (i < all[k].valid) return true;
    i -= all[k].valid;
  }
  return false;
}

static uint64_t count_variants(const struct space *space, const char *only) {
  size_t count;
  const struct space_implementation *all = space_implementations(space, &count);
  uint64_t variants = 0;
  for (size_t k = 0; k < count; k++)
    if (faults_is_wanted(&all[k], only)) variants += all[k].valid;
  return variants;
}

/* Draws one variant out of each of so many equal parts, from a varying place of the part, so that
   inner tunables take all values. */
static uint64_t faults_draw(uint64_t variants, uint64_t i) {
  const uint64_t part = variants / SAMPLES;
  return variants <= SAMPLES ? i : i * part + (i * UINT64_C(0x9e3779b97f4a7c15) >> 32) % part;
}

static int is_faulty(struct bench *bench, uint64_t index, bool *faulty, cugen_error *err) {
  struct candidate *c;
  int status = candidate_open(bench, index, &c, err);
  if (status) return status;
  *faulty = c->faulty;
  candidate_close(bench, c);
  return CUGEN_OK;
}

int faults_everywhere(struct bench *bench, const char *implementations, bool *everywhere,
                      cugen_error *err) {
  const struct space *space = bench->target->space;
  const uint64_t variants = count_variants(space, implementations);
  const uint64_t samples = variants < SAMPLES ? variants : SAMPLES;
  int status = CUGEN_OK;
  *everywhere = true;
  for (uint64_t i = 0; i < samples && *everywhere && !status; i++) {
    uint64_t index;
    if (find_index(space, implementations, faults_draw(variants, i), &index))
      status = is_faulty(bench, index, everywhere, err);
  }
  return status;
}
