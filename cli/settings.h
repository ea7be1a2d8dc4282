/* Shortens texts of settings in a table, "tiled BM=64 BN=64": settings that all rows of an
   implementation share are printed once, below the table. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the words of `text` that are in `others` if `shared`, else those that are not. The caller
   frees the result; NULL: out of memory. */
char *settings_take(const char *text, const char *others, bool shared);

/* The variants of a table. */
struct settings {
  char **texts; /* texts of the rows */
  size_t count;
  char **tried; /* other tried variants of implementations with a single row */
  size_t tried_count;
};

/* Returns false if there is no memory. */
bool settings_add(struct settings *settings, const char *text);
/* Adds a tried variant; called after all rows were added. */
bool settings_add_tried(struct settings *settings, const char *text);
/* Returns row i with the words that distinguish it from the other rows of its implementation:
   "tiled BM=64". A single row is distinguished from the tried variants; without these it keeps all
   words, the shortest first. The caller frees the text; NULL: out of memory. */
char *settings_short(const struct settings *settings, size_t i);
/* Prints a line for each implementation whose rows share words, "tiled..: all rows have BN=64". */
void settings_print(const struct settings *settings, FILE *out);
void settings_free(struct settings *settings);

#endif
