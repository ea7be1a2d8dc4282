/* Predicting a kernel's time on a GPU that is not in this machine; see model.h.

   The model is a roofline with more than two roofs. ptx_walk.c counts what one block asks of each
   unit of the machine. The counts, the resources of the image and the GPU's published rates give
   seven parts: the time that the launch would take if the GPU had to wait only for instructions,
   fetching code, L1, latency, L2, memory or starting blocks (fill_parts). The parts overlap, so the
   launch takes between the largest part and the sum of all: a norm (a^k + b^k + ...)^(1/k), with
   one k for parts that overlap well and another for those that do not (combine). Latency and
   bandwidth bound a closed queue (Little 1961; Denning and Buzen 1978).

   Invariants: no measured time is an input; a constant that is in no data sheet stands below
   with its source or as "fitted". A part of 0 is a unit that is not used. A kernel that cannot be
   followed is an error. */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cubin.h"
#include "occupancy.h"
#include "ptx_survey.h"
#include "runtime/plan.h"

const char *const model_part_names[MODEL_PARTS] = {
    "instructions", "fetching code", "L1 and shared memory", "latency",
    "L2",           "device memory", "starting blocks"};

/* Constants that no device description has. Latencies are similar on all recent GPUs (Jia et
   al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, table of
   latencies). */
static const double schedulers = 4, branch_latency = 8, int_latency = 4.5, fp32_latency = 4,
                    fp16_latency = 5, special_latency = 20, tensor_latency = 33,
                    barrier_latency = 25;

/* From Volta on, a multiprocessor has four texture units with one fetch a cycle each:
   whitepapers of V100, Turing, A100, GA102, Ada, H100, tables of the full GPUs. A CUDA array is
   filled before each call: on an H200 at 0.18 of the memory's bandwidth, counting the bytes
   read and the bytes written by the copy. */
static const double texture_units = 4, array_filling = 0.18;

/* Shared memory of another block of a cluster: Luo et al., 2024, "SM-to-SM network": 180 cycles,
   3.27 TB/s on an H100 PCIe (114 multiprocessors at 1755 MHz). */
static const double cluster_latency = 180, cluster_bytes = 16;

/* A cluster lies within one group of multiprocessors (GPC). An H100 has 8 groups of 18
   multiprocessors of which 132 are enabled (whitepaper); the sizes differ from chip to chip, and
   these are typical. */
static const int group_sizes[] = {14, 16, 18};

/* Constants that are in no data sheet. Their values were fitted, roughly, to records of an H200.
   sustained_clock: a fraction of the highest clock. memory_efficiency, l2_efficiency: fractions of
   the bandwidth. loaded_latency: the latency under load with TLB misses, as a multiple of that of
   pointer chasing. instruction_cycles: a multiple of the cycles of the busiest pipe, which no
   program keeps full. store_pass: cycles for a stored line to leave L1 at 32 bytes a cycle.
   block_cycles: cycles to start a block when another has ended. block_seconds: to hand out a block.
   atomic_seconds: a pass over one line (1.2 to 1.8 ns on an H200). first_launch, next_launch:
   seconds. usual_length: instructions of a warp for each reload of a spilled register. */
static const double sustained_clock = 0.9, memory_efficiency = 0.91, l2_efficiency = 0.85,
                    loaded_latency = 2.2, instruction_cycles = 1.05, store_pass = 4,
                    block_cycles = 150, block_seconds = 0.05e-9, atomic_seconds = 1.6e-9,
                    first_launch = 2.5e-6, next_launch = 0.7e-6, usual_length = 1100;

/* Instruction caches, in bytes, and bytes a cycle. An instruction has 16 bytes. Jia et al. found
   three levels: code that does not fit the first (near_code) is fetched from the second at
   near_fetch, and code that does not fit the second (far_code) from L2 at far_fetch, by each warp
   for itself. */
static const double code_bytes = 16, near_code = 40e3, near_fetch = 64, far_code = 96e3,
                    far_fetch = 5;

