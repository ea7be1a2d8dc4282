/* Plans and calls; see plan.h. A launch of a call has to cost no more than cuLaunchKernel, so
   everything that can be known earlier is computed earlier.

     plan_open   loads the image and finds each launch's entry, with its shared memory and carveout.
                 Borrows the spec.
     call_bind   checks the buffers, makes textures and tensor maps, and lays out the parameters of
                 all different launches one after the other, as the driver takes them: an array of
                 pointers to values.
     call_launch fills CUDA arrays and __device__ symbols where there are any, calls the device once
                 for each launch of the spec's sequence, and copies from symbols what was written.

   Invariants: a call outlives neither its plan nor the memory that it is bound to. The addresses
   of arguments' values and of values that a single launch passes (`own`) never change. A kernel
   whose image is known to take other parameters than the config declares is refused at bind,
   because the driver would read past the end of the parameters. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/element_conversion.h"
#include "function.h"

struct plan {
  struct device *device;
  const struct kernel_spec *spec;
  struct loaded *loaded;
  bool shared;             /* `loaded` belongs to another plan */
  struct entry **entries;  /* what each launch of `spec` starts */
  cugen_baseline function; /* called in place of the launches; NULL: the plan has kernels */
};

union scalar {
  int64_t align;
  unsigned char bytes[KERNEL_STRUCT_BYTES];
};

/* A symbol that launches copy to and from: `buffer` is the caller's memory with an argument's
   values, or the call's memory with the address of a buffer. */
struct symbol {
  void *at, *buffer;
  size_t bytes;
  bool read, written; /* by the kernel */
};

struct call {
  struct device *device;
  const struct kernel_spec *spec;
  struct entry *const *entries;
  /* the addresses of the parameters' values, of all launches one after the other; the list of each
     launch ends with NULL */
  void **parameters;
  void ***launch_parameters; /* the beginning of each launch's list in `parameters` */
  /* values that a single launch passes, in the order of launches: each a number */
  int64_t *own;
  void *addresses[KERNEL_MAX_ARGUMENTS];         /* of buffers and symbols, by argument */
  struct texture textures[KERNEL_MAX_ARGUMENTS]; /* of the arguments that are read as textures */
  /* device memory with the constants that the kernel reads by address, and with the addresses that
     the call puts into symbols */
  struct memory copies[KERNEL_MAX_ARGUMENTS];
  /* indices of the textures whose arrays are filled before the launches of a call */
  size_t arrays[KERNEL_MAX_ARGUMENTS];
  size_t array_count;
  struct symbol symbols[KERNEL_MAX_ARGUMENTS];
  size_t symbol_count;
  void *prepared; /* by the backend for the first launch, which is the only one of a library's
                     kernel; NULL: nothing */
  struct tensor_map *maps;        /* of each argument; NULL: no argument has a tensor map */
  struct function_call *function; /* NULL: the plan has kernels */
  bool movable;                   /* only addresses and tensor maps depend on the memory */
  union scalar scalars[KERNEL_MAX_ARGUMENTS];
};

/* ---- Plans ---------------------------------------------------------------------------------- */

size_t plan_entries(const struct kernel_spec *spec, const char *entries[KERNEL_MAX_ENTRIES]) {
  size_t count = 0;
  for (size_t i = 0; i < spec->launch_count; i++) {
    size_t known = 0;
    while (known < count && strcmp(entries[known], spec->launches[i].entry)) known++;
    if (known == count && count < KERNEL_MAX_ENTRIES) entries[count++] = spec->launches[i].entry;
  }
  return count;
}

/* " (cooperative)" keeps cooperative launches from images that were compiled for plain launches. */
void plan_add_entries(const struct kernel_spec *spec, struct text *out) {
  const char *entries[KERNEL_MAX_ENTRIES];
  size_t count = plan_entries(spec, entries);
  bool cooperative = false;
  for (size_t i = 0; i < count; i++) text_addf(out, " %s", entries[i]);
  for (size_t i = 0; i < spec->launch_count; i++) cooperative |= spec->launches[i].cooperative;
  if (cooperative) text_add(out, " (cooperative)");
}

size_t plan_entry_index(const struct kernel_spec *spec, const char *entry) {
  const char *entries[KERNEL_MAX_ENTRIES];
  size_t count = plan_entries(spec, entries), index = 0;
  while (index < count && strcmp(entries[index], entry)) index++;
  return index;
}

