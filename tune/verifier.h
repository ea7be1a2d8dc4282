/* The verify kernel of a config, ready to judge what a run left in a dataset's buffers. */
#ifndef TUNE_VERIFIER_H
#define TUNE_VERIFIER_H

#include "dataset.h"

struct verifier;

/* Loads the request's verify kernel and binds it to set 0. What it borrows of the request, it borrows until it is closed. */
int verifier_open(struct device *device, const struct dataset *dataset, const struct dataset_request *request,
                  struct verifier **out, cugen_error *err);
void verifier_close(struct device *device, struct verifier *verifier);

/* What verifier_run needs of pinned memory without kernels. */
size_t verifier_bytes(const struct verifier *verifier);

/* Judges what set 0 holds. kernels NULL: errors are read in `staging`. doing: as in struct dataset. *error becomes the largest error, where that is larger; infinity for a NaN. CUGEN_ERROR_WRONG, with
   the first wrong element, when one exceeds 1, is NaN or was not written, or when the verify kernel itself fails. */
int verifier_run(struct device *device, struct verifier *verifier, struct data_kernels *kernels, double *staging,
                 char *doing, double *error, cugen_error *err);

#endif
