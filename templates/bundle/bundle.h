/* @title */
#ifndef BUNDLE_H
#define BUNDLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that can fail returns BUNDLE_OK or a negative status. On failure it describes the
   failure in *error unless error is NULL, and a handle *out is NULL. CUDA handles (CUcontext,
   CUstream, CUdeviceptr) appear as void pointers. None of these functions prints, exits, locks or
   keeps global state. */
enum {
  BUNDLE_OK = 0,
  BUNDLE_ERROR_USAGE = -2,   /* a wrong argument, or a problem that this bundle has no code for */
  BUNDLE_ERROR_DEVICE = -7,  /* a call of the driver failed, or the device is too small */
  BUNDLE_ERROR_MISSING = -8, /* no driver, a driver that is too old, or no code for this device */
  BUNDLE_ERROR_MEMORY = -12  /* out of memory on the host */
};

typedef struct bundle_error {
  int status;
  char message[1024];
} bundle_error;

/* The sizes, types and flags that a variant is wanted for: start from BUNDLE_PROBLEM_INIT. */
typedef struct bundle_problem {
  /* @problem */
} bundle_problem;

/* @init */

/* ---- From Python ----------------------------------------------------------------------------

   A shared library of the bundle's source (cc -shared -fPIC) also has the function `@symbol` of
   Apache TVM-FFI, for tensors of every framework that supports DLPack:

     tvm_ffi.load_module("./@symbol.so").@symbol(@given)

   - The arguments are those of the kernel without scratch and without what follows from the
     problem. None stands for an argument that the problem does not have, and may be left out at
     the end.
   - Sizes follow from the shapes, types from the elements. A tensor may lack dimensions of 1 in
     front. Other values of the problem are the default ones, or are given by a last argument, a
     string such as "NAME=VALUE NAME=VALUE" of bundle_problem's names.
   - The kernel runs on the tensors' device, in its primary context, on the stream that is current
     there, and the function returns before the kernel ends. Tensors in host memory are copied to
     device 0 and outputs back. Types, shapes, strides and the alignment (16 bytes) are checked; an
     error is raised as ValueError, RuntimeError or MemoryError.
   - The first call for a kind of arguments loads code, and reserves scratch for its stream; both
     stay until the process ends. Later calls load nothing, so call once before a graph is captured.
     With constants, tensors in host memory, or an address that the variant keeps in a variable,
     each call makes copies and waits for the kernel. */

/* ---- Which variant -------------------------------------------------------------------------- */

typedef struct bundle_device {
  const char *name;    /* as the driver gives it: "NVIDIA H200" */
  int capability;      /* 10 * major + minor: 90 */
  int multiprocessors; /* 132 */
} bundle_device;

typedef enum bundle_choice {
  BUNDLE_EXACT, /* the best that was measured for this problem */
  BUNDLE_NEAR,  /* the best for another problem, by the kernel's policy */
  /* nothing that was measured on such a device of yours serves: a portfolio that ships with cugen,
     else the config's default variant */
  BUNDLE_DEFAULT,
  BUNDLE_PORTFOLIO /* by the rule of a portfolio of yours, learnt from other sizes */
} bundle_choice;

typedef struct bundle_info {
  const char *variant; /* "tiled tile=16 pad=1" */
  bundle_choice choice;
  const char *tuned_for; /* the problem the variant was tuned for; NULL: portfolio or default */
  double distance;       /* of this problem to tuned_for: the largest |log2| of a ratio of sizes */
  double seconds;        /* for tuned_for, measured or predicted (README.md); 0: no tuned_for */
  const char *device;    /* the device the code was made for */
  const char *arch;      /* "sm_90a", or "compute_75": PTX that the driver compiles */
  size_t code_bytes;
  size_t launches; /* kernels launched by one bundle_launch */
} bundle_info;

/* Tells which variant bundle_pick would choose on such a device. Needs no driver. The strings in
   *out are constants. */
int bundle_choose(const bundle_device *device, const bundle_problem *problem, bundle_info *out,
                  bundle_error *error);

/* ---- Using it ------------------------------------------------------------------------------- */

/* The bundle opened in one CUDA context. A library never changes, and several threads may use it
   at once. */
typedef struct bundle_library bundle_library;
/* One variant for one problem, with its code loaded. A plan never changes, and several threads may
   use it at once. */
