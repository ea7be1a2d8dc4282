/* The roofline from a device's data-sheet figures: which rate a kernel could attain at its arithmetic intensity. */
#ifndef TUNE_ROOFLINE_H
#define TUNE_ROOFLINE_H

#include "base/facts.h"
#include "base/value.h"

/* FLOP/s of fused multiply-adds of that dtype without tensor cores; 0: not known. */
double roofline_flops(const struct device_facts *facts, const struct dtype *dtype);
/* Bytes/s of device memory; 0: not known. */
double roofline_bandwidth(const struct device_facts *facts);
/* Attained fraction of the attainable, for work of flops and bytes (either may be 0) done in seconds; 0: not known. */
double roofline_fraction(const struct device_facts *facts, const struct dtype *dtype, double flops, double bytes,
                         double seconds);

#endif
