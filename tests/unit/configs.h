/* What the tests of configs share: parsing a config from text, and expecting the message for a
   wrong one. */
#ifndef TESTS_UNIT_CONFIGS_H
#define TESTS_UNIT_CONFIGS_H

#include "gen/config/problem.h"

/* Parses the text as file "c.lua". */
struct config *parse(const char *text);
/* want: the beginning of the message. */
void expect_error(const char *text, const char *want);

/* Like parse and expect_error, for parts of a config. The rest is added; line 1 opens the
   kernel, and `body` begins on line 2. */
struct config *parse_body(const char *body);
void expect_body_error(const char *body, const char *want);

#endif
