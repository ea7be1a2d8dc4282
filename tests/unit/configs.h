/* What the tests of configs share: a config from its text, and the one message that a wrong one
   gives. */
#ifndef TESTS_UNIT_CONFIGS_H
#define TESTS_UNIT_CONFIGS_H

#include "gen/config/config.h"

/* As file "c.lua". */
struct config *parse(const char *text);
/* want: how the message begins. */
void expect_error(const char *text, const char *want);

/* The same of a config's parts. What they do not speak of is added; line 1 opens the kernel,
   `body` begins at line 2. */
struct config *parse_body(const char *body);
void expect_body_error(const char *body, const char *want);

#endif
