/* Width and colours of terminals; see terminal.h. */
#include "terminal.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 20, MOST_WIDTH = 10000 };

static int terminal_width_of(int file) {
  struct winsize size;
  return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 0;
}

/* Returns the width in COLUMNS; 0: not set, or no number from 20 to 10000. */
static int set_width(void) {
  const char *text = getenv("COLUMNS");
  const long columns = text && isdigit((unsigned char)*text) ? strtol(text, NULL, 10) : 0;
  return columns >= LEAST_WIDTH && columns <= MOST_WIDTH ? (int)columns : 0;
}

int terminal_width(void) {
  int width = set_width();
  if (width || !isatty(STDOUT_FILENO)) return width;
  width = terminal_width_of(STDOUT_FILENO);
  return width ? width : USUAL_WIDTH;
}

int terminal_progress_width(void) {
  const int width = terminal_width_of(STDERR_FILENO);
  return width ? width : USUAL_WIDTH;
}

int terminal_message_width(void) {
  const int width = set_width();
  return !isatty(STDERR_FILENO) ? 0 : width ? width : terminal_progress_width();
}

int terminal_picture_width(int width, int labels) {
  enum { LEAST = 40, MOST = 120 };
  const int picture = (width ? width : USUAL_WIDTH) - labels;
  return picture < LEAST ? LEAST : picture > MOST ? MOST : picture;
}

bool terminal_has_colour(void) {
  const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 && !(none && *none);
}

/* ---- Columns of text ------------------------------------------------------------------------ */

/* Decodes the character at text, which is valid UTF-8 (text_add_clean), and sets *length. */
static uint32_t decode(const unsigned char *text, size_t *length) {
  const uint32_t first = text[0];
  *length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  uint32_t code = *length == 1 ? first : first & (0x7fu >> *length);
  for (size_t i = 1; i < *length; i++) {
    if ((text[i] & 0xc0) != 0x80) return *length = i, first;
    code = code << 6 | (text[i] & 0x3fu);
  }
  return code;
}

struct range {
  uint32_t first, last;
};

/* Combining marks and zero-width characters, which take no column. */
static const struct range narrow[] = {{0x300, 0x36f},   {0x483, 0x489},    {0x591, 0x5bd},
                                      {0x64b, 0x65f},   {0x1ab0, 0x1aff},  {0x1dc0, 0x1dff},
                                      {0x200b, 0x200f}, {0x20d0, 0x20ff},  {0xfe00, 0xfe0f},
                                      {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};

/* East Asian Width W and F (UAX 11), as whole blocks. */
static const struct range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
                                    {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
                                    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                    {0x1f900, 0x1f9ff}, {0x20000, 0x2fffd}, {0x30000, 0x3fffd}};

static bool is_in(uint32_t code, const struct range *ranges, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (code >= ranges[i].first && code <= ranges[i].last) return true;
  return false;
}

static size_t terminal_columns_of(uint32_t code) {
  if (code < 0x300) return 1;
  if (is_in(code, narrow, sizeof narrow / sizeof *narrow)) return 0;
  return is_in(code, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

size_t terminal_columns(const char *text, size_t length) {
  size_t columns = 0;
  for (size_t at = 0, step; at < length && text[at]; at += step) {
    if (text[at] == '\033') {
      step = strcspn(text + at, "m") + 1;
      continue;
    }
    columns += terminal_columns_of(decode((const unsigned char *)text + at, &step));
  }
  return columns;
}
