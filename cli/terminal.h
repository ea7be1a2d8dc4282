/* What people read on: how wide it is, and whether it has colours. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* The columns of what stdout goes to: COLUMNS, else the terminal's, else 80; 0 of a file or pipe without COLUMNS: no limit. */
int terminal_width(void);
/* Those of the terminal that stderr is, whatever COLUMNS says: a line that is drawn again must not wrap. */
int terminal_progress_width(void);
/* Of messages on stderr; 0: it is no terminal, so messages have no limit. */
int terminal_message_width(void);
/* Of a picture of characters, with labels so wide beside it: width is cli's, 0: no limit. */
int terminal_picture_width(int width, int labels);
/* stdout is a terminal, not a dumb one, and NO_COLOR is not set (no-color.org). */
bool terminal_has_colour(void);
/* Columns that UTF-8 text takes: East Asian characters take two, combining ones none; nor do colours. */
size_t terminal_columns(const char *text, size_t length);

#endif
