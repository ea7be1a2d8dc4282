/* Opening the CUDA driver and describing its errors; see driver.h. */
#include "driver.h"
#include "runtime/compile/toolkit.h"

/* The driver versions that CUDA major versions need (CUDA Toolkit release notes, table "CUDA
   Toolkit and Minimum Required NVIDIA Driver Version"). */
static const struct requirement {
  int cuda_major, driver;
} requirements[] = {{11, 450}, {12, 525}, {13, 580}};

static const struct toolkit_symbol symbols[] = {
#define X(member, symbol, required, parameters)                                                    \
  {#symbol, offsetof(struct driver, member), required},
    DRIVER_FUNCTIONS(X)
#undef X
};

/* ---- Errors --------------------------------------------------------------------------------- */

/* The causes for which the driver's errors about kernels and devices stand. */
static const struct {
  CUresult result;
  cugen_cause cause;
} causes[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, CUGEN_CAUSE_BOUNDS},
    {CUDA_ERROR_MISALIGNED_ADDRESS, CUGEN_CAUSE_BOUNDS},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, CUGEN_CAUSE_BOUNDS},
    {CUDA_ERROR_LAUNCH_TIMEOUT, CUGEN_CAUSE_KERNEL_TIME},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUGEN_CAUSE_RESOURCES},
    {CUDA_ERROR_INVALID_VALUE, CUGEN_CAUSE_RESOURCES},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_ECC_UNCORRECTABLE, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_SYSTEM_NOT_READY, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_NO_DEVICE, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_DEINITIALIZED, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_INVALID_CONTEXT, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_MPS_CONNECTION_FAILED, CUGEN_CAUSE_DEVICE_LOST},
    {CUDA_ERROR_MPS_RPC_FAILURE, CUGEN_CAUSE_DEVICE_LOST},
};

int driver_check(const struct driver *driver, CUresult result, enum driver_call call,
                 cugen_error *err) {
  if (result == CUDA_SUCCESS) return CUGEN_OK;
  const char *name = NULL, *text = NULL;
  if (driver->error_name(result, &name) || !name) name = "an error without a name";
  if (driver->error_string(result, &text) || !text) text = "the driver does not describe it";
  int status = result == CUDA_ERROR_OUT_OF_MEMORY ? CUGEN_ERROR_MEMORY : CUGEN_ERROR_DEVICE;
  cugen_cause cause = CUGEN_CAUSE_NONE;
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
    if (causes[i].result == result) cause = causes[i].cause;
  return error_set_cause(err, status, cause, "%s: %s (%d): %s", symbols[call].name, name,
                         (int)result, text);
}

static int driver_needed(int cuda_major) {
  int needed = 0;
  for (size_t i = 0; i < sizeof requirements / sizeof *requirements; i++)
    if (requirements[i].cuda_major <= cuda_major) needed = requirements[i].driver;
  return needed;
}

int driver_check_version(const struct driver *driver, const struct toolkit *toolkit,
                         cugen_error *err) {
  int major = toolkit_nvrtc_major(toolkit);
  if (driver->version / 1000 >= major) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "the CUDA driver is too old: it supports CUDA %d.%d, but NVRTC is of CUDA %d "
                   "(%s), whose kernels need an NVIDIA driver %d or newer.\nUpdate the driver, or "
                   "name a CUDA %d toolkit with cugen_options.toolkit (one from PyPI: pip install "
                   "--target cuda 'cuda-toolkit[cccl,cudart,nvrtc]==%d.*').",
                   driver->version / 1000, driver->version % 1000 / 10, major,
                   text_get(&toolkit->nvrtc), driver_needed(major), driver->version / 1000,
                   driver->version / 1000);
}

/* ---- Opening -------------------------------------------------------------------------------- */

static int driver_load(const struct toolkit *toolkit, void **table, cugen_error *err) {
  int status =
      toolkit_load_table(text_get(&toolkit->driver), symbols, sizeof symbols / sizeof *symbols,
                         sizeof(struct driver), table, err);
  if (status == CUGEN_ERROR_MISSING) {
    int major = toolkit_nvrtc_major(toolkit) ? toolkit_nvrtc_major(toolkit) : CUDA_VERSION / 1000;
    error_append(err, "; GPU work needs an NVIDIA driver %d or newer for CUDA %d",
                 driver_needed(major), major);
  }
  if (status) return status;
  struct driver *driver = *table;

  /* Clears library_load unless all context-independent functions exist, so that code need test only
     library_load. */
  if (!driver->library_load || !driver->library_unload || !driver->library_kernel ||
      !driver->library_global || !driver->kernel_function)
    driver->library_load = NULL;

  status = DRIVER_CALL(driver, err, driver_version, (&driver->version));
  if (status) return status;
  CUresult result = driver->init(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    return error_set(
        err, CUGEN_ERROR_DEVICE,
        "the CUDA driver is there (CUDA %d.%d) but sees no GPU: look at nvidia-smi, at "
        "CUDA_VISIBLE_DEVICES, and at whether a container was given the GPU",
        driver->version / 1000, driver->version % 1000 / 10);
  return driver_check(driver, result, DRIVER_init, err);
}

int driver_open(const struct toolkit *toolkit, const struct driver **out, cugen_error *err) {
  const void *table;
  int status = toolkit_library(toolkit, TOOLKIT_DRIVER, driver_load, &table, err);
  *out = table;
  return status;
}
