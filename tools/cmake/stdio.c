/* Debian's liblua5.4.a and libjansson.a are not position independent: they address stdin, stdout
   and stderr as only a program can, so that no shared library could hold them. In the archives'
   copies for libcugen they are renamed to these. */
#include <stdio.h>

extern FILE *cugen_stdin, *cugen_stdout, *cugen_stderr;
FILE *cugen_stdin, *cugen_stdout, *cugen_stderr;

__attribute__((constructor)) static void adopt_streams(void) {
  cugen_stdin = stdin;
  cugen_stdout = stdout;
  cugen_stderr = stderr;
}
