/* Timing single launches on an application's streams without waiting; see device_ops.timer_make.

   A stream under capture records no time, and a query would break a capture that another thread
   began in global mode. Therefore a timer first asks whether its stream is under capture, and
   queries its event in the thread mode that every capture tolerates. If the driver lacks the
   functions for that, nothing is timed. */
#include <stdlib.h>

#include "cuda_device.h"

struct timer {
  CUevent start, stop;
};

int cuda_timer_make(struct device *device, struct timer **out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = NULL;
  const struct driver *driver = cuda->driver;
  if (!driver->event_query || !driver->stream_capturing || !driver->capture_mode)
    return error_set(err, CUGEN_ERROR_DEVICE, "the driver is too old to time launches");
  struct timer *timer = calloc(1, sizeof *timer);
  if (!timer) return error_memory(err);
  int status = enter(cuda, err);
  if (!status) {
    status = CHECK(cuda, err, event_create, (&timer->start, CU_EVENT_DEFAULT));
    if (!status) status = CHECK(cuda, err, event_create, (&timer->stop, CU_EVENT_DEFAULT));
    leave(cuda, status);
  }
  if (status)
    cuda_timer_free(device, timer);
  else
    *out = timer;
  return status;
}

void cuda_timer_free(struct device *device, struct timer *timer) {
  struct cuda_device *cuda = cuda_of(device);
  cugen_error ignored;
  if (!timer) return;
  if (enter(cuda, &ignored) == CUGEN_OK) {
    if (timer->start) cuda->driver->event_destroy(timer->start);
    if (timer->stop) cuda->driver->event_destroy(timer->stop);
    leave(cuda, CUGEN_OK);
  }
  free(timer);
}

bool cuda_timer_start(struct device *device, struct timer *timer, void *stream) {
  const struct driver *driver = cuda_of(device)->driver;
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return driver->stream_capturing(stream, &capturing) == CUDA_SUCCESS &&
         capturing == CU_STREAM_CAPTURE_STATUS_NONE &&
         driver->event_record(timer->start, stream) == CUDA_SUCCESS;
}

bool cuda_timer_stop(struct device *device, struct timer *timer, void *stream) {
  return cuda_of(device)->driver->event_record(timer->stop, stream) == CUDA_SUCCESS;
}

bool cuda_timer_read(struct device *device, struct timer *timer, double *seconds) {
  const struct driver *driver = cuda_of(device)->driver;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  float milliseconds = 0;
  if (driver->capture_mode(&mode) != CUDA_SUCCESS) return false;
  const bool over = driver->event_query(timer->stop) == CUDA_SUCCESS &&
                    driver->event_elapsed(&milliseconds, timer->start, timer->stop) == CUDA_SUCCESS;
  driver->capture_mode(&mode);
  *seconds = (double)milliseconds / 1000;
  return over;
}
