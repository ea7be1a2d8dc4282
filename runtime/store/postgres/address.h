/* Connection strings: postgresql://USER:PASSWORD@HOST:PORT/DB?OPTION=VALUE. libpq parses them;
   this file only prints a connection string for messages without its secrets, however the string
   is written. */
#ifndef RUNTIME_STORE_POSTGRES_ADDRESS_H
#define RUNTIME_STORE_POSTGRES_ADDRESS_H

#include <stdbool.h>

#include "base/text.h"

bool postgres_takes(const char *path);
/* Writes "postgresql://USER@HOST:PORT/DB?OPTIONS", without a password. Returns false if the end
   of the password cannot be found; *shown then has only the scheme. */
bool pg_address_show(const char *path, struct text *shown);

#endif
