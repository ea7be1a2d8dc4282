/* Holding a stream back until all launches of a batch are queued, so that a pause of the launching
   thread is not timed. A kernel of one thread waits for a number in the host's memory. The kernel
   waits for LONGEST_MS at most, because a launch that waits for the device, or a full queue, would
   otherwise never end. After that time the batch is timed as if nothing had been held back. */
#include "base/system.h"
#include "cuda_device.h"

enum { LONGEST_MS = 20 };

/* The kernel is PTX, so that no compiler is needed. */
static const char hold_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry hold(.param .u64 turns, .param .u32 turn, .param .u64 longest)\n"
    "{\n"
    "  .reg .pred %p<3>;\n"
    "  .reg .b32 %r<3>;\n"
    "  .reg .b64 %d<6>;\n"
    "  ld.param.u64 %d1, [turns];\n"
    "  ld.param.u32 %r1, [turn];\n"
    "  ld.param.u64 %d2, [longest];\n"
    "  mov.u64 %d3, %globaltimer;\n"
    "  add.u64 %d4, %d3, %d2;\n"
    "again:\n"
    "  ld.volatile.global.u32 %r2, [%d1];\n"
    "  setp.eq.u32 %p1, %r2, %r1;\n"
    "  @%p1 bra done;\n"
    "  mov.u64 %d5, %globaltimer;\n"
    "  setp.lt.u64 %p2, %d5, %d4;\n"
    "  @%p2 bra again;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

static void hold_wait(struct cuda_device *cuda) {
  struct hold *hold = &cuda->hold;
  unsigned next = *hold->turn + 1;
  unsigned long long most = LONGEST_MS * 1000000ULL; /* nanoseconds */
  void *parameters[] = {&hold->seen, &next, &most};
  cuda->driver->launch(hold->function, 1, 1, 1, 1, 1, 1, 0, cuda->stream, parameters, NULL);
}

/* Makes the kernel and tries it with nothing behind it: it must end at once when its turn comes. */
static bool hold_make(struct cuda_device *cuda) {
  const struct driver *driver = cuda->driver;
  struct hold *hold = &cuda->hold;
  void *turn = NULL;
  if (driver->module_load(&hold->module, hold_ptx) != CUDA_SUCCESS) {
    hold->module = NULL;
    return false;
  }
  if (driver->module_function(&hold->function, hold->module, "hold") != CUDA_SUCCESS ||
      driver->host_alloc(&turn, sizeof *hold->turn, CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS)
    return false;
  hold->turn = turn;
  *hold->turn = 0;
  if (driver->host_device_pointer(&hold->seen, turn, 0) != CUDA_SUCCESS) return false;
  const double begin = clock_seconds();
  hold_wait(cuda);
  cuda_release(cuda);
  return sync_stream(cuda, NULL) == CUGEN_OK && clock_seconds() - begin < LONGEST_MS / 2e3;
}

void cuda_hold(struct cuda_device *cuda) {
  if (!cuda->hold.tried) {
    cuda->hold.tried = true;
    if (!hold_make(cuda)) cuda_hold_close(cuda);
  }
  if (cuda->hold.turn) hold_wait(cuda);
}

void cuda_release(struct cuda_device *cuda) {
  if (cuda->hold.turn) ++*cuda->hold.turn;
}

void cuda_hold_close(struct cuda_device *cuda) {
  if (cuda->hold.turn) cuda->driver->host_free((void *)cuda->hold.turn);
  if (cuda->hold.module) cuda->driver->module_unload(cuda->hold.module);
  cuda->hold.turn = NULL, cuda->hold.module = NULL;
}
