/* Graphs of launches: launches that are made while the device's stream is captured become a
   graph, which a single call replays. The capture applies to this thread alone. */
#include <stdlib.h>

#include "cuda_device.h"

struct graph {
  CUgraphExec exec;
};

int cuda_graphs(const struct toolkit *toolkit, cugen_error *err) {
  const struct driver *driver;
  int status = driver_open(toolkit, &driver, err);
  if (status || (driver->capture_begin && driver->capture_end && driver->graph_instantiate &&
                 driver->graph_launch && driver->graph_exec_destroy && driver->graph_destroy))
    return status;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "the CUDA driver (CUDA %d.%d) has no graphs as of CUDA 11.4: update it, or "
                   "measure otherwise than in a graph",
                   driver->version / 1000, driver->version % 1000 / 10);
}

static int make(struct cuda_device *cuda, int (*run)(void *context, cugen_error *err),
                void *context, struct graph *graph, cugen_error *err) {
  CUgraph captured = NULL;
  int status = CHECK(cuda, err, capture_begin, (cuda->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  if (status) return status;
  status = run(context, err);
  /* The capture is ended also after an error, so that the stream can be used again. */
  CUresult ended = cuda->driver->capture_end(cuda->stream, &captured);
  if (!status) status = driver_check(cuda->driver, ended, DRIVER_capture_end, err);
  if (!status) status = CHECK(cuda, err, graph_instantiate, (&graph->exec, captured, 0));
  if (ended == CUDA_SUCCESS && captured) cuda->driver->graph_destroy(captured);
  return status;
}

int cuda_graph_make(struct device *device, int (*run)(void *context, cugen_error *err),
                    void *context, struct graph **out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  struct graph *graph = calloc(1, sizeof *graph);
  *out = NULL;
  if (!graph) return error_memory(err);
  int status = enter(cuda, err);
  if (!status) status = leave(cuda, make(cuda, run, context, graph, err));
  if (status)
    free(graph);
  else
    *out = graph;
  return status;
}

int cuda_graph_launch(struct device *device, struct graph *graph, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  return CHECK(cuda, err, graph_launch, (graph->exec, cuda->stream));
}

void cuda_graph_free(struct device *device, struct graph *graph) {
  struct cuda_device *cuda = cuda_of(device);
  if (!graph) return;
  bool entered = enter(cuda, NULL) == CUGEN_OK;
  cuda->driver->graph_exec_destroy(graph->exec);
  if (entered) leave(cuda, CUGEN_OK);
  free(graph);
}
