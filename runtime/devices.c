/* Finding a device's row by its id; see devices.h. */
#include "devices.h"

#include <stdlib.h>
#include <string.h>

static const struct device_ops *const rows[] = {&cuda_device_ops, &cpu_device_ops};

enum { ROW_COUNT = sizeof rows / sizeof *rows, HIGHEST_ORDINAL = 9999 };

/* Returns the number after "cuda:"; 0: the id ends before the colon; -1: `rest` is anything
   else. */
static int parse_ordinal(const char *rest) {
  if (!*rest) return 0;
  if (*rest != ':' || !rest[1] || strspn(rest + 1, "0123456789") != strlen(rest + 1)) return -1;
  long ordinal = strtol(rest + 1, NULL, 10);
  return ordinal <= HIGHEST_ORDINAL ? (int)ordinal : -1;
}

int device_find(const char *id, const struct device_ops **ops, int *ordinal, cugen_error *err) {
  *ops = NULL;
  for (size_t i = 0; i < ROW_COUNT; i++) {
    size_t length = strlen(rows[i]->kind);
    if (strncmp(id, rows[i]->kind, length)) continue;
    int number = parse_ordinal(id + length);
    if (number < 0) continue;
    *ops = rows[i];
    *ordinal = number;
    return CUGEN_OK;
  }

  const char *kinds[ROW_COUNT];
  for (size_t i = 0; i < ROW_COUNT; i++) kinds[i] = rows[i]->kind;
  struct text kind = {0};
  text_add_n(&kind, id, strcspn(id, ":"));
  const char *nearest = text_nearest(text_get(&kind), kinds, ROW_COUNT);
  error_set(err, CUGEN_ERROR_USAGE,
            "no device '%s'%s%s%s: there are cuda:0, cuda:1 and so on, cpu, and described ones "
            "such as model:H200",
            id, nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
  text_free(&kind);
  return CUGEN_ERROR_USAGE;
}
