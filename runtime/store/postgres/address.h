/* Connection strings: postgresql://USER:PASSWORD@HOST:PORT/DB?OPTION=VALUE. libpq parses them;
   this file only recognises connection strings and prints them for messages without their
   secrets. */
#ifndef RUNTIME_STORE_POSTGRES_ADDRESS_H
#define RUNTIME_STORE_POSTGRES_ADDRESS_H

#include <stdbool.h>

#include "base/text.h"

bool postgres_takes(const char *path);
/* Writes "postgresql://USER@HOST:PORT/DB?OPTIONS", without a password, and without OPTIONS if one
   may be secret. Returns false if the address is to be refused (address.c); *shown then has only
   the scheme. */
bool pg_address_show(const char *path, struct text *shown);

#endif
