/* Texts of settings in a table, "tiled BM=64 BN=64": what all rows of a group have is said once, below it. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The words of `text` that are among those of `others`, or that are not. To be freed; NULL: out of memory. */
char *settings_take(const char *text, const char *others, bool shared);

/* The variants of a table, grouped by their implementation. */
struct settings {
  char **texts; /* of the rows */
  size_t count;
  char **tried; /* what else was tried of implementations that have one row */
  size_t tried_count;
};

/* False: out of memory. */
bool settings_add(struct settings *settings, const char *text);
/* After the rows: another variant that was tried. */
bool settings_add_tried(struct settings *settings, const char *text);
/* Row i with what tells it from the others of its group: "tiled BM=64". The only row of its group is told from what else was tried of it,
   and is whole, shortest words first, where that is nothing. To be freed; NULL: out of memory. */
char *settings_short(const struct settings *settings, size_t i);
/* "tiled..: all rows have BN=64", a line for each group, and what to do with it. */
void settings_print(const struct settings *settings, FILE *out);
void settings_free(struct settings *settings);

#endif
