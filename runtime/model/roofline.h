/* The roofline: which rate a kernel could attain at its arithmetic intensity, from what was measured on the device or,
   failing that, from its peak rates. */
#ifndef RUNTIME_MODEL_ROOFLINE_H
#define RUNTIME_MODEL_ROOFLINE_H

#include <stdbool.h>

#include "base/value.h"
#include "runtime/device.h"

/* FLOP/s of the device's tensor cores, dense, for products of matrices of that type ("tf32" and "fp8", too) with sums in
   f32, f64 or i32; 0: they do none, or it is not known. */
double roofline_tensor_flops(const struct device_description *device, const char *type);
/* Bytes/s of device memory; 0: not known. */
double roofline_bandwidth(const struct device_facts *facts);
/* Rates of a device, measured and at its highest clock; 0: not known. */
struct ceilings {
  double flops, flops_peak;         /* FLOP/s without tensor cores */
  double tensor_flops_peak;         /* with them, where the work is what they do; else 0 */
  double bandwidth, bandwidth_peak; /* bytes/s */
};

/* Peaks: what its multiprocessors do in a clock, at the highest clock; the memory's rate as described, else by clock and width. A
   CPU's are not a GPU's, and it has none. */
struct ceilings roofline_peak(const struct device_description *device, const struct dtype *dtype);
/* Attained fraction of the attainable, for work of flops and bytes (either may be 0) done in seconds; 0: not known.
   *measured (may be NULL): the ceiling that bounds it was measured. */
double roofline_fraction(const struct ceilings *ceilings, double flops, double bytes, double seconds, bool *measured);

#endif
