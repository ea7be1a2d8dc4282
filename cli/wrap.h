/* Lines for people: broken between words where they are longer than the terminal is wide. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum wrap_kind {
  WRAP_PROSE,
  WRAP_NOTHING /* lines stay as they are */
};

/* Text comes in pieces; a word is kept until it ends. All zero: nothing is broken. */
struct wrap {
  int width; /* 0: no limit */
  enum wrap_kind kind;
  bool begun;          /* the line has a word */
  size_t column, hang; /* where the line is, and where it goes on when it is broken */
  size_t spaces;       /* that wait for the next word */
  bool colon;          /* the last word ended with one */
  char
      command; /* the word is a command, with its spaces: '\'' until the quote ends, ':' until the line does, 0: none */
  size_t length;
  char word[1024];
};

/* Writes to out what is certain. */
void wrap_add(struct wrap *wrap, const char *text, size_t length, FILE *out);
/* What takes no columns: a colour. */
void wrap_add_style(struct wrap *wrap, const char *escape, FILE *out);
/* What is left of the line. */
void wrap_end(struct wrap *wrap, FILE *out);

#endif