/* Reading more from an open row of DRAM costs little; opening another row, or turning from reading
   to writing, costs time. All open rows together are a few MB, open_bytes (H200: 6 stacks of 32
   pseudo channels of 16 to 64 banks of 1 KiB). reopening: the fraction of the transfer time that
   turning adds if no row is found open. opening: the fraction of a row's transfer time that each
   further opened row adds. */
static const double open_bytes = 8e6, reopening = 0.12, row_bytes = 1024, opening = 0.005;

/* Exponents of the norms; see combine. */
static const double softness = 4.5, latency_softness = 2.5, stream_softness = 8,
                    store_softness = 1.5;

/* ---- The machine ---------------------------------------------------------------------------- */

/* An instruction does two operations for each of 32 lanes. There are no f16 pairs before compute
   capability 5.3, and no bf16 pairs before 8.0. */
static double pairs(double rate) {
  return rate > 0 ? 2 * 32 / rate : 0;
}

static void fill_machine(const struct device_description *device, struct ptx_machine *out) {
  const struct gpu_rates *r = &device->rates;
  const double lanes = 32, slow_fp64 = 40, fast_fp64 = 8;
  *out = (struct ptx_machine){
      .pipe = {[PTX_PIPE_NONE] = 1 / schedulers,
               [PTX_PIPE_INT] = lanes / r->int32_lanes,
               [PTX_PIPE_FP32] = lanes / r->fp32_lanes,
               [PTX_PIPE_FP64] = lanes / r->fp64_lanes,
               [PTX_PIPE_FP16] = pairs(r->fp16_lanes),
               [PTX_PIPE_BF16] = pairs(r->bf16_lanes),
               [PTX_PIPE_SPECIAL] = lanes / r->special_lanes,
               [PTX_PIPE_TEXTURE] = lanes / texture_units,
               [PTX_PIPE_MEMORY] = 1},
      .latency = {[PTX_PIPE_NONE] = branch_latency,
                  [PTX_PIPE_INT] = int_latency,
                  [PTX_PIPE_FP32] = fp32_latency,
                  [PTX_PIPE_FP64] = r->fp64_lanes < lanes ? slow_fp64 : fast_fp64,
                  [PTX_PIPE_FP16] = fp16_latency,
                  [PTX_PIPE_BF16] = fp16_latency,
                  [PTX_PIPE_SPECIAL] = special_latency,
                  [PTX_PIPE_TENSOR] = tensor_latency,
                  [PTX_PIPE_TEXTURE] = r->l1_latency,
                  [PTX_PIPE_MEMORY] = r->shared_latency},
      .latency_shared = r->shared_latency,
      .latency_l1 = r->l1_latency,
      .latency_l2 = r->l2_latency,
      .latency_memory = loaded_latency * r->memory_latency,
      .latency_barrier = barrier_latency,
      .latency_cluster = cluster_latency,
      .cluster_bytes = cluster_bytes,
      .tensor_flops = r->tensor_flops,
      /* From Hopper on, mma.sync does not reach the tensor cores' full rate, but wgmma and its
         successors do: Luo et al., 2024 (arXiv:2402.13499), 62.9 % on average. */
      .tensor_sync_share = device->facts.architecture_specific ? 0.63 : 1,
      /* f64 products of 8 x 8 x 4, the shape of Ampere, reach half of the rate on an H200
         (measured) */
      .tensor_small_share = device->facts.architecture_specific ? 0.5 : 1,
      .tensor_f64_flops = r->tensor_f64_flops,
      .tensor_tf32_flops = r->tensor_tf32_flops,
      .tensor_fp8_flops = r->tensor_fp8_flops,
      .tensor_i8_flops = r->tensor_i8_flops,
  };
}

/* Places the buffers far apart, each at the start of its own region, so that their alignment is
   what a driver gives. */
