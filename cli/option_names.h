/* Options as the library's messages name them. */
#ifndef CLI_OPTION_NAMES_H
#define CLI_OPTION_NAMES_H

#include "api/tools.h"

/* What the library says names its options as C does, "cugen_options.toolkit"; here it is "--toolkit". */
struct message {
  char text[sizeof((cugen_error *)0)->message];
};
struct message message_own(const char *text);

#endif
