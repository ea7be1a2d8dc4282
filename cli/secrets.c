/* What other users of the machine must not see. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* They see the words of a command line (ps). So a connection string moves elsewhere, and what stands in its place is its scheme. Without memory for
   that it stays where it is. */
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
