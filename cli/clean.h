/* Removes control characters from output, because names, messages and compilers' texts could
   control a terminal. */
#ifndef CLI_CLEAN_H
#define CLI_CLEAN_H

#include "wrap.h"

/* From this call on, all text printed to the streams stdout and stderr passes text_add_clean. Call
   this once in a process. Lines on stderr are broken to the width of its terminal. */
void clean_streams(void);

/* ---- Terminal control, which text that is printed to stdout cannot contain ------------------- */

/* From this call on, stdout's lines are broken between words to `width` columns; 0: not broken. */
bool clean_wrap(int width); /* false: buffered text cannot be written */
/* Writes out a question that was printed without a line end; the user's answer ends the line. */
void clean_prompt(void);
/* Sets how the following text is broken. */
void clean_kind(enum wrap_kind kind);

enum style { STYLE_PLAIN, STYLE_BEST, STYLE_BAD, STYLE_NOTE };
/* Sets the colour of the following text, if stdout has colours. */
void clean_style(enum style style);

#endif
