/* Formatting fault texts; see fault_text.h. */
#include "fault_text.h"

void fault_text_add(struct fault_text *line, const char *string) {
  while (*string && line->at < line->end) *line->at++ = *string++;
  *line->at = '\0';
}

void fault_text_number(struct fault_text *line, unsigned long long number, unsigned base,
                       int digits) {
  char backwards[24], character[2] = "";
  int count = 0;
  for (; number || count < digits; number /= base)
    backwards[count++] = "0123456789abcdef"[number % base];
  while (count > 0) {
    character[0] = backwards[--count];
    fault_text_add(line, character);
  }
}

void fault_text_position(struct fault_text *line, const char *what, struct cpu_dim3 at) {
  const unsigned numbers[3] = {at.x, at.y, at.z};
  fault_text_add(line, what);
  for (int i = 0; i < 3; ++i) {
    fault_text_add(line, i ? "," : " (");
    fault_text_number(line, numbers[i], 10, 1);
  }
  fault_text_add(line, ")");
}

void fault_text_lanes(struct fault_text *line, unsigned lanes) {
  fault_text_add(line, "0x");
  fault_text_number(line, lanes, 16, 8);
}

void fault_text_count(struct fault_text *line, unsigned count, const char *what, unsigned of) {
  fault_text_number(line, count, 10, 1);
  fault_text_add(line, what);
  fault_text_number(line, of, 10, 1);
}