size_t plan_heaviest(const struct kernel_spec *spec, const struct compiled *compiled) {
  size_t heaviest = 0;
  int64_t most = -1;
  for (size_t i = 0; i < spec->launch_count; i++) {
    const struct kernel_launch *l = &spec->launches[i];
    const int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
    const int64_t registers =
        compiled->resources[plan_entry_index(spec, l->entry)].registers * threads;
    if (registers > most) heaviest = i, most = registers;
  }
  return heaviest;
}

int plan_active_clusters(const struct plan *plan, size_t launch) {
  const struct device_ops *ops = plan->device->ops;
  return ops->active_clusters && !plan->function
             ? ops->active_clusters(plan->device, plan->entries[launch],
                                    &plan->spec->launches[launch])
             : 0;
}

int plan_check_launches(const struct device_ops *ops, const struct device_facts *facts,
                        const struct kernel_spec *spec, const struct compiled *compiled,
                        plan_resident *resident, cugen_error *err) {
  int status = CUGEN_OK;
  if (function_is(compiled)) return CUGEN_OK;
  for (size_t i = 0; ops->needs && i < spec->launch_count && !status; i++) {
    const struct kernel_launch *launch = &spec->launches[i];
    const size_t entry = plan_entry_index(spec, launch->entry);
    struct kernel_needs needs = {0};
    ops->needs(compiled, entry, &needs);
    const int held = resident ? resident(facts, &compiled->resources[entry], launch) : -1;
    status = launch_check(facts, spec, i, &needs, held, err);
  }
  return status;
}

/* Checks cooperative launches against the number of resident blocks that the driver answers. */
static int check_cooperative(const struct plan *plan, cugen_error *err) {
  const struct kernel_needs nothing = {0};
  struct device *device = plan->device;
  const struct device_facts *facts = &device->description.facts;
  int status = CUGEN_OK;
  for (size_t i = 0; facts->is_gpu && i < plan->spec->launch_count && !status; i++) {
    const struct kernel_launch *l = &plan->spec->launches[i];
    if (!l->cooperative) continue;
    const int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    const int held = device->ops->active_blocks(device, plan->entries[i], threads, l->shared_bytes);
    status = launch_check(facts, plan->spec, i, &nothing, held, err);
  }
  return status;
}

static int load_kernels(struct plan *plan, const struct compiled *compiled, cugen_error *err) {
  struct device *device = plan->device;
  const struct device_ops *ops = device->ops;
  int status = plan->loaded ? CUGEN_OK : ops->load(device, compiled, &plan->loaded, err);
  for (size_t i = 0; i < plan->spec->launch_count && !status; i++) {
    const struct kernel_launch *launch = &plan->spec->launches[i];
    status = ops->entry(device, plan->loaded, plan_entry_index(plan->spec, launch->entry),
                        launch->shared_bytes, &plan->entries[i], err);
    if (!status && launch->has_carveout && ops->carve)
      status = ops->carve(device, plan->entries[i], launch->carveout, err);
  }
  return status ? status : check_cooperative(plan, err);
}

/* loaded: the loaded image of another plan; NULL: the image is loaded now. */
static int open_loaded(struct device *device, const struct kernel_spec *spec,
                       const struct compiled *compiled, struct loaded *loaded, struct plan **out,
                       cugen_error *err) {
  *out = NULL;
  if (spec->launch_count > KERNEL_MAX_LAUNCHES || spec->argument_count > KERNEL_MAX_ARGUMENTS)
    return error_set(err, CUGEN_ERROR_INTERNAL,
                     "a plan has at most %d launches that differ, and %d arguments",
                     KERNEL_MAX_LAUNCHES, KERNEL_MAX_ARGUMENTS);
  struct plan *plan = calloc(1, sizeof *plan);
  if (!plan) return error_memory(err);
  plan->device = device;
  plan->spec = spec;
  plan->loaded = loaded;
  plan->shared = loaded != NULL;
  plan->entries = calloc(spec->launch_count + 1, sizeof *plan->entries);
  const struct device_facts *facts = &device->description.facts;
  int status = plan->entries ? plan_check_launches(device->ops, facts, spec, compiled, NULL, err)
                             : error_memory(err);
  if (!status)
    status = function_is(compiled) ? function_load(compiled, &plan->function, err)
                                   : load_kernels(plan, compiled, err);
  if (status) {
    plan_close(plan);
    return status;
  }
  *out = plan;
  return CUGEN_OK;
}

