/* The quantities of a record as cells of a table. */
#ifndef CLI_QUANTITIES_H
#define CLI_QUANTITIES_H

#include <stdbool.h>

#include "print.h"

enum quantity {
  QUANTITY_TIME, /* measured or predicted */
  QUANTITY_MEASURED,
  QUANTITY_PREDICTED,
  QUANTITY_ENERGY,
  QUANTITY_POWER,    /* energy divided by time */
  QUANTITY_VERIFIED, /* whether a predicted variant was right on the cpu device */
  QUANTITY_BOUND,    /* what bounds a predicted variant */
  QUANTITY_RATE,
  QUANTITY_RATE_ALONE, /* the rate without its unit, which is in the column's header */
  QUANTITY_ROOFLINE,
  QUANTITY_REQUESTS, /* FLOP per byte requested from global memory */
  QUANTITY_OCCUPANCY,
  QUANTITY_CLUSTERS,
  QUANTITY_THREADS,
  QUANTITY_REGISTERS,
  QUANTITY_SHARED,
  QUANTITY_STATIC,
  QUANTITY_DYNAMIC,
  QUANTITY_DYNAMIC_PART,  /* shown beside the total */
  QUANTITY_DYNAMIC_ALONE, /* shown if the total is not known */
  QUANTITY_CONSTANT,
  QUANTITY_LOCAL,
  QUANTITY_SPILLS,
  QUANTITIES
};

struct quantity_row {
  bool (*has)(const cugen_record *record);
  struct shown (*show)(const cugen_record *record);
};

extern const struct quantity_row quantities[QUANTITIES];

/* Returns the FLOP per byte that the variant requests from global memory; 0: not known. */
double quantity_requested(const cugen_record *record);

#endif