typedef struct bundle_plan bundle_plan;
/* A plan with its arguments. A call that owns scratch memory may be launched on one stream at a
   time. */
typedef struct bundle_call bundle_call;

/* Opens the bundle in a CUcontext, which must outlive the library. context NULL: the calling
   thread's current context, or if it has none, the primary context of device 0. */
int bundle_open(void *context, bundle_library **out, bundle_error *error);
/* Opens the bundle in the primary context of the device with this ordinal. */
int bundle_open_device(int ordinal, bundle_library **out, bundle_error *error);
/* Closes the library; all of its plans must have been dropped. */
void bundle_close(bundle_library *library);
const bundle_device *bundle_about_device(const bundle_library *library);

/* Chooses a variant for the problem, and loads its code. */
int bundle_pick(bundle_library *library, const bundle_problem *problem, bundle_plan **out,
                bundle_error *error);
/* Drops the plan; all of its calls must have been released. */
void bundle_drop(bundle_plan *plan);
const bundle_info *bundle_about(const bundle_plan *plan);

typedef enum bundle_argument_kind {
  BUNDLE_INPUT,
  BUNDLE_OUTPUT,
  BUNDLE_INOUT,
  BUNDLE_SCRATCH,
  BUNDLE_SCALAR,
  BUNDLE_CONSTANT
} bundle_argument_kind;

enum { BUNDLE_MAX_RANK = 4 };

typedef struct bundle_argument_info {
  const char *name;
  bundle_argument_kind kind;
  const char *dtype;                                         /* "f32"; "struct" */
  int rank;                                                  /* 0 for a scalar */
  long long shape[BUNDLE_MAX_RANK], stride[BUNDLE_MAX_RANK]; /* elements; a tiled or swizzled
                                                                buffer has strides 0 */
  long long bytes;                                           /* whole buffer, pitch included */
  /* not passed: a scalar that is part of the code, or an argument that the problem does not have */
  int compiled_in;
  /* input: the kernel may write to the buffer */
  int overwrite;
} bundle_argument_info;

/* Sets *out to the device address of the plan's __device__ or __constant__ variable of that
   name, which cuMemcpyAsync may write and read, and *bytes to its size. out and bytes may each
   be NULL. */
int bundle_symbol(const bundle_plan *plan, const char *name, void **out, size_t *bytes,
                  bundle_error *error);

/* Arguments that bundle_bind takes, in this order: @arguments.@overwritten */
enum { BUNDLE_ARGUMENTS = @argument_count };
int bundle_argument(const bundle_plan *plan, size_t index, bundle_argument_info *out,
                    bundle_error *error);

/* Makes a call from the plan and its arguments. arguments[i] depends on the kind of argument i:
   - Buffer: its device pointer, aligned to its element's size, or to 16 bytes where the variant
     reaches it through a tensor map; otherwise the result is BUNDLE_ERROR_USAGE. Scratch may be
     NULL: the call then owns zeroed memory of its own. Scratch that the caller gives has to be
     zeroed once.
   - Scalar: a pointer to a value of the argument's dtype; or NULL for the value of the plan's
     problem. The value is copied now. bundle_bind sets the fields of a struct that are addresses
     of other arguments.
   - Constant: a pointer to its values, in host or device memory. The values are copied now, and the
     context is synchronised. Values in a __constant__ variable belong to the plan, so that the last
     bind applies to all calls; values that the kernel reads by address belong to the call.
   A buffer that the variant keeps in a __device__ variable may be NULL: its contents then stay
   in that variable. Otherwise every launch copies to the variable what the kernel reads, and
   back from it what the kernel writes. Calls of a plan that keeps a buffer, or the address of one,
   in a variable may be launched on one stream at a time. */
int bundle_bind(bundle_plan *plan, void *const *arguments, size_t count, bundle_call **out,
                bundle_error *error);
/* Launches the kernels on a CUstream of the library's context (NULL: its default stream), and
   returns before the kernels end. Each planned launch is one cuLaunchKernel or cuLaunchKernelEx;
   nothing is allocated, locked or looked up. */
int bundle_launch(const bundle_call *call, void *stream, bundle_error *error);
/* Releases the call. If the call owns memory, its launches must have ended. */
void bundle_release(bundle_call *call);

#ifdef __cplusplus
}
#endif
#endif