int plan_open(struct device *device, const struct kernel_spec *spec,
              const struct compiled *compiled, struct plan **out, cugen_error *err) {
  return open_loaded(device, spec, compiled, NULL, out, err);
}

int plan_open_sharing(const struct plan *of, const struct kernel_spec *spec,
                      const struct compiled *compiled, struct plan **out, cugen_error *err) {
  return open_loaded(of->device, spec, compiled, of->loaded, out, err);
}

void plan_close(struct plan *plan) {
  if (!plan) return;
  if (plan->loaded && !plan->shared) plan->device->ops->unload(plan->device, plan->loaded);
  free(plan->entries);
  free(plan);
}

/* ---- Scalars -------------------------------------------------------------------------------- */

static int refuse_scalar(const struct kernel_argument *argument, struct value refused,
                         cugen_error *err) {
  struct text value = {0};
  value_print(refused, &value);
  error_set(err, CUGEN_ERROR_CONFIG, "scalar '%s': %s is not a value of %s", argument->name,
            text_get(&value), argument->dtype->name);
  text_free(&value);
  return CUGEN_ERROR_CONFIG;
}

/* ---- Binding -------------------------------------------------------------------------------- */

int plan_symbol(const struct plan *plan, const char *name, bool written, void **address,
                size_t *bytes, cugen_error *err) {
  return plan->device->ops->symbol(plan->device, plan->loaded, name, written, address, bytes, err);
}

/* "scale.cu:3: kernel 'scale'", followed by " (launch at line 12)" where the launch has a
   parameter list of its own. */
static struct text name_kernel(const struct kernel_launch *launch) {
  struct text name = {0};
  bool known = launch->place && *launch->place;
  text_addf(&name, "%s%skernel '%s'", known ? launch->place : "", known ? ": " : "", launch->entry);
  if (launch->listed && launch->line) text_addf(&name, " (launch at line %d)", launch->line);
  return name;
}

static int prefix_kernel(const struct kernel_launch *launch, cugen_error *err) {
  struct text name = name_kernel(launch);
  int status = error_prefix(err, "%s", text_get(&name));
  text_free(&name);
  return status;
}

/* Every argument in a symbol has to be declared in the source, even an unread argument, because a
   misspelt symbol would keep its zeros without a message. */
int plan_check_symbol(const struct kernel_spec *spec, size_t index, int64_t room,
                      cugen_error *err) {
  const struct kernel_argument *argument = &spec->arguments[index];
  const bool pointer = argument->access == ACCESS_POINTER;
  const int64_t bytes = pointer ? (int64_t)sizeof(void *) : kernel_argument_bytes(argument);
  if (room < 0 || (pointer ? room == bytes : room >= bytes)) return CUGEN_OK;
  if (room && pointer)
    error_set(err, CUGEN_ERROR_CONFIG,
              "variable '%s' has %lld bytes and is to hold an address: declare it %s *%s",
              argument->name, (long long)room, argument->dtype->cuda_name, argument->name);
  else if (room)
    error_set(err, CUGEN_ERROR_CONFIG,
              "variable '%s' has %lld bytes, but the config's argument %lld; make it as large",
              argument->name, (long long)room, (long long)bytes);
  else
    error_set(err, CUGEN_ERROR_CONFIG,
              DEVICE_NO_SYMBOL " in the source; declare each argument that its access makes a "
                               "symbol, read or not, at file scope and without static or const",
              argument->name);
  return prefix_kernel(&spec->launches[0], err);
}

static int runtime_plan_find_symbol(struct plan *plan, struct call *call, size_t index,
                                    bool written, cugen_error *err) {
  size_t room = 0;
  int status = plan_symbol(plan, plan->spec->arguments[index].name, written,
                           &call->addresses[index], &room, err);
  if (!status || status == CUGEN_ERROR_CONFIG)
    return plan_check_symbol(plan->spec, index, (int64_t)room, err);
  return prefix_kernel(&plan->spec->launches[0], err);
}

