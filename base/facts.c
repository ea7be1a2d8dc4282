/* The names of the device facts; see facts.h. */
#include "facts.h"

const char *const device_fact_names[DEVICE_FACT_COUNT] = {
#define X(name, what) "device." #name,
    DEVICE_FACTS(X)
#undef X
};

int64_t device_fact_get(const struct device_facts *facts, enum device_fact fact) {
  switch (fact) {
#define X(name, what)                                                                              \
  case DEVICE_FACT_##name: return facts->name;
    DEVICE_FACTS(X)
#undef X
  case DEVICE_FACT_COUNT: break;
  }
  return 0;
}
