/* Formatting fault texts without the C library, for signal handlers. */
#ifndef EMULATOR_FAULT_TEXT_H
#define EMULATOR_FAULT_TEXT_H

#include "abi.h"

struct fault_text {
  char *at, *end; /* the final NUL is written to *at; `at` never passes `end` */
};

void fault_text_add(struct fault_text *line, const char *string);
/* Appends a number with at least so many digits. */
void fault_text_number(struct fault_text *line, unsigned long long number, unsigned base,
                       int digits);
/* Appends what and a position: "block (0,1,0)". */
void fault_text_position(struct fault_text *line, const char *what, struct cpu_dim3 at);
void fault_text_lanes(struct fault_text *line, unsigned lanes);
/* Appends two numbers with `what` between: "1 of 32". */
void fault_text_count(struct fault_text *line, unsigned count, const char *what, unsigned of);

#endif
