// One case: tuned, compared with its peer, raced, and its row of the table.
#pragma once
#include "cases.h"

void print_columns();
void run_case(Program &program, const Case &c, Stopwatch &watch);
