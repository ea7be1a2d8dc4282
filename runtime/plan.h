/* A plan is a kernel_spec compiled and loaded on a device; a call is a plan bound to memory.
   Launching a call makes the plan's sequence of device launches. cugen then looks nothing up and
   allocates nothing, and on a GPU locks nothing. */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include "device.h"

struct plan;
struct call;

/* spec and compiled are borrowed until plan_close. A GPU's driver keeps a copy of the image, so
   there compiled is borrowed only until plan_open returns. The source text of spec is not
   needed. */
int plan_open(struct device *device, const struct kernel_spec *spec,
              const struct compiled *compiled, struct plan **out, cugen_error *err);
/* Opens a plan of the same compiled image on the device of another plan, whose loaded image the new
   plan uses. The other plan must be closed after the new plan. */
int plan_open_sharing(const struct plan *of, const struct kernel_spec *spec,
                      const struct compiled *compiled, struct plan **out, cugen_error *err);
void plan_close(struct plan *plan);

/* Lists the distinct entries of a spec. Returns their number. */
size_t plan_entries(const struct kernel_spec *spec, const char *entries[KERNEL_MAX_ENTRIES]);

/* Appends the distinct entries as text, " f g<4>", for keys that tell apart the images of one
   source. */
void plan_add_entries(const struct kernel_spec *spec, struct text *out);

/* Returns the index of a launch's entry in the list of plan_entries, and so in the compiled
   image. */
size_t plan_entry_index(const struct kernel_spec *spec, const char *entry);

enum { PLAN_MAX_PARAMETERS = 2 * KERNEL_MAX_ARGUMENTS + 2 };

/* Returns the number of blocks of a cooperative launch that a multiprocessor holds at a time; -1:
   not known. */
typedef int plan_resident(const struct device_facts *facts,
                          const struct kernel_resources *resources,
                          const struct kernel_launch *launch);
/* Calls launch_check on each launch, if the device has `needs` and `compiled` is no C function.
   resident NULL: the number of resident blocks is not known. */
int plan_check_launches(const struct device_ops *ops, const struct device_facts *facts,
                        const struct kernel_spec *spec, const struct compiled *compiled,
                        plan_resident *resident, cugen_error *err);

/* CUGEN_ERROR_CONFIG unless the launch's kernel, which has `takes` parameters of these sizes,
   matches the parameters that the spec passes plus `extra` more behind them. takes < 0: not
   known, nothing is compared. */
int plan_check_parameters(const struct kernel_spec *spec, size_t launch, size_t extra,
                          const int *sizes, int takes, cugen_error *err);

/* CUGEN_ERROR_CONFIG unless the image's variable of the argument's name has room for the
   argument. `room` is the variable's bytes; 0: the image has no such variable, < 0: not known,
   nothing is compared. */
int plan_check_symbol(const struct kernel_spec *spec, size_t index, int64_t room, cugen_error *err);

/* Returns the index of the launch whose block uses the most registers, which is taken for the main
   launch. */
size_t plan_heaviest(const struct kernel_spec *spec, const struct compiled *compiled);

/* Returns the number of the launch's clusters that run at once, as the device answers; 0: the
   launch has no clusters, or the number is not known. */
int plan_active_clusters(const struct plan *plan, size_t launch);

/* Finds a __constant__ or __device__ variable of the plan's module by its name in the image, as
   `symbol` of device_ops does. */
int plan_symbol(const struct plan *plan, const char *name, bool written, void **address,
                size_t *bytes, cugen_error *err);

/* memory[i] belongs to spec->arguments[i]. For a scalar only its `host` counts: NULL, or the value
   to pass instead of the spec's (for a compiled-in scalar this must be the same value). A constant
   argument's values are copied at each bind, into the symbol or memory of the call. For an argument
   in a __device__ symbol, call_launch copies inputs from memory to the symbol and outputs back;
   without memory the values stay in the symbol. extra/extra_count: parameters passed after the
   arguments (a reference's samples), each a pointer to its value, which is borrowed until
   call_free. */
int call_bind(struct plan *plan, const struct memory *memory, void *const *extra,
              size_t extra_count, struct call **out, cugen_error *err);
/* Binds other memory in place, as call_bind without `extra` would, if nothing but addresses and
   tensor maps changes; otherwise, or after a failure, *moved becomes false and the call is
   unchanged. */
int call_move(struct call *call, const struct memory *memory, bool *moved, cugen_error *err);
/* Binds *call to other memory; after a failure *call is unchanged. Device memory that the backend
   prepared for the call is kept if it suffices. */
int call_rebind(struct plan *plan, const struct memory *memory, struct call **call,
                cugen_error *err);
void call_free(struct call *call);
int call_launch(struct call *call, cugen_error *err);
/* Copies the memory of outputs in __device__ symbols into the symbols, before a launch that is
   verified. */
int call_poison(const struct call *call, cugen_error *err);
/* Launches a plan of kernels on an application's stream. The device must have launch_on. */
int call_launch_on(const struct call *call, void *stream, cugen_error *err);

#endif
