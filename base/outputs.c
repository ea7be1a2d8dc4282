/* The text of a variant's output bits; see results.h. */
#include "results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char varies[] = "varies";
enum { DIGEST_DIGITS = 16 };

size_t outputs_text(const cugen_outputs *outputs, char *out, size_t size) {
  int length;
  if (!outputs || !outputs->known)
    length = snprintf(out, size, "%s", "");
  else if (outputs->varies)
    length = snprintf(out, size, "%" PRIu64 " %s", outputs->seed, varies);
  else
    length = snprintf(out, size, "%" PRIu64 " %0*" PRIx64, outputs->seed, DIGEST_DIGITS,
                      outputs->digest);
  return length > 0 ? (size_t)length : 0;
}

bool outputs_parse(const char *text, cugen_outputs *out) {
  cugen_outputs read = {.known = 1};
  char *end;
  *out = (cugen_outputs){0};
  if (!*text) return true;
  if (*text < '0' || *text > '9') return false; /* strtoull would accept signs and blanks */
  errno = 0;
  read.seed = strtoull(text, &end, 10);
  if (errno || *end != ' ') return false;
  text = end + 1;
  read.varies = strcmp(text, varies) == 0;
  if (!read.varies) {
    if (strlen(text) != DIGEST_DIGITS || strspn(text, "0123456789abcdef") != DIGEST_DIGITS)
      return false;
    read.digest = strtoull(text, NULL, 16);
  }
  *out = read;
  return true;
}

int outputs_equal(const cugen_outputs *a, const cugen_outputs *b) {
  return a && b && a->known && b->known && !a->varies && !b->varies && a->seed == b->seed &&
         a->digest == b->digest;
}