/* Copies a constant's values at bind to where the kernel reads them. */
static int copy_constant(struct plan *plan, struct call *call, size_t index,
                         const struct memory *memory, cugen_error *err) {
  const struct kernel_argument *argument = &plan->spec->arguments[index];
  const struct device_ops *ops = plan->device->ops;
  size_t bytes = (size_t)kernel_argument_bytes(argument);
  int status =
      kernel_argument_symbol(argument)
          ? runtime_plan_find_symbol(plan, call, index, true, err)
          : ops->alloc(plan->device, MEMORY_DEVICE, bytes, false, &call->copies[index], err);
  if (call->copies[index].device) call->addresses[index] = call->copies[index].device;
  return status ? status
                : ops->copy_2d(plan->device, call->addresses[index], bytes, memory->device, bytes,
                               bytes, 1, err);
}

/* Copies the buffer's address to device memory, from which each call sets the symbol, because
   another call of the plan, or a replay of a captured call, may have set the symbol to another
   buffer in between. */
static int bind_pointer(struct plan *plan, struct call *call, size_t index, void *address,
                        cugen_error *err) {
  const struct device_ops *ops = plan->device->ops;
  struct memory *copy = &call->copies[index];
  int status = ops->alloc(plan->device, MEMORY_DEVICE, sizeof address, false, copy, err);
  if (status) return status;
  call->symbols[call->symbol_count++] = (struct symbol){
      .at = call->addresses[index], .buffer = copy->device, .bytes = sizeof address, .read = true};
  return ops->copy_2d(plan->device, copy->device, sizeof address, &address, sizeof address,
                      sizeof address, 1, err);
}

/* Without memory the values, or the address, stay in the symbol. */
static int bind_symbol(struct plan *plan, struct call *call, size_t index,
                       const struct memory *memory, cugen_error *err) {
  const struct kernel_argument *argument = &plan->spec->arguments[index];
  int status = runtime_plan_find_symbol(plan, call, index, memory->device != NULL, err);
  if (status || !memory->device) return status;
  if (argument->access == ACCESS_POINTER)
    return bind_pointer(plan, call, index, memory->device, err);
  call->symbols[call->symbol_count++] =
      (struct symbol){.at = call->addresses[index],
                      .buffer = memory->device,
                      .bytes = (size_t)kernel_argument_bytes(argument),
                      .read = argument->kind != CUGEN_ARGUMENT_OUTPUT,
                      .written = argument->kind != CUGEN_ARGUMENT_INPUT};
  return CUGEN_OK;
}

static int make_map(struct device *device, const struct kernel_argument *argument,
                    const struct memory *memory, struct tensor_map *out, cugen_error *err) {
  if (device->ops->tensor_make)
    return device->ops->tensor_make(device, argument, memory->device, out, err);
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "argument '%s' is reached through a tensor map, which the device %s has not",
                   argument->name, device->description.id);
}

static int refuse_compiled_in(const struct kernel_argument *argument, cugen_error *err) {
  struct text value = {0};
  value_print(argument->value, &value);
  error_set(err, CUGEN_ERROR_USAGE,
            "scalar '%s' is compiled in as %s and was given another value: pass NULL, or open the "
            "kernel for a problem with that value",
            argument->name, text_get(&value));
  text_free(&value);
  return CUGEN_ERROR_USAGE;
}

/* given: the value to pass instead of the spec's, or NULL. */
static int bind_scalar(const struct kernel_argument *argument, const void *given,
                       unsigned char *out, cugen_error *err) {
  size_t bytes = (size_t)kernel_argument_bytes(argument);
  if (argument->absent && given)
    return error_set(err, CUGEN_ERROR_USAGE, "argument '%s' is none of this problem's: pass NULL",
                     argument->name);
  if (argument->absent) return CUGEN_OK;
  if (argument->struct_bytes) {
    memcpy(out, given ? given : argument->packed, bytes);
    return CUGEN_OK;
  }
  bool known = (kernel_argument_passed(argument) && !given) || argument->compiled_in;
  if (known && !element_pack(argument->dtype, argument->value, out))
    return kernel_argument_passed(argument) ? refuse_scalar(argument, argument->value, err)
                                            : CUGEN_OK;
  if (!given) return CUGEN_OK;
  if (argument->compiled_in)
    return memcmp(out, given, bytes) ? refuse_compiled_in(argument, err) : CUGEN_OK;
  memcpy(out, given, bytes);
  return CUGEN_OK;
}

