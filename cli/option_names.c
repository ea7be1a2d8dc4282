/* The table of options, and the translation of the library's messages to option names; see
   cli.h. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

const struct cli_option_row cli_options[OPTION_COUNT] = {
#define X(id, name, letter, argument, what) {name, letter, argument, what},
    CLI_OPTIONS(X)
#undef X
};

/* Fields of the library's options that have another name in the command line. */
static const struct {
  const char *field;
  enum cli_option option;
} renamed[] = {{"variant_timeout", OPTION_TIMEOUT},
               {"budget_seconds", OPTION_BUDGET},
               {"choice", OPTION_VARIANT}};

enum cli_option option_of_field(const char *field, size_t length) {
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
    if (strlen(renamed[i].field) == length && memcmp(renamed[i].field, field, length) == 0)
      return renamed[i].option;
  for (enum cli_option option = 0; option < OPTION_COUNT; option++) {
    const char *name = cli_options[option].name;
    size_t same = 0;
    while (same < length && name[same] &&
           (name[same] == field[same] || (name[same] == '-' && field[same] == '_')))
      same++;
    if (same == length && !name[same]) return option;
  }
  return OPTION_COUNT;
}

/* Returns the length of "cugen_options." or of another struct's name at `text`; 0: there is
   none. */
static size_t structure_at(const char *text) {
  static const char *const structures[] = {"cugen_options.", "cugen_tune_options."};
  for (size_t i = 0; i < sizeof structures / sizeof *structures; i++)
    if (strncmp(text, structures[i], strlen(structures[i])) == 0) return strlen(structures[i]);
  return 0;
}

struct message message_own(const char *text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
  struct message own;
  size_t length = 0;
  while (*text && length + 1 < sizeof own.text) {
    const size_t structure = structure_at(text),
                 field = structure ? strspn(text + structure, letters) : 0;
    const enum cli_option option =
        structure ? option_of_field(text + structure, field) : OPTION_COUNT;
    if (option != OPTION_COUNT)
      length += (size_t)snprintf(own.text + length, sizeof own.text - length, "--%s",
                                 cli_options[option].name),
          text += structure + field;
    else
      own.text[length++] = *text++;
    if (length >= sizeof own.text) length = sizeof own.text - 1;
  }
  own.text[length] = '\0';
  return own;
}