static int fill_parameters(const struct kernel_spec *spec, const struct kernel_launch *launch,
                           int64_t *out, struct ptx_struct *structs, double *boxes) {
  struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
  void *addresses[KERNEL_MAX_ARGUMENTS];
  size_t count = kernel_launch_parameters(spec, launch, passed);
  for (size_t i = 0; i < spec->argument_count; i++)
    addresses[i] = (void *)(uintptr_t)((i + 1) << PTX_BUFFER_SHIFT);
  for (size_t i = 0; i < count; i++) {
    const struct kernel_argument *a = &spec->arguments[passed[i].argument];
    const struct value value = passed[i].value.type == VALUE_NIL ? a->value : passed[i].value;
    memcpy(structs[i].data, a->packed, sizeof a->packed);
    structs[i].bytes = a->struct_bytes;
    kernel_struct_fill(spec, passed[i].argument, addresses, structs[i].data);
    /* bytes that one copy by the argument's tensor map moves; 0: the argument has no map */
    boxes[i] = a->access == ACCESS_TENSOR ? a->dtype->bytes : 0;
    for (int d = 0; d < a->rank; d++) boxes[i] *= a->box[d];
    out[i] = a->kind != CUGEN_ARGUMENT_SCALAR ? (int64_t)(uintptr_t)addresses[passed[i].argument]
             : value.type == VALUE_FLOAT      ? 0 /* floats are not followed */
                                              : value.integer;
  }
  return (int)count;
}

/* ---- One launch ----------------------------------------------------------------------------- */

struct situation {
  const struct device_description *device;
  const struct kernel_spec *spec;
  const struct kernel_launch *launch;
  const struct kernel_resources *resources;
  /* fraction of accesses to a cluster's shared memory that go to another block */
  double distant;
  /* clock: cycles a second; blocks: blocks of the grid with work; share: that number, divided by
     the multiprocessors that can hold such blocks */
  double clock, blocks, share;
  double idle, idle_cycles; /* blocks without work, and the cycles of one */
  const atomic_bool *stop;  /* NULL, or set to give up the prediction */
  double until;             /* when the prediction is given up, by clock_seconds; 0: never */
};

/* Returns the bytes of L1 that are left for one block beside the shared memory of all resident
   blocks. */
static int64_t l1_of_block(const struct situation *s, int resident) {
  const struct device_facts *f = &s->device->facts;
  int64_t block =
      s->resources->static_shared + s->launch->shared_bytes + f->shared_reserved_per_block;
  int64_t left = (int64_t)s->device->rates.l1_bytes - resident * block, least = 16384;
  return (left > least ? left : least) / (resident > 0 ? resident : 1);
}

/* Returns the number of rounds in which the blocks run. The last round is seldom full, which
   matters little when there are many rounds. */
static double rounds(double blocks, double at_once) {
  const double few = 4;
  double exact = blocks / at_once;
  return exact < few ? ceil(exact) : exact;
}

/* Returns the accesses of L1 for spilled registers. A spill is assumed to run as often as the
   average instruction. */
static double spill_passes(const struct situation *s, const struct ptx_counts *c) {
  double warps = ceil(s->launch->block[0] * s->launch->block[1] * s->launch->block[2] / 32.0);
  double registers = (double)s->resources->spill_bytes / 4;
  return registers * warps * fmax(1, c->instructions / warps / usual_length);
}

/* Returns the fraction of multiprocessors that clusters of so many blocks can use, if a
   multiprocessor holds one block. */
static double usable_by_clusters(int blocks) {
  int usable = 0, all = 0;
  for (size_t i = 0; i < sizeof group_sizes / sizeof *group_sizes; i++) {
    usable += group_sizes[i] / blocks * blocks;
    all += group_sizes[i];
  }
  return usable ? (double)usable / all : 1;
}

static double beyond(double bytes, double cache) {
  return bytes > cache ? 1 - cache / bytes : 0;
}

static double fetch_cycles(const struct ptx_counts *c) {
  double code = code_bytes * c->code;
  return code_bytes * c->instructions *
         (beyond(code, near_code) / near_fetch + beyond(code, far_code) / far_fetch);
}

/* Returns how many times longer memory takes than for one stream. The resident blocks work at the
   same time on a window of memory, which the order of blocks keeps together; blocks that each read
   much memory drift apart. If all accesses are reads, nothing turns from reading to writing. */
