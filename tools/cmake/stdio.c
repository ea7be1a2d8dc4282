/* Debian's liblua5.4.a and libjansson.a are compiled without -fPIC, so that a shared library cannot
   link their references to stdin, stdout and stderr. The build copies both archives, and renames
   these three symbols in the copies to those below. */
#include <stdio.h>

extern FILE *cugen_stdin, *cugen_stdout, *cugen_stderr;
FILE *cugen_stdin, *cugen_stdout, *cugen_stderr;

__attribute__((constructor)) static void adopt_streams(void) {
  cugen_stdin = stdin;
  cugen_stdout = stdout;
  cugen_stderr = stderr;
}
