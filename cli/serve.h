/* A command for a program (cugen_command); see serve.c. */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli.h"
#include "print.h"

struct serve {
  char **defaults; /* "device=cpu", of the program's library */
  size_t count;
  int answer;     /* descriptor for the answer */
  json_t *result; /* of the command; NULL: none yet */
};

/* Takes "worker command VERSION DEFAULT... --" from the words, and stdout and stderr from the process. */
int serve_open(struct serve *serve, int *argc, char ***argv);
/* Sets the options of the command, when its words were read. */
int serve_begin(struct cli *cli);
/* Writes the answer; returns the exit code. */
int serve_close(struct cli *cli, int status);

#endif
