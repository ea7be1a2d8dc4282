/* Ctrl-C, SIGTERM and SIGHUP (a terminal that is closed): asked for once, they end a measurement,
   or a walk over a space, cleanly. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

/* From here on the first such signal is only noted. One that comes more than a second later kills. */
void stop_catch(void);
bool stop_asked(void);
/* The exit code then: 130, 143 or 129. */
int stop_exit_code(void);

#endif
