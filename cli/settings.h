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
};

/* False: out of memory. */
bool settings_add(struct settings *settings, const char *text);
/* Row i with what tells it from the others of its group: "tiled BM=64". To be freed; NULL: out of memory. */
char *settings_short(const struct settings *settings, size_t i);
/* "tiled: all rows have BN=64", a line for each group. */
void settings_print(const struct settings *settings, FILE *out);
void settings_free(struct settings *settings);

#endif
