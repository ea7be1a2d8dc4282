/* Connection strings: postgresql://USER:PASSWORD@HOST:PORT/DB?OPTION=VALUE. libpq parses them; what is done here is to name one in messages without
   what is secret in it, whatever it looks like. */
#ifndef RUNTIME_STORE_POSTGRES_ADDRESS_H
#define RUNTIME_STORE_POSTGRES_ADDRESS_H

#include <stdbool.h>

#include "base/text.h"

bool pg_address_is(const char *path);
/* "postgresql://USER@HOST:PORT/DB?OPTIONS", without a password. False: where the password ends cannot be told; then *shown has the scheme
   alone. */
bool pg_address_show(const char *path, struct text *shown);

#endif
