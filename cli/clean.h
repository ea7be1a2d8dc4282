/* What a person reads: names, messages and compilers' words come from strangers, and may steer a terminal. */
#ifndef CLI_CLEAN_H
#define CLI_CLEAN_H

#include "wrap.h"

/* From here on all that goes to stdout and stderr passes api_clean_text, JSON too, where what it writes means the same: once for a
   process. Messages fit the terminal that stderr is. */
void clean_streams(void);

/* ---- What only this program may do to the terminal: text that goes to stdout cannot ---- */

/* From here on stdout's lines are broken between words to that width; 0: they stay as they are. */
bool clean_wrap(int width); /* false: what was kept cannot be written */
/* A question stands there, whole; whoever answers it ends the line. */
void clean_prompt(void);
/* How the text is broken that follows. */
void clean_kind(enum wrap_kind kind);

enum style { STYLE_PLAIN, STYLE_BEST, STYLE_BAD, STYLE_NOTE };
/* The colour of the text that follows; nothing where stdout has none. */
void clean_style(enum style style);

#endif