static double memory_slowness(const struct situation *s, const struct model_launch *launch,
                              double moved) {
  const struct ptx_counts *c = &launch->counts;
  double resident = fmin(s->blocks, launch->resident * (double)s->device->facts.sm_count);
  double stored = c->store_sectors / fmax(1, c->load_sectors + c->store_sectors);
  double rows = moved > 0 ? c->pages * row_bytes * s->blocks / moved : 1;
  return 1 +
         reopening * 2 * fmin(stored, 1 - stored) *
             beyond(moved * resident / s->blocks, open_bytes) +
         opening * fmax(0, rows - 1);
}

static double model_between(const double of[PTX_SCENARIOS], double from_memory) {
  return of[PTX_FROM_L2] + from_memory * (of[PTX_FROM_MEMORY] - of[PTX_FROM_L2]);
}

static double norm(double a, double b, double power) {
  return pow(pow(a, power) + pow(b, power), 1 / power);
}

static double model_bytes_of(const struct kernel_spec *spec, bool outputs_only) {
  double bytes = 0;
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    bool output = a->kind == CUGEN_ARGUMENT_OUTPUT || a->kind == CUGEN_ARGUMENT_INOUT;
    if (output || (a->kind == CUGEN_ARGUMENT_INPUT && !outputs_only))
      bytes += (double)kernel_argument_bytes(a);
  }
  return bytes;
}

/* Returns the bytes that the blocks fetch and write: the sum over the blocks, but at most the bytes
   of the arguments. A sector that is stored in part is fetched first, unless other blocks store the
   rest, so that no word of the output is left out. On an H200, storing every second word took as
   long as fetching and writing all of the sectors. */
static double footprint(const struct situation *s, const struct ptx_counts *c) {
  const double word = 4, sector = 32;
  const struct ptx_footprint *f = &c->footprint;
  double moved = fmin(s->blocks * (f->fetched + f->written), model_bytes_of(s->spec, false));
  double left_out = model_bytes_of(s->spec, true) - s->blocks * f->covered;
  return moved + fmin(s->blocks * f->part, fmax(0, left_out) / word * sector);
}

/* Computes the parts of the launch's time. bytes: the least that must move to or from memory; < 0:
   the bytes that the launch moves. */
static void fill_parts(const struct situation *s, double bytes, struct model_launch *out) {
  const struct ptx_counts *c = &out->counts;
  const struct gpu_rates *r = &s->device->rates;
  double sectors = (c->load_sectors + c->store_sectors) * s->blocks, moved = 32 * sectors;
  double least = bytes < 0 ? moved : fmax(bytes, footprint(s, c));
  double from_memory = moved > 0 && bytes >= 0 ? fmin(1, least / moved) : 0;
  double per_round = rounds(s->share, out->resident) / s->clock;
  double passes = norm(c->pipe[PTX_PIPE_MEMORY] + spill_passes(s, c),
                       store_pass * c->store_wavefronts, store_softness);
  double per_block = rounds(s->share, 1) / s->clock, busiest = 0;
  for (int p = 0; p < PTX_PIPE_MEMORY; p++) busiest = fmax(busiest, c->pipe[p]);
  out->exchange = c->exchange * s->distant * per_block;
  out->parts[MODEL_INSTRUCTIONS] = instruction_cycles * busiest * per_block;
  out->parts[MODEL_FETCH] = fetch_cycles(c) * per_block;
  out->parts[MODEL_L1] = passes * per_block;
  out->parts[MODEL_LATENCY] = (model_between(c->alone, from_memory) + block_cycles) * per_round;
  out->waiting = (model_between(c->path, from_memory) + block_cycles) * per_round;
  out->parts[MODEL_L2] =
      32 * (sectors + c->atomics * s->blocks) / (r->l2_bytes_per_clock * s->clock * l2_efficiency);
  out->parts[MODEL_MEMORY] =
      least / (1e9 * r->memory_gb_per_second * memory_efficiency) * memory_slowness(s, out, moved);
  out->parts[MODEL_BLOCKS] = (s->blocks + s->idle) * block_seconds +
                             s->blocks * c->crowded * atomic_seconds +
                             s->idle / ((double)out->resident * (double)s->device->facts.sm_count) *
                                 s->idle_cycles / s->clock;
}

