/* Runs a command for a program (cugen_command); see serve.c. */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli.h"
#include "print.h"

struct serve {
  char **defaults; /* options of the program's library, such as "config_dir=/srv" */
  size_t count;
  int answer;     /* descriptor for the answer */
  json_t *result; /* JSON result of the command; NULL: none yet */
};

/* Removes "worker command VERSION DEFAULT... --" from the words, and redirects stdout and stderr to
   /dev/null. */
int serve_open(struct serve *serve, int *argc, char ***argv);
/* Sets the command's options after its words were read. */
int serve_begin(struct cli *cli);
/* Writes the answer and returns the exit code. */
int serve_close(struct cli *cli, int status);

#endif
