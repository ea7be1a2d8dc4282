/* Translates messages of the library to the command line's options. */
#ifndef CLI_OPTION_NAMES_H
#define CLI_OPTION_NAMES_H

#include "cugen.h"

/* The library's messages name options as C does, "cugen_options.toolkit"; here they become
   "--toolkit". */
struct message {
  char text[sizeof((cugen_error *)0)->message];
};
struct message message_own(const char *text);

#endif
