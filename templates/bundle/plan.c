/* ---- Plans ----------------------------------------------------------------------------------- */

struct bundle_plan {
  bundle_library *library;
  struct chosen chosen;
  struct sizes sizes;
  bundle_info info;
  void *module;
  void *functions[MOST_KERNELS];
};

/* Returns the most dynamic shared memory of all launches of the kernel. */
static long long most_shared(const struct sizes *s, size_t kernel) {
  long long most = 0;
  for (size_t i = 0; i < s->launch_count; i++)
    if (s->launches[i].kernel == kernel && s->launches[i].shared > most)
      most = s->launches[i].shared;
  return most;
}

/* Allows the function's clusters if they have more than PORTABLE_CLUSTER blocks. A driver without
   clusters does not know the attributes, and the function then has no cluster. */
static int allow_cluster(const struct driver *driver, void *function, bundle_error *error) {
  int blocks = 1, side = 0;
  for (int i = 0; i < 3; i++)
    if (!driver->function_get(&side, FUNCTION_CLUSTER + i, function) && side > 0) blocks *= side;
  return blocks > PORTABLE_CLUSTER
             ? CALL(driver, function_set, (function, FUNCTION_LARGE_CLUSTER, 1), error)
             : BUNDLE_OK;
}

/* Fails if the blocks of a cooperative launch are more than the device holds at once. */
static int check_cooperative(const bundle_plan *plan, size_t launch_index, bundle_error *error) {
  const struct driver *driver = &plan->library->driver;
  const struct launch_sizes *l = &plan->sizes.launches[launch_index];
  const long long threads = l->block[0] * l->block[1] * l->block[2],
                  blocks = l->grid[0] * l->grid[1] * l->grid[2];
  int resident = 0;
  if (!l->cooperative) return BUNDLE_OK;
  if (!driver->launch_with)
    return fail(error, BUNDLE_ERROR_MISSING,
                "@name: this CUDA driver has no %s, which a cooperative launch takes",
                symbols[DRIVER_launch_with]);
  int status =
      CALL(driver, active_blocks,
           (&resident, plan->functions[l->kernel], (int)threads, (size_t)l->shared), error);
  const long long most = (long long)resident * plan->library->device.multiprocessors;
  if (status || blocks <= most) return status;
  return fail(error, BUNDLE_ERROR_DEVICE,
              "@name: the cooperative launch of kernel '%s' has %lld blocks, which must all be "
              "there at once, and this "
              "device holds %lld of them: %d multiprocessors with %d each",
              plan->chosen.code->kernels[l->kernel], blocks, most,
              plan->library->device.multiprocessors, resident);
}

/* Returns the carveout of the kernel, which is equal in all of its launches; -1: it has none. */
static int preferred(const struct sizes *s, size_t kernel) {
  for (size_t i = 0; i < s->launch_count; i++)
    if (s->launches[i].kernel == kernel) return (int)s->launches[i].carveout;
  return -1;
}

static int load(bundle_plan *plan, bundle_error *error) {
  const struct driver *driver = &plan->library->driver;
  const struct code *code = plan->chosen.code;
  int status = CALL(driver, module_load, (&plan->module, images[code->image].data), error);
  for (size_t i = 0; i < code->kernel_count && !status; i++) {
    const int shared = (int)most_shared(&plan->sizes, i), percent = preferred(&plan->sizes, i);
    status =
        CALL(driver, module_function, (&plan->functions[i], plan->module, code->kernels[i]), error);
    if (!status && shared)
      status =
          CALL(driver, function_set, (plan->functions[i], FUNCTION_DYNAMIC_SHARED, shared), error);
    if (!status && percent >= 0)
      status = CALL(driver, function_set, (plan->functions[i], FUNCTION_CARVEOUT, percent), error);
    if (!status) status = allow_cluster(driver, plan->functions[i], error);
  }
  for (size_t i = 0; i < plan->sizes.launch_count && !status; i++)
    status = check_cooperative(plan, i, error);
  return status;
}

int bundle_pick(bundle_library *library, const bundle_problem *problem, bundle_plan **out,
                bundle_error *error) {
  if (!out) return is_null("bundle_pick: out", error);
  *out = NULL;
  if (!library || !problem)
    return is_null(library ? "bundle_pick: problem" : "bundle_pick: library", error);
  bundle_plan *plan = calloc(1, sizeof *plan);
  if (!plan) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  plan->library = library;
  int status = choose(&library->device, problem, &plan->sizes, &plan->chosen, error);
  capture(library, problem, status ? NULL : &plan->chosen);
  if (!status) describe(&plan->chosen, &plan->sizes, &plan->info);
  if (!status) status = enter(library, error);
  if (!status) status = leave(library, load(plan, error));
  if (status)
    bundle_drop(plan);
  else
    *out = plan;
  return status;
}

void bundle_drop(bundle_plan *plan) {
  if (!plan) return;
  if (plan->module) {
    int inside = !enter(plan->library, NULL);
    plan->library->driver.module_unload(plan->module);
    if (inside) leave(plan->library, BUNDLE_OK);
  }
  sizes_free(&plan->sizes);
  free(plan);
}

const bundle_info *bundle_about(const bundle_plan *plan) {
  return plan ? &plan->info : NULL;
}

int bundle_argument(const bundle_plan *plan, size_t at, bundle_argument_info *out,
                    bundle_error *error) {
  if (!plan || !out) return is_null(plan ? "bundle_argument: out" : "bundle_argument: plan", error);
  if (at >= BUNDLE_ARGUMENTS)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: argument %zu: there are %d", at,
                (int)BUNDLE_ARGUMENTS);
  const struct argument_sizes *a = &plan->sizes.arguments[at];
  memset(out, 0, sizeof *out);
  out->name = arguments_of_kernel[at].name;
  out->kind = arguments_of_kernel[at].kind;
  out->dtype = a->dtype;
  out->rank = a->rank;
  out->bytes = (a->rank ? a->elements : 1) * a->bytes;
  out->compiled_in = !a->passed;
  out->overwrite = a->overwrite;
  memcpy(out->shape, a->shape, sizeof out->shape);
  memcpy(out->stride, a->stride, sizeof out->stride);
  return BUNDLE_OK;
}
