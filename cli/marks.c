/* Colours and shapes; see marks.h. */
#include "marks.h"

enum { COLOURS = 10, SHAPES = 2 };

static bool is_square(size_t implementation) {
  return implementation / COLOURS % SHAPES == 1;
}

struct shown marks_class(size_t implementation) {
  struct shown class;
  snprintf(class.text, sizeof class.text, "c%zu%s", implementation % COLOURS,
           is_square(implementation) ? " square" : "");
  return class;
}

void marks_open(FILE *out, const char *kind, size_t implementation, double x, double y, double r) {
  const struct shown class = marks_class(implementation);
  if (is_square(implementation))
    fprintf(out, "<rect class=\"%s %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", kind, class.text,
            x - r, y - r, 2 * r, 2 * r);
  else
    fprintf(out, "<circle class=\"%s %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">", kind, class.text, x, y, r);
}

void marks_close(FILE *out, size_t implementation) {
  fputs(is_square(implementation) ? "</rect>\n" : "</circle>\n", out);
}
