/* Catches Ctrl-C, SIGTERM and SIGHUP (a closed terminal): the first signal ends a measurement, or a
   walk over a space, cleanly. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

/* From this call on, the first of these signals is only noted. A later signal kills the process if
   two seconds have passed, and may do so from one second on. */
void stop_catch(void);
bool stop_asked(void);
/* Returns the exit code after a signal: 130, 143 or 129. */
int stop_exit_code(void);

#endif