/* Combines the parts into one time. Two parts combine to a norm between their maximum and their
   sum, which says how well they overlap. Memory and L2 overlap almost fully, because data from
   memory come through L2. Waiting and moving overlap least: while a queue is not always full
   (Denning and Buzen, "The Operational Analysis of Queueing Network Models", 1978), throughput
   stays below both bounds. */
static double combine(const struct model_launch *launch) {
  const double *parts = launch->parts;
  double moving = norm(parts[MODEL_L2], parts[MODEL_MEMORY], stream_softness);
  double all = norm(moving, launch->waiting, latency_softness);
  for (int i = 0; i < MODEL_PARTS; i++)
    if (i != MODEL_L2 && i != MODEL_MEMORY && i != MODEL_LATENCY)
      all = norm(all, parts[i], softness);
  return fmax(all, norm(moving, parts[MODEL_LATENCY], latency_softness));
}

/* Returns the bytes of an element of the kernel's textures; 0: there are none, or sizes differ. */
static int texel_bytes(const struct kernel_spec *spec) {
  int bytes = 0;
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (a->access != ACCESS_TEXTURE && a->access != ACCESS_ARRAY) continue;
    if (bytes && bytes != a->dtype->bytes) return 0;
    bytes = a->dtype->bytes;
  }
  return bytes;
}

static int model_walk(struct situation *s, const struct ptx_machine *machine,
                      const struct compiled *compiled, size_t entry, struct model_launch *out,
                      cugen_error *err) {
  if (!compiled->ptx)
    return error_set(err, CUGEN_ERROR_COMPILE, "this NVRTC gives no PTX, which a prediction reads");
  int64_t parameters[KERNEL_MAX_ARGUMENTS];
  struct ptx_struct structs[KERNEL_MAX_ARGUMENTS];
  double boxes[KERNEL_MAX_ARGUMENTS];
  struct ptx_buffer buffers[KERNEL_MAX_ARGUMENTS];
  struct ptx_kernel kernel;
  struct ptx_launch launch = {.shared_bytes = s->launch->shared_bytes,
                              .parameters = parameters,
                              .parameter_count =
                                  fill_parameters(s->spec, s->launch, parameters, structs, boxes),
                              .buffers = buffers,
                              .buffer_count = (int)s->spec->argument_count,
                              .structs = structs,
                              .boxes = boxes,
                              .l1_bytes = l1_of_block(s, out->resident),
                              .registers = s->resources->registers,
                              .in_flight = compiled->code[entry].in_flight,
                              .shared_quads = compiled->code[entry].shared_quads,
                              .shared_pairs = compiled->code[entry].shared_pairs,
                              .texel_bytes = texel_bytes(s->spec),
                              .stop = s->stop,
                              .until = s->until};
  for (size_t i = 0; i < s->spec->argument_count; i++)
    buffers[i] = (struct ptx_buffer){s->spec->arguments[i].name,
                                     kernel_argument_bytes(&s->spec->arguments[i])};
  memcpy(launch.grid, s->launch->grid, sizeof launch.grid);
  memcpy(launch.block, s->launch->block, sizeof launch.block);
  int status = ptx_open(compiled->ptx, compiled->entries[entry], &kernel, err);
  if (status) return status;
  struct ptx_survey survey;
  status = ptx_survey(&kernel, machine, &launch, &survey, err);
  memcpy(launch.at, survey.at, sizeof launch.at);
  const double blocks = (double)launch.grid[0] * launch.grid[1] * launch.grid[2];
  s->blocks = out->blocks = survey.working * blocks;
  s->idle = blocks - s->blocks;
  s->idle_cycles = block_cycles + survey.idle * int_latency;
  s->share = s->blocks / (double)s->device->facts.sm_count / usable_by_clusters(kernel.cluster);
  s->distant = 1 - 1.0 / kernel.cluster;
  if (!status) status = ptx_walk(&kernel, machine, &launch, &out->counts, err);
  ptx_close(&kernel);
  return status;
}

