/* Finds the place in a source that is the cause of a refused launch. A source is one text with
   #line directives, so a place is a file and line of the user. The source is read as text, not
   preprocessed. */
#ifndef BASE_SOURCE_PLACE_H
#define BASE_SOURCE_PLACE_H

#include "text.h"

/* The name of the prologue, which is no file, in #line directives. */
#define SOURCE_PROLOGUE "prologue"

/* The place of a line, by the #line directives in front of it. */
struct source_line {
  const char *file; /* in the source, not terminated; NULL: before the first #line */
  size_t length;
  int line;
};
/* If a directive `#line 12 "path"` begins at `at`, sets the place to line 11 and returns true. */
bool source_line_read(const char *at, struct source_line *place);
bool source_line_is(const struct source_line *place, const char *file, int line);
/* Return the first line that is no #line directive, and the next such line behind the line at `at`;
   "" at the end. *place becomes the place of the returned line. */
const char *source_line_first(const char *source, struct source_line *place);
const char *source_line_next(const char *at, struct source_line *place);

/* Returns the text behind the word if `at` begins with it as a whole word, else NULL. */
const char *source_after_word(const char *at, const char *word);
/* Finds the next place of a whole word of that length in [at, end); NULL: there is none. The text
   in front of `begin` does not count as part of a word. */
const char *source_find_word(const char *begin, const char *at, const char *end, const char *word,
                             size_t length);

enum source_cause {
  SOURCE_NOTHING,  /* no text of the source: source_place finds no place */
  SOURCE_BOUNDS,   /* a __launch_bounds__, preferably that of the kernel */
  SOURCE_CLUSTER,  /* a __cluster_dims__, preferably that of the kernel */
  SOURCE_SHARED,   /* a static __shared__ array, preferably one of the kernel itself */
  SOURCE_CONSTANT, /* a __constant__ variable */
  SOURCE_GRID_SYNC /* where all threads of a grid wait for each other, or else the first mention of
                      a grid group */
};

/* Appends the name of the file to *file and sets *line. entry: the kernel as it is launched
   ("reduce<4>"); NULL: any kernel. Returns false if the cause is not found in the source, for
   example because a header's macro contains it. */
bool source_place(const char *source, const char *entry, enum source_cause cause, struct text *file,
                  int *line);

#endif
