/* Finds out whether all variants share a fault; see faults.h. */
#include "faults.h"

enum { SAMPLES = 64 };

/* Counts the variants of the listed implementations. Sets *index to the index in the space of the
   variant with the number `number` among those counted. */
static uint64_t count_variants(const struct space *space, const char *only, uint64_t number,
                               uint64_t *index) {
  size_t count;
  const struct space_implementation *all = space_implementations(space, &count);
  uint64_t variants = 0;
  for (size_t i = 0; i < count; i++) {
    if (only && !space_list_means(only, all[i].implementation->name)) continue;
    if (number >= variants && number - variants < all[i].valid)
      *index = all[i].first + (number - variants);
    variants += all[i].valid;
  }
  return variants;
}

int faults_everywhere(struct bench *bench, const char *implementations, bool *everywhere,
                      cugen_error *err) {
  const struct space *space = bench->target->space;
  uint64_t index = 0;
  const uint64_t variants = count_variants(space, implementations, 0, &index);
  const uint64_t samples = variants < SAMPLES ? variants : SAMPLES;
  int status = CUGEN_OK;
  *everywhere = true;
  for (uint64_t i = 0; i < samples && *everywhere && !status; i++) {
    struct candidate *c;
    count_variants(space, implementations, faults_sample(variants, samples, i), &index);
    status = candidate_open(bench, index, &c, err);
    *everywhere = !status && c->faulty;
    candidate_close(bench, c);
  }
  return status;
}