int model_check_symbols(const struct kernel_spec *spec, const struct compiled *compiled,
                        cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < spec->argument_count && !status; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (kernel_argument_symbol(a))
      status = plan_check_symbol(
          spec, i, cubin_variable(compiled->image, compiled->image_length, a->name), err);
  }
  return status;
}

static int predict_launch(struct situation *s, const struct compiled *compiled, size_t entry,
                          double bytes, struct model_launch *out, cugen_error *err) {
  struct occupancy occupancy;
  struct ptx_machine machine;
  const struct kernel_launch *l = s->launch;
  int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
  int status = occupancy_get(&s->device->facts, s->resources, threads, l->shared_bytes,
                             l->has_carveout ? l->carveout : -1, &occupancy, err);
  struct kernel_needs needs;
  cubin_needs(compiled, entry, &needs);
  if (!status)
    status = launch_check(&s->device->facts, s->spec, (size_t)(l - s->spec->launches), &needs,
                          occupancy.blocks, err);
  if (status) return status;
  out->resident = occupancy.blocks;
  fill_machine(s->device, &machine);
  status = model_walk(s, &machine, compiled, entry, out, err);
  if (!status) fill_parts(s, bytes, out);
  return status;
}

/* Returns the time for filling CUDA arrays, setting addresses in symbols, and copying between
   symbols and buffers: such a copy costs a launch, and moves its bytes twice. */
static double fill_seconds(const struct device_description *device,
                           const struct kernel_spec *spec) {
  double moved = 0, seconds = 0;
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    const double bytes = 2 * (double)kernel_argument_bytes(a);
    const int copies = a->kind == CUGEN_ARGUMENT_INOUT ? 2 : a->kind != CUGEN_ARGUMENT_CONSTANT;
    if (a->access == ACCESS_ARRAY) moved += bytes / array_filling;
    if (a->access == ACCESS_SYMBOL) moved += copies * bytes, seconds += copies * next_launch;
    if (a->access == ACCESS_POINTER) seconds += next_launch;
  }
  return seconds + moved / (1e9 * device->rates.memory_gb_per_second);
}

/* Refuses arguments in the host's memory, which is reached over a bus that no description has
   figures for. */
static int check_memory(const struct kernel_spec *spec, cugen_error *err) {
  for (size_t i = 0; i < spec->argument_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    if (a->kind != CUGEN_ARGUMENT_SCALAR && a->memory != MEMORY_DEVICE &&
        a->memory != MEMORY_MANAGED)
      return error_set(
          err, CUGEN_ERROR_COMPILE,
          "'%s' lies in the host's memory (%s), and no description says how fast that is", a->name,
          memory_kind_names[a->memory]);
  }
  return CUGEN_OK;
}

/* ---- Requested bytes ------------------------------------------------------------------------ */

/* Returns the bytes that a launch requests of global memory; NaN: not known. */
static double launch_requested(const struct model_launch *launch) {
  return launch->counts.unknown > 0 ? NAN : launch->counts.requested * launch->blocks;
}

/* A machine for counting requests, where times do not matter; only a product whose rate is 0
   would be refused. */
static const struct ptx_machine any_machine = {.cluster_bytes = 1,
                                               .tensor_flops = 1,
                                               .tensor_f64_flops = 1,
                                               .tensor_tf32_flops = 1,
                                               .tensor_fp8_flops = 1,
                                               .tensor_i8_flops = 1,
                                               .tensor_sync_share = 1,
                                               .tensor_small_share = 1};

/* Selects the spec's launches that are walked, with the number of a call's launches that each
   stands for; 0: another launch stands for it. The caller frees the list; NULL: no memory. */