/* Checks that memory was given where needed, and that elements are aligned to their own size, since
   a GPU traps otherwise. Wider accesses need an alignment that only the template knows. */
static int check_address(const struct kernel_argument *argument, const void *address,
                         cugen_error *err) {
  const bool constant = argument->kind == CUGEN_ARGUMENT_CONSTANT;
  if (!address && (argument->unused || (kernel_argument_symbol(argument) && !constant)))
    return CUGEN_OK;
  size_t past = (size_t)((uintptr_t)address % (uintptr_t)argument->dtype->bytes);
  if (!address)
    return error_set(err, CUGEN_ERROR_USAGE, "argument '%s' was given no memory", argument->name);
  if (!past) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "argument '%s' was given %p, which is %zu bytes past a multiple of %d: its "
                   "elements are %s and begin at multiples of their size",
                   argument->name, address, past, argument->dtype->bytes, argument->dtype->name);
}

static int bind_argument(struct plan *plan, struct call *call, size_t index,
                         const struct memory *memory, cugen_error *err) {
  const struct kernel_argument *argument = &plan->spec->arguments[index];
  if (argument->kind == CUGEN_ARGUMENT_SCALAR) {
    int status = bind_scalar(argument, memory->host, call->scalars[index].bytes, err);
    kernel_struct_fill(plan->spec, index, call->addresses, call->scalars[index].bytes);
    return status;
  }
  int status = check_address(argument, memory->device, err);
  if (status) return status;
  if (argument->kind == CUGEN_ARGUMENT_CONSTANT)
    return copy_constant(plan, call, index, memory, err);
  if (kernel_argument_symbol(argument)) return bind_symbol(plan, call, index, memory, err);
  if (kernel_argument_textured(argument)) {
    struct texture *texture = &call->textures[index];
    status = plan->device->ops->texture_make(plan->device, argument, memory->device, texture, err);
    if (!status && texture->array) call->arrays[call->array_count++] = index;
    return status;
  }
  if (argument->access == ACCESS_TENSOR)
    return make_map(plan->device, argument, memory, &call->maps[index], err);
  call->addresses[index] = memory->device;
  return CUGEN_OK;
}

static void *parameter_place(const struct kernel_argument *argument, struct call *call,
                             size_t index) {
  if (argument->kind == CUGEN_ARGUMENT_SCALAR) return call->scalars[index].bytes;
  if (argument->access == ACCESS_TENSOR) return &call->maps[index];
  return kernel_argument_textured(argument) ? (void *)&call->textures[index].object
                                            : (void *)&call->addresses[index];
}

static size_t count_parameters(const struct kernel_spec *spec, size_t launch) {
  struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
  return kernel_launch_parameters(spec, &spec->launches[launch], passed);
}

/* Lists the parameters of all launches in order, each a pointer to its value, with the values that
   only one launch passes in call->own. */
static int list_parameters(const struct plan *plan, struct call *call, void *const *extra,
                           size_t extra_count, cugen_error *err) {
  void **out = call->parameters;
  int64_t *own = call->own;
  for (size_t i = 0; i < plan->spec->launch_count; i++) {
    struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
    size_t count = kernel_launch_parameters(plan->spec, &plan->spec->launches[i], passed);
    call->launch_parameters[i] = out;
    for (size_t p = 0; p < count; p++) {
      const struct kernel_argument *argument = &plan->spec->arguments[passed[p].argument];
      if (passed[p].value.type == VALUE_NIL)
        *out++ = parameter_place(argument, call, passed[p].argument);
      else if (element_pack(argument->dtype, passed[p].value, (unsigned char *)own))
        *out++ = own++;
      else
        return refuse_scalar(argument, passed[p].value, err);
    }
    for (size_t e = 0; e < extra_count; e++) *out++ = extra[e];
    out++; /* the NULL that ends the launch's list */
  }
  return CUGEN_OK;
}

/* ---- Comparing a kernel's parameters with the passed ones ----------------------------------- */

struct passing {
  const struct kernel_spec *spec;
  const struct kernel_launch *launch;
  const char *kernel; /* for messages */
  struct kernel_parameter parameters[KERNEL_MAX_ARGUMENTS];
  size_t count, extra; /* extra: passed behind the arguments */
};

