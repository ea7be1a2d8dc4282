/* What is shown of a connection string: all but its secrets, and nothing of a string that may be
   read in two ways. */

#include "runtime/store/postgres/address.h"
#include "tests/testing.h"

TEST(what_is_meant) {
  static const char *const others[] = {
      "", "none", "/a/b.db", "postgresql", "postgresql:/", "Postgresql://h", "http://h"};
  assert_true(postgres_takes("postgresql://"));
  assert_true(postgres_takes("postgres://h/db"));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(postgres_takes(others[i]));
}

TEST(what_is_shown) {
  static const struct {
    const char *address, *shown; /* shown NULL: the string is refused */
  } cases[] = {
      {"postgresql://", "postgresql://"},
      {"postgres://h", "postgresql://h"},
      {"postgresql://u@h:5432/db", "postgresql://u@h:5432/db"},
      {"postgresql://u:secret@h/db", "postgresql://u@h/db"},
      {"postgresql://u:a:b@h/db", "postgresql://u@h/db"},
      {"postgresql://u:se%2Fcret@h/db?password=secret", "postgresql://u@h/db"},
      {"postgresql://:secret@h", "postgresql://@h"},
      {"postgresql://u@[::1]:5432,b:1/db", "postgresql://u@[::1]:5432,b:1/db"},
      {"postgresql://u:secret@/db?host=/tmp&sslmode=require",
       "postgresql://u@/db?host=/tmp&sslmode=require"},
      {"postgresql://u@/db?host=/tmp&p%61ssword=secret", "postgresql://u@/db"},
      {"postgresql://u@/db?SSLPassword=secret", "postgresql://u@/db"},
      {"postgresql://u@\x1b[1m/db", "postgresql://u@\\u001b[1m/db"},
      {"postgresql://u:sec@ret@h/db", NULL},
      {"postgresql://u:sec/ret@h/db", NULL},
      {"postgresql://u:sec?ret@h/db", NULL},
      {"postgresql://u:sec#ret@h/db", NULL},
      {"postgresql://u:secret/db", NULL},
      {"postgresql://u:sec%zzret@h/db", NULL},
      {"postgresql://u:sec%2", NULL},
      {"postgresql://h/db:secret", NULL},
      {"postgresql://h/db#secret", NULL},
      {"postgresql://h/db?x=a@b", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) shown = {0};
    const bool good = pg_address_show(cases[i].address, &shown);
    assert_string_equal(text_get(&shown), cases[i].shown ? cases[i].shown : "postgresql://");
    assert_int_equal(good, cases[i].shown != NULL);
  }
}
