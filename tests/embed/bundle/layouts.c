/* Reads problems "M N", and prints strides and bytes of each buffer of the bundle's plan. */
#include <stdio.h>

#include "rows.h"

int main(void) {
  rows_problem problem = ROWS_PROBLEM_INIT;
  rows_library *library;
  rows_error error;
  int status = rows_open(NULL, &library, &error);
  while (!status && scanf("%lld %lld", &problem.M, &problem.N) == 2) {
    rows_plan *plan;
    status = rows_pick(library, &problem, &plan, &error);
    for (size_t i = 0; i < ROWS_ARGUMENTS && !status; i++) {
      rows_argument_info info;
      status = rows_argument(plan, i, &info, &error);
      if (status || !info.rank) continue;
      printf("%s:", info.name);
      for (int d = 0; d < info.rank; d++) printf(" %lld", info.stride[d]);
      printf(", %lld bytes\n", info.bytes);
    }
  }
  if (status) return printf("%s\n", error.message), 1;
  rows_close(library);
  return 0;
}
