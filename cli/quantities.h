/* What a record has to show, each as the cell of a table: the terminal's and the report's choose from the same. */
#ifndef CLI_QUANTITIES_H
#define CLI_QUANTITIES_H

#include <stdbool.h>

#include "print.h"

enum quantity {
  QUANTITY_TIME, /* measured or predicted */
  QUANTITY_MEASURED,
  QUANTITY_PREDICTED,
  QUANTITY_ENERGY,
  QUANTITY_POWER,    /* that goes with it: the board's, at this variant's load */
  QUANTITY_VERIFIED, /* whether the variant of a prediction came out right on the cpu device */
  QUANTITY_BOUND,    /* what bounds a prediction */
  QUANTITY_RATE,
  QUANTITY_RATE_ALONE, /* its unit, print_rate_unit, stands elsewhere */
  QUANTITY_ROOFLINE,
  QUANTITY_REQUESTS, /* FLOP for each byte that is requested of global memory */
  QUANTITY_OCCUPANCY,
  QUANTITY_CLUSTERS,
  QUANTITY_THREADS,
  QUANTITY_REGISTERS,
  QUANTITY_SHARED,
  QUANTITY_STATIC,
  QUANTITY_DYNAMIC,
  QUANTITY_DYNAMIC_PART,  /* beside all of it */
  QUANTITY_DYNAMIC_ALONE, /* where it is not known how much there is besides */
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

/* FLOP for each byte that the variant requests of global memory; 0: not known. */
double quantity_requested(const cugen_record *record);

#endif
