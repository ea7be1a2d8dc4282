/* Fault texts; see note.h. */
#include "note.h"

void note_text(struct note *note, const char *string) {
  while (*string && note->at < note->end) *note->at++ = *string++;
  *note->at = '\0';
}

void note_number(struct note *note, unsigned number, unsigned base, int digits) {
  char backwards[16], character[2] = "";
  int count = 0;
  for (; number || count < digits; number /= base) backwards[count++] = "0123456789abcdef"[number % base];
  while (count > 0) {
    character[0] = backwards[--count];
    note_text(note, character);
  }
}

void note_position(struct note *note, const char *what, struct cpu_dim3 at) {
  const unsigned numbers[3] = {at.x, at.y, at.z};
  note_text(note, what);
  for (int i = 0; i < 3; ++i) {
    note_text(note, i ? "," : " (");
    note_number(note, numbers[i], 10, 1);
  }
  note_text(note, ")");
}

void note_lanes(struct note *note, unsigned lanes) {
  note_text(note, "0x");
  note_number(note, lanes, 16, 8);
}

void note_count(struct note *note, unsigned count, const char *what, unsigned of) {
  note_number(note, count, 10, 1);
  note_text(note, what);
  note_number(note, of, 10, 1);
}
