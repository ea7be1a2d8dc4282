/* The verify kernel of a config, loaded and ready to judge what a run left in a dataset's
   buffers. */
#ifndef TUNE_DATA_VERIFIER_H
#define TUNE_DATA_VERIFIER_H

#include "dataset.h"

struct verifier;

/* Loads the request's verify kernel and binds it to set 0. The verifier borrows the request's
   strings and specs until it is closed. */
int verifier_open(struct device *device, const struct dataset *dataset,
                  const struct dataset_request *request, struct verifier **out, cugen_error *err);
void verifier_close(struct device *device, struct verifier *verifier);

/* Returns how many bytes of pinned memory verifier_run needs if there are no data kernels. */
size_t verifier_bytes(const struct verifier *verifier);

/* Judges the outputs in set 0. kernels NULL: the errors are copied to `staging` and read there.
   doing: as in struct dataset. *error is raised to the largest error; infinity for a NaN.
   CUGEN_ERROR_WRONG, with the first wrong element, if an error exceeds 1, is NaN or was not
   written. CUGEN_ERROR_WRONG, too, if the verify kernel writes beyond the errors. */
int verifier_run(struct device *device, struct verifier *verifier, struct data_kernels *kernels,
                 double *staging, char *doing, double *error, cugen_error *err);

#endif
