/* Breaks lines between words if they are longer than the terminal is wide. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum wrap_kind {
  WRAP_PROSE,
  WRAP_NOTHING /* lines are not broken */
};

/* The text comes in pieces; a word is held back until it ends. With all members zero, no line is
   broken. */
struct wrap {
  int width; /* 0: no limit */
  enum wrap_kind kind;
  bool begun;          /* the line has a word */
  size_t column, hang; /* current column, and column at which a continued line begins */
  size_t spaces;       /* spaces held back until the next word */
  bool colon;          /* the last word ended with a colon */
  /* Whether `word` is a command, which includes spaces: '\'' until the quote ends, ':' until the
     line ends; 0: no command. */
  char command;
  size_t length;
  char word[1024];
};

/* Writes the text to out, but holds back the last word until it ends. */
void wrap_add(struct wrap *wrap, const char *text, size_t length, FILE *out);
/* Adds text that takes no columns, such as a colour, to the word. */
void wrap_add_style(struct wrap *wrap, const char *escape, FILE *out);
/* Writes the word and the spaces that are held back. */
void wrap_end(struct wrap *wrap, FILE *out);

#endif
