// One case: tuned, compared with its peer, raced, and its row of the table.
#pragma once
#include "cases.h"

void print_columns();
void run_case(Program &program, const Case &c, Stopwatch &watch);

// The problem, how many variants there are, and the first one compiled; nothing runs.
std::string rehearse_case(Program &program, const Case &c);
