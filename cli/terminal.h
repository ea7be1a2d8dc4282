/* The terminal: its width, and whether it has colours. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the width of stdout: COLUMNS, else the terminal's width, else 80. 0: a file or pipe
   without COLUMNS has no limit. */
int terminal_width(void);
/* Returns the width of the terminal on stderr, whatever COLUMNS says, because a line that is
   redrawn must not wrap. */
int terminal_progress_width(void);
/* Returns the width for messages on stderr; 0: stderr is no terminal, and messages have no
   limit. */
int terminal_message_width(void);
/* Returns the width of a picture of characters that has labels of `labels` columns beside it.
   width: cli->width, 0: no limit. */
int terminal_picture_width(int width, int labels);
/* Returns true if stdout is a terminal that is not dumb, and NO_COLOR is not set (no-color.org). */
bool terminal_has_colour(void);
/* Returns the columns of UTF-8 text: East Asian characters take two, combining marks and colours
   none. */
size_t terminal_columns(const char *text, size_t length);

#endif
