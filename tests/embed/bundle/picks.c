/* Reads problems "M N dtype specialize", and prints what the bundle takes for each. */
#include <stdio.h>

#include "rows.h"

int main(void) {
  static const char *const choices[] = {"exact", "near", "default", "portfolio"};
  const rows_device device = {"NVIDIA Pretended", 90, 132};
  char dtype[8];
  rows_problem problem = ROWS_PROBLEM_INIT;
  while (scanf("%lld %lld %7s %d", &problem.M, &problem.N, dtype, &problem.specialize) == 4) {
    rows_info info;
    rows_error error;
    problem.dtype = dtype;
    if (rows_choose(&device, &problem, &info, &error))
      printf("refused\n");
    else
      printf("%s|%s|%s|%.9f\n", choices[info.choice], info.variant,
             info.tuned_for ? info.tuned_for : "", info.distance);
  }
  return 0;
}
