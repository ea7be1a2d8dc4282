/* The roofline: the rate that a kernel could attain at its arithmetic intensity, from rates
   measured on the device or otherwise from its peak rates. */
#ifndef RUNTIME_MODEL_ROOFLINE_H
#define RUNTIME_MODEL_ROOFLINE_H

#include <stdbool.h>

#include "base/results.h"
#include "base/value.h"
#include "runtime/device.h"

/* Returns the dense FLOP/s of the device's tensor cores for products of matrices of that type
   ("tf32" and "fp8", too) with sums in f32, f64 or i32; 0: not supported or not known. */
double roofline_tensor_flops(const struct device_description *device, const char *type);
/* Returns the peak rates: the operations of the multiprocessors at the highest clock; the memory's
   rate as described, or from the memory's clock and width. A CPU has no peak rates here. */
struct ceilings roofline_peak(const struct device_description *device, const struct dtype *dtype);
/* Returns the fraction of the attainable rate that was attained, for work of flops and bytes
   (either may be 0) done in seconds; 0: not known. *measured (may be NULL) becomes whether the
   limiting ceiling was measured. */
double roofline_fraction(const struct ceilings *ceilings, double flops, double bytes,
                         double seconds, bool *measured);

#endif
