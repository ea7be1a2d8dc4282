/* Catches Ctrl-C, SIGTERM and SIGHUP (a closed terminal): the first signal ends a measurement, or a
   walk over a space, cleanly. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

/* From this call on, the first of these signals is only noted. Another signal kills the process if
   the clock's whole seconds have advanced by two or more since then, which takes one to two
   seconds. */
void stop_catch(void);
bool stop_asked(void);
/* Returns the exit code after a signal: 130, 143 or 129. */
int stop_exit_code(void);

#endif
