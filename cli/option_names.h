/* Translates messages of the library to the command line's options. */
#ifndef CLI_OPTION_NAMES_H
#define CLI_OPTION_NAMES_H

#include "cli.h"

/* A message of the library, in which the name of an option in C, "cugen_options.toolkit", has
   become "--toolkit". */
struct message {
  char text[sizeof((cugen_error *)0)->message];
};
struct message message_own(const char *text);
/* Returns the option for a field of the library's options, such as "config_dir" for --config-dir;
   OPTION_COUNT: there is none. */
enum cli_option option_of_field(const char *field, size_t length);

#endif