static size_t *weigh_launches(const struct kernel_spec *spec) {
  size_t counts[KERNEL_MAX_ENTRIES] = {0}, seen[KERNEL_MAX_ENTRIES] = {0},
         last[KERNEL_MAX_ENTRIES] = {0}, kernels = 0;
  size_t *times = calloc(spec->launch_count + 1, sizeof *times);
  if (!times) return NULL;
  kernel_spec_times(spec, times);
  if (spec->launch_count <= MODEL_MOST_LAUNCHES) return times;
  for (size_t i = 0; i < spec->launch_count; i++)
    kernels += counts[plan_entry_index(spec, spec->launches[i].entry)]++ == 0;
  for (size_t i = 0; i < spec->launch_count; i++) {
    const size_t entry = plan_entry_index(spec, spec->launches[i].entry),
                 most = MODEL_MOST_LAUNCHES / kernels;
    const size_t apart = (counts[entry] + most - 1) / most;
    if (seen[entry]++ % apart == 0) {
      last[entry] = i;
      continue;
    }
    times[last[entry]] += times[i];
    times[i] = 0;
  }
  return times;
}

double model_requested(const struct device_description *device, const struct kernel_spec *spec,
                       const struct compiled *compiled, const atomic_bool *stop) {
  double sum = 0;
  cugen_error ignored;
  size_t *times = compiled->ptx ? weigh_launches(spec) : NULL;
  for (size_t i = 0; times && i < spec->launch_count && !isnan(sum); i++) {
    if (!times[i]) continue;
    size_t entry = plan_entry_index(spec, spec->launches[i].entry);
    struct situation s = {.device = device,
                          .spec = spec,
                          .launch = &spec->launches[i],
                          .resources = &compiled->resources[entry],
                          .stop = stop};
    struct model_launch launch = {.resident = 1};
    const bool walked = !model_walk(&s, &any_machine, compiled, entry, &launch, &ignored);
    sum += walked ? (double)times[i] * launch_requested(&launch) : NAN;
  }
  free(times);
  return isnan(sum) ? 0 : sum;
}

/* ---- All launches --------------------------------------------------------------------------- */

/* Adds the time of the i-th of spec->launches, times the number of launches that it stands for. */
static int add_launch(const struct device_description *device, const struct kernel_spec *spec,
                      const struct compiled *compiled, size_t i, double times, double until,
                      struct model_prediction *out, double *totals, cugen_error *err) {
  struct model_launch *launch = &out->launches[out->launch_count];
  size_t entry = plan_entry_index(spec, spec->launches[i].entry);
  struct situation s = {.device = device,
                        .spec = spec,
                        .launch = &spec->launches[i],
                        .resources = &compiled->resources[entry],
                        .clock = 1e3 * sustained_clock * (double)device->facts.clock_khz,
                        .until = until};
  int sizes[PLAN_MAX_PARAMETERS] = {0};
  int takes = cubin_parameters(compiled->image, compiled->image_length, compiled->entries[entry],
                               sizes, PLAN_MAX_PARAMETERS);
  int status = plan_check_parameters(spec, i, 0, sizes, takes, err);
  if (!status) status = predict_launch(&s, compiled, entry, i ? -1 : spec->bytes, launch, err);
  if (status) return status;
  out->requested += times * launch_requested(launch);
  out->seconds += times * (combine(launch) + launch->exchange);
  for (int p = 0; p < MODEL_PARTS; p++) totals[p] += times * launch->parts[p];
  out->launch_count++;
  return CUGEN_OK;
}

int model_predict(const struct device_description *device, const struct kernel_spec *spec,
                  const struct compiled *compiled, double until, struct model_prediction *out,
                  cugen_error *err) {
  double totals[MODEL_PARTS] = {0};
  int status = model_check_symbols(spec, compiled, err);
  if (!status) status = check_memory(spec, err);
  *out = (struct model_prediction){.seconds = fill_seconds(device, spec) + first_launch +
                                              next_launch * (double)(kernel_spec_calls(spec) - 1)};
  size_t *times = status ? NULL : weigh_launches(spec);
  if (!status && !times) status = error_memory(err);
  for (size_t i = 0; times && i < spec->launch_count && !status; i++)
    if (times[i])
      status = add_launch(device, spec, compiled, i, (double)times[i], until, out, totals, err);
  free(times);
  if (isnan(out->requested)) out->requested = 0;
  for (int p = 0; p < MODEL_PARTS; p++)
    if (totals[p] > totals[out->bound]) out->bound = (enum model_part)p;
  return status;
}
