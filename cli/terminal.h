/* The terminal: its width and colours, and the columns of text. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns COLUMNS if it is from 20 to 10000; else the width of the terminal on stdout, 80 if it is
   unknown, or 0 (no limit) if stdout is no terminal. */
int terminal_width(void);
/* Returns the width of the terminal on stderr, or 80 if it is unknown. COLUMNS is ignored, because
   a line that is redrawn must not wrap. */
int terminal_progress_width(void);
/* Returns the width for messages on stderr; 0: stderr is no terminal, and messages have no
   limit. */
int terminal_message_width(void);
/* Returns the columns, 40 to 120, of a picture of characters beside labels of `labels` columns.
   width: cli->width; 0 (no limit) counts as 80. */
int terminal_picture_width(int width, int labels);
/* Returns true if stdout is a terminal, TERM is set and not "dumb", and NO_COLOR is unset or empty
   (no-color.org). */
bool terminal_has_colour(void);
/* Returns the columns of UTF-8 text: East Asian characters take two, combining marks and colour
   escapes none. */
size_t terminal_columns(const char *text, size_t length);

#endif
