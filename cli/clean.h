/* What a person reads: names, messages and compilers' words come from strangers, and may steer a terminal. */
#ifndef CLI_CLEAN_H
#define CLI_CLEAN_H

/* From here on all that goes to stdout and stderr passes cugen_clean_text, JSON too, where what it writes means the same: once for a process. */
void clean_streams(void);

#endif