static int runtime_plan_refuse_count(const struct passing *p, int takes, cugen_error *err) {
  struct text names = {0};
  for (size_t i = 0; i < p->count; i++)
    text_addf(&names, "%s%s", i ? ", " : "", p->spec->arguments[p->parameters[i].argument].name);
  /* the `extra` parameters of call_bind, which a reference takes */
  for (size_t i = 0; i < p->spec->argument_count && p->extra > 2; i++)
    if (p->spec->arguments[i].kind == CUGEN_ARGUMENT_INOUT && !p->spec->arguments[i].absent)
      text_addf(&names, ", %s_before", p->spec->arguments[i].name);
  if (p->extra) text_add(&names, ", samples, sample_count");
  error_set(err, CUGEN_ERROR_CONFIG,
            "%s takes %d parameters but is passed %zu (%s): its parameter list and the config's %s "
            "must agree",
            p->kernel, takes, p->count + p->extra, text_get(&names),
            p->launch->listed ? "pass" : "arguments");
  text_free(&names);
  return CUGEN_ERROR_CONFIG;
}

/* Reports the argument's line of the config, where the line is known. */
static int plan_refuse_size(const struct passing *p, size_t i, int takes, int bytes,
                            cugen_error *err) {
  const struct kernel_argument *argument = &p->spec->arguments[p->parameters[i].argument];
  const char *place = p->launch->place;
  struct text kernel = {0};
  if (p->launch->listed) text_addf(&kernel, " (number %zu)", i + 1);
  text_addf(&kernel, " in kernel '%s'", p->launch->entry);
  if (place && *place) text_addf(&kernel, " of %s", place);
  if (p->launch->listed && p->launch->line)
    text_addf(&kernel, " (launch at line %d)", p->launch->line);
  error_set(err, CUGEN_ERROR_CONFIG,
            "argument '%s' has %d bytes, but its parameter%s has %d: their types must agree",
            argument->name, bytes, text_get(&kernel), takes);
  if (argument->file && *argument->file) error_prefix_at(err, argument->file, argument->line, NULL);
  text_free(&kernel);
  return CUGEN_ERROR_CONFIG;
}

/* Checks that the values which only this launch passes fit their types; bind_scalar checks the
   values of arguments. */
static int check_values(const struct passing *p, cugen_error *err) {
  for (size_t i = 0; i < p->count; i++) {
    union scalar packed;
    const struct kernel_argument *argument = &p->spec->arguments[p->parameters[i].argument];
    const struct value value = p->parameters[i].value;
    if (value.type == VALUE_NIL || element_pack(argument->dtype, value, packed.bytes)) continue;
    refuse_scalar(argument, value, err);
    return error_prefix(err, "%s", p->kernel);
  }
  return CUGEN_OK;
}

int plan_check_parameters(const struct kernel_spec *spec, size_t launch, size_t extra,
                          const int *sizes, int takes, cugen_error *err) {
  struct passing p = {.spec = spec, .launch = &spec->launches[launch], .extra = extra};
  if (takes < 0) return CUGEN_OK;
  struct text kernel = name_kernel(p.launch);
  p.kernel = text_get(&kernel);
  p.count = kernel_launch_parameters(spec, p.launch, p.parameters);
  int status = CUGEN_OK;
  if ((size_t)takes != p.count + extra) status = runtime_plan_refuse_count(&p, takes, err);
  for (size_t i = 0; i < p.count && !status; i++) {
    const struct kernel_argument *argument = &spec->arguments[p.parameters[i].argument];
    size_t bytes = argument->access == ACCESS_TENSOR ? sizeof(struct tensor_map) : sizeof(void *);
    if (argument->kind == CUGEN_ARGUMENT_SCALAR) bytes = (size_t)kernel_argument_bytes(argument);
    if (sizes[i] != (int)bytes) status = plan_refuse_size(&p, i, sizes[i], (int)bytes, err);
  }
  if (!status) status = check_values(&p, err);
  text_free(&kernel);
  return status;
}

