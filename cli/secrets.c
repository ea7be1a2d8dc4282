/* Hides secrets from other users of the machine. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Other users see the words of a command line (ps). So a connection string is copied elsewhere, and
   only its scheme is left in place. Without memory for the copy the string stays. */
static char *move(char *word) {
  static const char mark[] = "://";
  char *secret = strstr(word, mark);
  char *copy = secret && strchr(secret, '@') ? strdup(word) : NULL;
  if (!copy) return word;
  secret += sizeof mark - 1;
  memset(secret, 'x', strlen(secret));
  return copy;
}

void secrets_hide(int argc, char **argv) {
  for (int i = 1; i < argc; i++) argv[i] = move(argv[i]);
}
