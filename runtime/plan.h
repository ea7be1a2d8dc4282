/* A plan is a kernel_spec compiled and loaded on a device; a call is a plan bound to memory. Launching a call is one
   device launch per planned launch: nothing is looked up, allocated or locked. */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include "device.h"

struct plan;
struct call;

/* spec and compiled are borrowed until plan_close; on a GPU, whose driver keeps a copy, compiled only until
   plan_open returns. The source of spec is not needed. */
int plan_open(struct device *device, const struct kernel_spec *spec, const struct compiled *compiled,
              struct plan **out, cugen_error *err);
void plan_close(struct plan *plan);

/* The parts of a spec that the compiler needs: its distinct entries. Returns how many. */
size_t plan_entries(const struct kernel_spec *spec, const char *entries[KERNEL_MAX_ENTRIES]);

/* " f g<4>": the same, for what tells one image of a source from another. */
void plan_add_entries(const struct kernel_spec *spec, struct text *out);

/* Where the entry of one of the launches stands among them, and what was compiled of it. */
size_t plan_entry_index(const struct kernel_spec *spec, const char *entry);

enum { PLAN_MAX_PARAMETERS = 2 * KERNEL_MAX_ARGUMENTS + 2 };

/* The blocks of a cooperative launch that a multiprocessor of the device holds at a time; -1: not known. */
typedef int plan_resident(const struct device_facts *facts, const struct kernel_resources *resources,
                          const struct kernel_launch *launch);
/* The verdict of launch_check on all launches. resident NULL: it is not known. */
int plan_check_launches(const struct device_ops *ops, const struct device_facts *facts,
                        const struct kernel_spec *spec, const struct compiled *compiled, plan_resident *resident,
                        cugen_error *err);

/* CUGEN_ERROR_CONFIG unless the launch's kernel, which takes that many parameters of these sizes, takes what the spec
   passes and `extra` more behind it. takes < 0: not known, nothing is compared. */
int plan_check_parameters(const struct kernel_spec *spec, size_t launch, size_t extra, const int *sizes, int takes,
                          cugen_error *err);

/* CUGEN_ERROR_CONFIG unless the image's variable of the argument's name has room for it; 0: there is none, < 0: not
   known, nothing is compared. */
int plan_check_symbol(const struct kernel_spec *spec, size_t index, int64_t room, cugen_error *err);

/* Of several launches the one whose block takes the most registers: what prepares or adds up is light. */
size_t plan_heaviest(const struct kernel_spec *spec, const struct compiled *compiled);

/* Clusters of the launch that run at once, by the device's own answer; 0: it has none, or that is not known. */
int plan_active_clusters(const struct plan *plan, size_t launch);

/* A variable of the plan's module, __constant__ or __device__, by its name in the image; as symbol of device_ops. */
int plan_symbol(const struct plan *plan, const char *name, bool written, void **address, size_t *bytes,
                cugen_error *err);

/* memory[i] belongs to spec->arguments[i]; of a scalar's only host counts: NULL, or its value instead of the spec's
   (for one that is compiled in the same value). A constant argument's memory is copied into its
   symbol at each bind. What lies in a __device__ symbol is copied there before each launch and back after it; without
   memory it stays there. extra/extra_count: parameters passed after the arguments (a reference's samples), each a
   pointer to its value; borrowed until call_free. */
int call_bind(struct plan *plan, const struct memory *memory, void *const *extra, size_t extra_count,
              struct call **out, cugen_error *err);
void call_free(struct call *call);
int call_launch(struct call *call, cugen_error *err);
/* What outputs in __device__ symbols hold before a launch that is verified: what their memory holds. */
int call_poison(const struct call *call, cugen_error *err);
/* On a stream of the application's, where the device has launch_on. */
int call_launch_on(const struct call *call, void *stream, cugen_error *err);

#endif