static int plan_allocate(const struct kernel_spec *spec, struct call *call, size_t extra,
                         cugen_error *err) {
  size_t count = 0;
  bool maps = false;
  for (size_t i = 0; i < spec->launch_count; i++) count += count_parameters(spec, i) + extra + 1;
  for (size_t i = 0; i < spec->argument_count; i++)
    maps |= spec->arguments[i].access == ACCESS_TENSOR;
  call->parameters = calloc(count + 1, sizeof *call->parameters);
  call->launch_parameters = calloc(spec->launch_count + 1, sizeof *call->launch_parameters);
  call->own = calloc(spec->parameter_count + 1, sizeof *call->own);
  if (maps) /* tensor maps need a larger alignment than calloc gives */
    call->maps =
        aligned_alloc(_Alignof(struct tensor_map), spec->argument_count * sizeof *call->maps);
  const bool allocated = call->parameters && call->launch_parameters && call->own;
  return allocated && (call->maps || !maps) ? CUGEN_OK : error_memory(err);
}

static int bind_kernels(struct plan *plan, struct call *call, const struct memory *memory,
                        void *const *extra, size_t extra_count, struct call *before,
                        cugen_error *err) {
  const struct device_ops *ops = plan->device->ops;
  int status = plan_allocate(plan->spec, call, extra_count, err);
  for (size_t i = 0; i < plan->spec->launch_count && !status; i++) {
    int sizes[PLAN_MAX_PARAMETERS] = {0};
    int takes =
        ops->parameters ? ops->parameters(plan->entries[i], sizes, PLAN_MAX_PARAMETERS) : -1;
    status = plan_check_parameters(plan->spec, i, extra_count, sizes, takes, err);
  }
  if (!status) status = list_parameters(plan, call, extra, extra_count, err);
  for (size_t i = 0; i < plan->spec->argument_count && !status; i++)
    status = bind_argument(plan, call, i, &memory[i], err);
  /* This must be the last step, because the device memory that was prepared for `before` may move
     to the new call. */
  void **first = call->launch_parameters ? call->launch_parameters[0] : NULL;
  if (status || !ops->prepare || !first) return status;
  status = ops->prepare(plan->device, plan->entries[0], first, before ? before->prepared : NULL,
                        &call->prepared, err);
  if (call->prepared) first[count_parameters(plan->spec, 0) + extra_count] = call->prepared;
  return status;
}

/* Binds the arguments as an application passes them, without the textures, symbols and tensor maps
   that an implementation makes of arguments. */
static int bind_function(struct plan *plan, struct call *call, const struct memory *memory,
                         cugen_error *err) {
  struct function_call *f = call->function = calloc(1, sizeof *f);
  int status = f ? CUGEN_OK : error_memory(err);
  if (!status) f->function = plan->function;
  for (size_t i = 0; i < plan->spec->argument_count && !status; i++) {
    const struct kernel_argument *argument = &plan->spec->arguments[i];
    call->addresses[i] = memory[i].device;
    f->arguments[i] = memory[i].device;
    if (argument->kind == CUGEN_ARGUMENT_SCALAR) {
      status = bind_argument(plan, call, i, &memory[i], err);
      f->arguments[i] = argument->absent ? NULL : call->scalars[i].bytes;
    }
    kernel_argument_info(argument, &f->infos[i]);
    f->about[i] = &f->infos[i];
  }
  return status;
}

/* Returns whether only addresses and tensor maps follow from the memory. */
static bool is_movable(const struct kernel_spec *spec, const struct memory *memory) {
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *argument = &spec->arguments[i];
    const bool scalar = argument->kind == CUGEN_ARGUMENT_SCALAR;
    if (scalar && (memory[i].host || argument->struct_bytes)) return false;
    if (!scalar && (argument->kind == CUGEN_ARGUMENT_CONSTANT || kernel_argument_symbol(argument) ||
                    kernel_argument_textured(argument)))
      return false;
  }
  return true;
}

int call_move(struct call *call, const struct memory *memory, bool *moved, cugen_error *err) {
  struct tensor_map maps[KERNEL_MAX_ARGUMENTS];
  const struct kernel_spec *spec = call->spec;
  int status = CUGEN_OK;
  *moved = call->movable && is_movable(spec, memory);
  for (size_t i = 0; *moved && i < spec->argument_count && !status; i++) {
    if (spec->arguments[i].kind == CUGEN_ARGUMENT_SCALAR) continue;
    status = check_address(&spec->arguments[i], memory[i].device, err);
    if (!status && spec->arguments[i].access == ACCESS_TENSOR)
      status = make_map(call->device, &spec->arguments[i], &memory[i], &maps[i], err);
  }
  for (size_t i = 0; *moved && i < spec->argument_count && !status; i++) {
    if (spec->arguments[i].kind == CUGEN_ARGUMENT_SCALAR) continue;
    if (spec->arguments[i].access == ACCESS_TENSOR)
      call->maps[i] = maps[i];
    else
      call->addresses[i] = memory[i].device;
  }
  *moved &= !status;
  return status;
}

