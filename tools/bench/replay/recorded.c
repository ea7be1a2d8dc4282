/* A recorded space, and what strategies ask of it; see recorded.h. */
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- Variants by their positions ------------------------------------------------------------ */

static size_t slot_of(const struct recorded *recorded, const uint16_t *positions) {
  const uint64_t hash = hash_next(0, positions, recorded->axis_count * sizeof *positions);
  size_t slot = (size_t)hash & recorded->table_mask;
  for (; recorded->table[slot] != UINT32_MAX; slot = (slot + 1) & recorded->table_mask)
    if (memcmp(recorded->positions + recorded->table[slot] * recorded->axis_count, positions,
               recorded->axis_count * sizeof *positions) == 0)
      break;
  return slot;
}

int recorded_index(struct recorded *out, cugen_error *err) {
  size_t size = 4, kept = 0;
  while (size < 2 * out->count) size *= 2;
  out->table = malloc(size * sizeof *out->table);
  if (!out->table) return error_memory(err);
  memset(out->table, 0xff, size * sizeof *out->table);
  out->table_mask = size - 1;
  for (size_t i = 0; i < out->count; i++) {
    uint16_t *positions = out->positions + kept * out->axis_count;
    memmove(positions, out->positions + i * out->axis_count, out->axis_count * sizeof *positions);
    const size_t slot = slot_of(out, positions);
    if (out->table[slot] != UINT32_MAX) continue;
    out->table[slot] = (uint32_t)kept;
    out->costs[kept] = out->costs[i], out->compile[kept] = out->compile[i],
    out->total[kept++] = out->total[i];
  }
  out->count = kept;
  return CUGEN_OK;
}

void recorded_free(struct recorded *recorded) {
  for (size_t i = 0; i < recorded->axis_count; i++) {
    for (size_t v = 0; v < recorded->axes[i].count && recorded->axes[i].texts; v++)
      free(recorded->axes[i].texts[v]);
    free(recorded->axes[i].texts);
    free(recorded->axes[i].values);
    free(recorded->axes[i].name);
  }
  free(recorded->axes);
  free(recorded->positions);
  free(recorded->costs);
  free(recorded->compile);
  free(recorded->total);
  free(recorded->table);
  free(recorded->kernel);
  free(recorded->device);
  *recorded = (struct recorded){0};
}

/* ---- Asking --------------------------------------------------------------------------------- */

double recorded_compile(const struct recorded *recorded, size_t index) {
  return recorded->all_compile < 0 ? recorded->compile[index] : recorded->all_compile;
}

double recorded_total(const struct recorded *recorded, size_t index) {
  const double total = recorded->total[index], compile = recorded->compile[index];
  if (recorded->all_compile < 0 && recorded->all_else < 0) return total;
  return recorded_compile(recorded, index) +
         (recorded->all_else < 0 ? total - compile : recorded->all_else);
}

void recorded_print(const struct recorded *recorded, size_t index, struct text *out) {
  const uint16_t *positions = recorded->positions + index * recorded->axis_count;
  const size_t before = out->length;
  for (size_t i = 0; i < recorded->axis_count; i++)
    if (positions[i] != RECORDED_ABSENT)
      text_addf(out, "%s%s=%s", out->length > before ? " " : "", recorded->axes[i].name,
                recorded->axes[i].texts[positions[i]]);
}

void recorded_locate(const void *context, uint64_t index, uint16_t *positions) {
  const struct recorded *recorded = context;
  memcpy(positions, recorded->positions + index * recorded->axis_count,
         recorded->axis_count * sizeof *positions);
}

bool recorded_find(const void *context, const uint16_t *positions, uint64_t *index) {
  const struct recorded *recorded = context;
  const uint32_t found = recorded->table[slot_of(recorded, positions)];
  *index = found;
  return found != UINT32_MAX;
}

size_t recorded_neighbours(const void *context, uint64_t index, uint64_t *out) {
  const struct recorded *recorded = context;
  uint16_t positions[RECORDED_MOST_AXES];
  size_t count = 0;
  recorded_locate(context, index, positions);
  for (size_t i = 0; i < recorded->axis_count; i++) {
    const uint16_t own = positions[i];
    if (own == RECORDED_ABSENT) continue;
    for (positions[i] = 0; positions[i] < recorded->axes[i].count; positions[i]++)
      if (positions[i] != own && recorded_find(context, positions, &out[count])) count++;
    positions[i] = own;
  }
  return count;
}

size_t recorded_max_neighbours(const struct recorded *recorded) {
  size_t count = 0;
  for (size_t i = 0; i < recorded->axis_count; i++) count += recorded->axes[i].count - 1;
  return count;
}