static int plan_bind(struct plan *plan, const struct memory *memory, void *const *extra,
                     size_t extra_count, struct call *before, struct call **out, cugen_error *err) {
  *out = NULL;
  struct call *call = calloc(1, sizeof *call);
  if (!call) return error_memory(err);
  call->device = plan->device;
  call->spec = plan->spec;
  call->entries = plan->entries;
  int status = plan->function ? bind_function(plan, call, memory, err)
                              : bind_kernels(plan, call, memory, extra, extra_count, before, err);
  call->movable = !call->prepared && is_movable(plan->spec, memory);
  if (status) {
    call_free(call);
    return status;
  }
  *out = call;
  return CUGEN_OK;
}

int call_bind(struct plan *plan, const struct memory *memory, void *const *extra,
              size_t extra_count, struct call **out, cugen_error *err) {
  return plan_bind(plan, memory, extra, extra_count, NULL, out, err);
}

int call_rebind(struct plan *plan, const struct memory *memory, struct call **call,
                cugen_error *err) {
  struct call *bound;
  int status = plan_bind(plan, memory, NULL, 0, *call, &bound, err);
  if (status) return status;
  call_free(*call);
  *call = bound;
  return CUGEN_OK;
}

void call_free(struct call *call) {
  if (!call) return;
  struct device *device = call->device;
  if (call->prepared) device->ops->unprepare(device, call->entries[0], call->prepared);
  for (size_t i = 0; i < KERNEL_MAX_ARGUMENTS; i++) {
    if (call->textures[i].object) device->ops->texture_free(device, &call->textures[i]);
    if (call->copies[i].base) device->ops->free(device, &call->copies[i]);
  }
  free(call->function);
  free(call->maps);
  free(call->parameters);
  free(call->launch_parameters);
  free(call->own);
  free(call);
}

static int copy_symbol(const struct call *call, const struct symbol *symbol, bool in,
                       void *const *stream, cugen_error *err) {
  return call->device->ops->copy(call->device, in ? symbol->at : symbol->buffer,
                                 in ? symbol->buffer : symbol->at, symbol->bytes, stream, err);
}

int call_poison(const struct call *call, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < call->symbol_count && !status; i++)
    if (!call->symbols[i].read) status = copy_symbol(call, &call->symbols[i], true, NULL, err);
  return status;
}

/* Fills arrays and symbols, makes all launches, and copies outputs from symbols. stream: as for
   texture_update. */
static int launch_all(const struct call *call, void *const *stream, cugen_error *err) {
  const struct device_ops *ops = call->device->ops;
  const size_t count = kernel_spec_calls(call->spec);
  int status = CUGEN_OK;
  for (size_t i = 0; i < call->array_count && !status; i++)
    status = ops->texture_update(call->device, &call->textures[call->arrays[i]], stream, err);
  for (size_t i = 0; i < call->symbol_count && !status; i++)
    if (call->symbols[i].read) status = copy_symbol(call, &call->symbols[i], true, stream, err);
  for (size_t i = 0; i < count && !status; i++) {
    const size_t at = kernel_spec_call(call->spec, i);
    const struct kernel_launch *launch = &call->spec->launches[at];
    void **parameters = call->launch_parameters[at];
    status = stream
                 ? ops->launch_on(call->device, call->entries[at], launch, parameters, *stream, err)
                 : ops->launch(call->device, call->entries[at], launch, parameters, err);
  }
  for (size_t i = 0; i < call->symbol_count && !status; i++)
    if (call->symbols[i].written) status = copy_symbol(call, &call->symbols[i], false, stream, err);
  return status;
}

int call_launch(struct call *call, cugen_error *err) {
  return call->function ? function_launch(call->device, call->function, err)
                        : launch_all(call, NULL, err);
}

int call_launch_on(const struct call *call, void *stream, cugen_error *err) {
  return launch_all(call, &stream, err);
}
