"""The headers of cugen for ctypes. Made by tools/python-declarations; do not edit."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p,
)
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


def text(value: bytes | None) -> str:
    return value.decode(errors="replace") if value else ""


def maybe_text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="replace")

VERSION = "0.1.0"


class Status(IntEnum):
    """What functions return. The values never change. The command line's exit code is the status without its sign."""

    OK = 0
    INTERNAL = -1  # a defect of cugen itself
    USAGE = -2  # a wrong option, setting or argument
    CONFIG = -3  # a config does not load or is inconsistent
    TEMPLATE = -4  # a template does not expand
    EMPTY = -5  # no variant satisfies the restrictions
    COMPILE = -6  # the compiler refused an expanded source
    DEVICE = -7  # the device or its driver failed
    MISSING = -8  # a driver, NVRTC, a compiler or a file was not found
    CACHE = -9  # the cache, or wisdom, is corrupt, foreign, or newer than this cugen
    IO = -10  # reading or writing failed: permissions, full disk
    WRONG = -11  # a wrong result, a finding of a check, or no variant was correct (in the budget)
    MEMORY = -12  # out of memory, on the host or the device
    INTERRUPTED = -13  # stopped on request; measurements are kept; exit code 130 (Ctrl-C) or 143


class Cause(IntEnum):
    """What a status does not tell and a program may want to know. Most errors have none."""

    NONE = 0
    BOUNDS = 1  # a kernel accessed memory outside its buffers
    INPUT = 2  # a kernel wrote to an input
    TRAP = 3  # a kernel ended itself, or the processor ended it
    MASK = 4  # a kernel's warp operation has a mask without the calling lane
    RESOURCES = 5  # the device cannot launch the kernel
    KERNEL_TIME = 6  # the driver ended a kernel that took too long
    COMPILE_TIME = 7  # a compile was stopped at its time limit
    ASSEMBLY = 8  # the compiler does not know an instruction in inline assembly
    DEVICE_LOST = 9  # the device is gone, whatever ran on it
    BUSY = 10  # the cache's server could not do it just now: trying again may work
    GRID_SYNC = 11  # a kernel waits for its whole grid in a launch that is not cooperative
    UNSUPPORTED = 12  # a GPU may launch the kernel; the cpu device cannot


class cugen_error(Structure):
    _fields_ = [
        ("status", c_int),
        ("message", c_char * 4096),
        ("cause", c_int),
        ("file", c_char * 1024),
        ("line", c_int),
    ]


cugen_stop_callback = CFUNCTYPE(c_int, c_void_p)


class cugen_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("device", c_char_p),
        ("arch", c_char_p),
        ("config_dir", c_char_p),
        ("template_dir", c_char_p),
        ("cache", c_char_p),
        ("toolkit", c_char_p),
        ("compiler", c_char_p),
        ("worker", c_char_p),
        ("device_dir", c_char_p),
        ("stop", cugen_stop_callback),
        ("stop_context", c_void_p),
        ("objective", c_char_p),
        ("prefer", c_char_p),
        ("measure", c_char_p),
        ("pin", c_char_p),
        ("capture", c_char_p),
    ]


class cugen_device_info(Structure):
    _fields_ = [
        ("id", c_char * 32),
        ("name", c_char * 128),
        ("uuid", c_char * 48),
        ("arch", c_char * 16),
        ("driver_version", c_int),
        ("nvrtc_version", c_int),
        ("sm_count", c_int),
        ("clock_khz", c_int),
        ("memory_clock_khz", c_int),
        ("memory_bus_bits", c_int),
        ("memory_bytes", c_int64),
        ("l2_bytes", c_int64),
        ("shared_bytes_per_block", c_int64),
    ]


@dataclass(frozen=True)
class Device:
    """A device of this machine. "" and 0 mean not known."""

    id: str  # for options.device: "cuda:0", "cpu"
    name: str  # "NVIDIA H200"
    uuid: str  # "GPU-..." or ""
    arch: str  # "sm_90a"
    driver_version: int  # of CUDA, 13000 for 13.0; 0: there is none
    nvrtc_version: int  # of CUDA, 13000 for 13.0; 0: there is none
    sm_count: int
    clock_khz: int  # the highest clocks, the bus's width; 0: not applicable
    memory_clock_khz: int  # the highest clocks, the bus's width; 0: not applicable
    memory_bus_bits: int  # the highest clocks, the bus's width; 0: not applicable
    memory_bytes: int
    l2_bytes: int
    shared_bytes_per_block: int  # opt-in limit

    @classmethod
    def _of(cls, c: cugen_device_info) -> Device:
        return Device(
            id=text(c.id),
            name=text(c.name),
            uuid=text(c.uuid),
            arch=text(c.arch),
            driver_version=c.driver_version,
            nvrtc_version=c.nvrtc_version,
            sm_count=c.sm_count,
            clock_khz=c.clock_khz,
            memory_clock_khz=c.memory_clock_khz,
            memory_bus_bits=c.memory_bus_bits,
            memory_bytes=c.memory_bytes,
            l2_bytes=c.l2_bytes,
            shared_bytes_per_block=c.shared_bytes_per_block,
        )


class ArgumentKind(IntEnum):
    """What the kernel does with an argument."""

    INPUT = 0  # a buffer that is read
    OUTPUT = 1  # a buffer that is written completely
    INOUT = 2  # a buffer that is read and written
    SCRATCH = 3  # a buffer for the kernel's own use; cugen can allocate it
    SCALAR = 4  # a number, passed by value
    CONSTANT = 5  # values that are read, copied at bind: a symbol, or by address

MAX_RANK = 4


class cugen_argument_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("dtype", c_char_p),
        ("rank", c_int),
        ("shape", c_int64 * MAX_RANK),
        ("stride", c_int64 * MAX_RANK),
        ("layout", c_char_p),
        ("bytes", c_int64),
        ("memory", c_char_p),
        ("compiled_in", c_int),
        ("absent", c_int),
        ("overwrite", c_int),
        ("data", c_char_p),
        ("data_from", c_char_p),
        ("access", c_char_p),
        ("is_size", c_int),
        ("size", c_int64),
    ]


@dataclass(frozen=True)
class Argument:
    """An argument, for the kernel's problem."""

    name: str
    kind: ArgumentKind
    dtype: str  # "f32"; "struct": a struct that is passed by value
    rank: int  # 0 for a scalar
    shape: tuple[int, ...]  # elements, logical order
    stride: tuple[int, ...]  # elements, from layout and pitch
    layout: str  # "row" or "col"
    bytes: int  # whole buffer, pitch included; 0: scratch that the variant does not use
    memory: str  # "device", "pinned", "mapped", "managed", "registered"
    compiled_in: bool  # scalar: its value is part of the source and is not passed
    absent: bool  # the problem has no such argument: pass None. The rest is that of a scalar
    overwrite: bool  # input: the kernel may write to the buffer, which is then not const
    data: str | None  # test data: a fill ("uniform"), "values", "file", "generator"; None: none
    data_from: str | None  # its expression or file; None: a fill, a list, or a plan's argument
    access: str  # how it is reached: "global", "constant", "texture", "array", "symbol", "tensor"
    is_size: bool  # scalar: it passes a size of the problem; with a larger value the kernel leaves its buffers
    size: int  # that size; else 0

    @classmethod
    def _of(cls, c: cugen_argument_info) -> Argument:
        return Argument(
            name=text(c.name),
            kind=ArgumentKind(c.kind),
            dtype=text(c.dtype),
            rank=c.rank,
            shape=tuple(c.shape[: c.rank]),
            stride=tuple(c.stride[: c.rank]),
            layout=text(c.layout),
            bytes=c.bytes,
            memory=text(c.memory),
            compiled_in=bool(c.compiled_in),
            absent=bool(c.absent),
            overwrite=bool(c.overwrite),
            data=maybe_text(c.data),
            data_from=maybe_text(c.data_from),
            access=text(c.access),
            is_size=bool(c.is_size),
            size=c.size,
        )

PLAN_TUNED_ONLY = 1
PLAN_PRIMARY = 2
PLAN_BY_PORTFOLIO = 4
PLAN_EXPLORE = 8


class cugen_plan_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("flags", c_uint),
        ("context", c_void_p),
        ("distance", c_double),
        ("choice", c_void_p),
        ("choice_size", c_size_t),
        ("bitwise", c_char_p),
        ("explore_share", c_double),
    ]


class PlanChoice(IntEnum):
    """Where a plan's variant comes from."""

    EXACT = 0  # the best remembered for this problem
    NEAR = 1  # the best remembered for the problem that the policy selects: the nearest, or its bucket's
    DEFAULT = 2  # never measured here. What ships for such GPUs, else the fastest by remembered predictions, else what ships by predictions, else on a GPU what the config suggests (try), else the first valid one
    PINNED = 3  # named by options.choice, or in the file of options.pin or $CUGEN_PIN
    PORTFOLIO = 4  # by a portfolio's rule: measured for other sizes
    OTHER_GPU = 5  # the best remembered for this problem on another GPU, of the same model or compute capability


class cugen_outputs(Structure):
    _fields_ = [
        ("known", c_int),
        ("varies", c_int),
        ("seed", c_uint64),
        ("digest", c_uint64),
    ]


@dataclass(frozen=True)
class Outputs:
    """What bits a variant's outputs had. Of one problem equal digests of one seed are equal outputs, on any device."""

    known: bool  # 0: nothing of it is known, as of what failed or is older than cugen's format 12
    varies: bool  # they differ from launch to launch, so there is no digest
    seed: int  # of the input data
    digest: int  # of all outputs

    @classmethod
    def _of(cls, c: cugen_outputs) -> Outputs:
        return Outputs(
            known=bool(c.known),
            varies=bool(c.varies),
            seed=c.seed,
            digest=c.digest,
        )


class cugen_record(Structure):
    _fields_ = [
        ("variant", c_char_p),
        ("reason", c_char_p),
        ("outcome", c_int),
        ("samples", c_int),
        ("from_cache", c_int),
        ("seconds", c_double),
        ("seconds_min", c_double),
        ("seconds_p20", c_double),
        ("seconds_p80", c_double),
        ("flops", c_double),
        ("bytes", c_double),
        ("roofline", c_double),
        ("roofline_measured", c_int),
        ("error", c_double),
        ("registers", c_int),
        ("threads", c_int),
        ("shared_bytes", c_int64),
        ("dynamic_shared_bytes", c_int64),
        ("constant_bytes", c_int64),
        ("local_bytes", c_int64),
        ("spill_bytes", c_int64),
        ("occupancy", c_double),
        ("limiter", c_char_p),
        ("cluster_blocks", c_int),
        ("active_clusters", c_int),
        ("clock_mhz", c_int),
        ("power_watts", c_int),
        ("throttle", c_char_p),
        ("predicted", c_int),
        ("verified", c_int),
        ("unverified", c_char_p),
        ("measured_at", c_int64),
        ("compile_seconds", c_double),
        ("measure_seconds", c_double),
        ("requested", c_double),
        ("cost", c_double),
        ("run_began", c_int64),
        ("run_seconds", c_double),
        ("order", c_uint64),
        ("energy", c_double),
        ("energy_resolution", c_double),
        ("non_dominated", c_int),
        ("outputs", cugen_outputs),
    ]


@dataclass(frozen=True)
class Record:
    """The record of one variant. 0 and "" mean not known, unless stated otherwise."""

    variant: str  # full text, "tiled tile=16 pad=1"
    reason: str  # what went wrong; of a correct prediction what bounds it: "device memory"
    outcome: Outcome
    samples: int  # timed batches behind the times
    from_cache: bool  # measured by an earlier run
    seconds: float  # median time of one run of all launches
    seconds_min: float
    seconds_p20: float
    seconds_p80: float
    flops: float  # of the problem, from the config; 0: not declared
    bytes: float  # of the problem, from the config; 0: not declared
    roofline: float  # fraction of the attainable rate
    roofline_measured: bool  # the ceiling that bounds it was measured on the device; 0: it is the device's peak
    error: float  # largest error that verification found, in units of the tolerance
    registers: int  # a thread; of several launches the one whose block takes the most
    threads: int  # a block
    shared_bytes: int  # a block, static and dynamic
    dynamic_shared_bytes: int  # a block, passed at launch
    constant_bytes: int  # of the whole image's __constant__ variables
    local_bytes: int  # a thread: stack frame, spills included
    spill_bytes: int  # a thread: stores and loads of spilled registers
    occupancy: float  # theoretical, 0 to 1; 0: not applicable
    limiter: str  # of occupancy: "threads", "blocks", "registers", "shared memory"
    cluster_blocks: int  # blocks of the clusters that the kernel requires; 1: no clusters
    active_clusters: int  # that the device runs at once, by its driver's answer
    clock_mhz: int  # SM clock while measuring
    power_watts: int  # the whole board's, while measuring
    throttle: str  # what limited the clocks then, such as "power cap"
    predicted: bool  # the times are the model's; nothing was measured
    verified: bool  # the result was compared with the reference, or passed the verify kernel; 0: OK says only that it ran
    unverified: str | None  # why an OK record is not verified; of a verified prediction the sizes on which it ran
    measured_at: int  # or predicted; seconds since the epoch
    compile_seconds: float  # time to compile; 0: the image was in the cache, or not known
    measure_seconds: float  # time for all else: data, verifying, timing
    requested: float  # bytes of global memory that the variant's loads and stores ask for, whatever serves them
    cost: float  # what the config's objective minimises: seconds, or seconds for each unit of work
    run_began: int  # the tuning run that made it: its start, in microseconds since the epoch; 0: not known
    run_seconds: float  # from then until the record was made
    order: int  # where its variant stands in the config's space; UINT64_MAX: it is not in it. What options.prefer asks for comes before that
    energy: float  # joules of one run, by the board's own counter; 0: not measured
    energy_resolution: float  # joules that this is uncertain by, since the counter moves in steps
    non_dominated: int  # no other record takes less of time or energy, and no more of the other
    outputs: Outputs  # what bits it gave

    @classmethod
    def _of(cls, c: cugen_record) -> Record:
        return Record(
            variant=text(c.variant),
            reason=text(c.reason),
            outcome=Outcome(c.outcome),
            samples=c.samples,
            from_cache=bool(c.from_cache),
            seconds=c.seconds,
            seconds_min=c.seconds_min,
            seconds_p20=c.seconds_p20,
            seconds_p80=c.seconds_p80,
            flops=c.flops,
            bytes=c.bytes,
            roofline=c.roofline,
            roofline_measured=bool(c.roofline_measured),
            error=c.error,
            registers=c.registers,
            threads=c.threads,
            shared_bytes=c.shared_bytes,
            dynamic_shared_bytes=c.dynamic_shared_bytes,
            constant_bytes=c.constant_bytes,
            local_bytes=c.local_bytes,
            spill_bytes=c.spill_bytes,
            occupancy=c.occupancy,
            limiter=text(c.limiter),
            cluster_blocks=c.cluster_blocks,
            active_clusters=c.active_clusters,
            clock_mhz=c.clock_mhz,
            power_watts=c.power_watts,
            throttle=text(c.throttle),
            predicted=bool(c.predicted),
            verified=bool(c.verified),
            unverified=maybe_text(c.unverified),
            measured_at=c.measured_at,
            compile_seconds=c.compile_seconds,
            measure_seconds=c.measure_seconds,
            requested=c.requested,
            cost=c.cost,
            run_began=c.run_began,
            run_seconds=c.run_seconds,
            order=c.order,
            energy=c.energy,
            energy_resolution=c.energy_resolution,
            non_dominated=c.non_dominated,
            outputs=Outputs._of(c.outputs),
        )


class cugen_plan_info(Structure):
    _fields_ = [
        ("kernel", c_char_p),
        ("problem", c_char_p),
        ("variant", c_char_p),
        ("choice", c_int),
        ("tuned_for", c_char_p),
        ("tuned_on", c_char_p),
        ("distance", c_double),
        ("seconds", c_double),
        ("record", POINTER(cugen_record)),
        ("measured_at", c_int64),
        ("driver_version", c_int),
        ("nvrtc_version", c_int),
        ("source_hash", c_char_p),
        ("image_from_cache", c_int),
        ("launches", c_size_t),
        ("arguments", c_size_t),
    ]


@dataclass(frozen=True)
class PlanInfo:
    """A plan, and why it was chosen. Of a default, pinned or portfolio one tuned_for is None; seconds, measured_at and the versions are 0; record has only variant, flops, bytes and predicted."""

    kernel: str
    problem: str
    variant: str  # full text
    choice: PlanChoice
    tuned_for: str | None  # the problem that the record is of
    tuned_on: str | None  # another GPU that it, or the portfolio that ships, is of; else None
    distance: float  # from this problem to that one
    seconds: float  # median time of one run of all launches, as it was measured for tuned_for
    record: Record  # all that was measured then: cugen_tools.h
    measured_at: int  # seconds since the epoch
    driver_version: int  # when it was measured
    nvrtc_version: int  # when it was measured
    source_hash: str  # of the source without comments and spacing: equal hashes are the same code
    image_from_cache: bool  # 0: it was compiled now
    launches: int  # kernels launched by one cugen_call_launch
    arguments: int  # that cugen_call_bind takes

    @classmethod
    def _of(cls, c: cugen_plan_info) -> PlanInfo:
        return PlanInfo(
            kernel=text(c.kernel),
            problem=text(c.problem),
            variant=text(c.variant),
            choice=PlanChoice(c.choice),
            tuned_for=maybe_text(c.tuned_for),
            tuned_on=maybe_text(c.tuned_on),
            distance=c.distance,
            seconds=c.seconds,
            record=Record._of(c.record.contents),
            measured_at=c.measured_at,
            driver_version=c.driver_version,
            nvrtc_version=c.nvrtc_version,
            source_hash=text(c.source_hash),
            image_from_cache=bool(c.image_from_cache),
            launches=c.launches,
            arguments=c.arguments,
        )


class cugen_progress(Structure):
    _fields_ = [
        ("done", c_size_t),
        ("failed", c_size_t),
        ("planned", c_size_t),
        ("valid", c_uint64),
        ("elapsed", c_double),
        ("remaining", c_double),
        ("best", c_char_p),
        ("best_seconds", c_double),
        ("last", c_char_p),
        ("flops", c_double),
        ("bytes", c_double),
        ("problem", c_char_p),
        ("problem_index", c_size_t),
        ("problems", c_size_t),
        ("stage", c_int),
        ("lost", c_char_p),
    ]


@dataclass(frozen=True)
class Progress:
    """How far tuning is."""

    done: int  # variants; planned is what the budget allows, 0 if a time budget decides
    failed: int  # variants; planned is what the budget allows, 0 if a time budget decides
    planned: int  # variants; planned is what the budget allows, 0 if a time budget decides
    valid: int  # variants in the space
    elapsed: float  # seconds; remaining < 0: not known yet
    remaining: float  # seconds; remaining < 0: not known yet
    best: str | None  # variant text, or None
    best_seconds: float
    last: str | None  # the variant just finished, or None
    flops: float  # of the problem, from the config; 0: not declared, or not known yet
    bytes: float  # of the problem, from the config; 0: not declared, or not known yet
    problem: str  # that is being tuned; best, last and valid are of it, done, failed and planned of all
    problem_index: int  # from 0, in the array of cugen_kernels_tune
    problems: int  # how many are tuned; 1: by cugen_kernel_tune
    stage: Stage  # of the problem's tuning; after the search done and planned stay as they are
    lost: str | None  # devices that failed and are left out: "cuda:3: why", a line each; or None

    @classmethod
    def _of(cls, c: cugen_progress) -> Progress:
        return Progress(
            done=c.done,
            failed=c.failed,
            planned=c.planned,
            valid=c.valid,
            elapsed=c.elapsed,
            remaining=c.remaining,
            best=maybe_text(c.best),
            best_seconds=c.best_seconds,
            last=maybe_text(c.last),
            flops=c.flops,
            bytes=c.bytes,
            problem=text(c.problem),
            problem_index=c.problem_index,
            problems=c.problems,
            stage=Stage(c.stage),
            lost=maybe_text(c.lost),
        )


cugen_progress_callback = CFUNCTYPE(c_int, POINTER(cugen_progress), c_void_p)

TUNE_IN_PROCESS = 1


class cugen_tune_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("strategy", c_char_p),
        ("seed", c_uint64),
        ("budget_seconds", c_double),
        ("budget_count", c_size_t),
        ("variant_timeout", c_double),
        ("threads", c_int),
        ("again", c_int),
        ("implementation", c_char_p),
        ("progress", cugen_progress_callback),
        ("context", c_void_p),
        ("flags", c_uint),
        ("cuda_context", c_void_p),
        ("verify_seconds", c_double),
        ("compile_timeout", c_double),
        ("portfolio", c_size_t),
        ("weights", POINTER(c_double)),
        ("bitwise", c_char_p),
    ]


class cugen_import_progress(Structure):
    _fields_ = [
        ("read", c_size_t),
        ("merged", c_size_t),
        ("records", c_size_t),
    ]


cugen_import_callback = CFUNCTYPE(c_int, POINTER(cugen_import_progress), c_void_p)


class cugen_device_name(Structure):
    _fields_ = [
        ("kind", c_int),
        ("predicted", c_int),
        ("name", c_char_p),
    ]


class Outcome(IntEnum):
    """How a variant ended. Only CUGEN_OUTCOME_OK has times."""

    OK = 0  # correct, and timed
    COMPILE = 1  # the compiler refused it
    LAUNCH = 2  # the device cannot launch it: too many threads or registers, too much shared memory
    WRONG = 3  # the result differs from the reference by more than the tolerance, or verify refused it
    BOUNDS = 4  # it read or wrote outside its buffers
    TRAP = 5  # it trapped, or its process died
    TIMEOUT = 6  # it did not end within its time limit
    UNPREDICTED = 7  # predictions only: the model has no time for it; nothing is wrong with it


class Stage(IntEnum):
    """What is going on."""

    SEARCH = 0  # variants are tried
    RACE = 1  # the fastest are measured again, in turn
    VERIFY = 2  # predictions only: the best runs on the cpu device
    DATA = 3  # input data is made, and what the reference gives for it; variants wait for that


class cugen_tune_result(Structure):
    _fields_ = [
        ("valid", c_uint64),
        ("remembered", c_size_t),
        ("tried", c_size_t),
        ("failed", c_size_t),
        ("unpredicted", c_size_t),
        ("leaders", c_size_t),
        ("left", c_uint64),
        ("compiled", c_size_t),
        ("seconds", c_double),
        ("measuring", c_double),
        ("interrupted", c_int),
        ("verified", c_size_t),
        ("refuted", c_size_t),
        ("unverified", c_char_p),
        ("unchecked", c_char_p),
        ("tied", c_size_t),
        ("tied_within", c_double),
        ("alike", c_size_t),
        ("energies", c_size_t),
        ("power_capped", c_size_t),
        ("steady", c_size_t),
        ("unsettled", c_size_t),
        ("devices", c_size_t),
        ("lost", c_char_p),
        ("equal_to", c_char_p),
        ("outputs", cugen_outputs),
        ("unsupported", c_size_t),
        ("not_run", c_char_p),
        ("began", c_char_p),
    ]


@dataclass(frozen=True)
class TuneResult:
    """What one cugen_kernel_tune did."""

    valid: int  # variants in the space
    remembered: int  # variants known before, and not tried again
    tried: int  # in this run
    failed: int  # in this run, for any reason
    unpredicted: int  # in this run: the model has no time for them; nothing is wrong with them
    leaders: int  # tried because something says they are good, such as other sizes or GPUs: see began
    left: int  # variants still untried
    compiled: int  # compiles; fewer than tried if sources were equal
    seconds: float  # wall time
    measuring: float  # seconds during which the device verified or measured
    interrupted: bool  # the callback asked to stop
    verified: int  # predictions that ran on the cpu device in this run and were correct,
    refuted: int  # and wrong: they are remembered as failed
    unverified: str | None  # predictions: why the fastest is not verified; None: it is
    unchecked: str | None  # what a check cannot show of the fastest, verified prediction; None: nothing
    tied: int  # on a GPU: variants that the last race did not find slower than the fastest,
    tied_within: float  # and how far from it they are: 0.004 is 0.4 %
    alike: int  # variants that one error refused, all that there were: the run ended early. 0: it did not
    energies: int  # variants whose energy was measured, where the objective needs it
    power_capped: int  # measure "sustained": measurements at the board's power limit,
    steady: int  # with steady clocks and power below it,
    unsettled: int  # and with neither in the time that they had
    devices: int  # that shared the work, and did not fail; 1 unless options.device names several
    lost: str  # the others, as in cugen_progress
    equal_to: str | None  # with options.bitwise: that variant, in full; else None
    outputs: Outputs  # and what it gives, as all that are wanted do; else not known
    unsupported: int  # in this run: the cpu device cannot run them, a GPU may; they are not remembered
    not_run: str | None  # the first of them and why; None: there is none
    began: str | None  # what led where: "5 that led for other sizes". None: no leaders. Lives as long

    @classmethod
    def _of(cls, c: cugen_tune_result) -> TuneResult:
        return TuneResult(
            valid=c.valid,
            remembered=c.remembered,
            tried=c.tried,
            failed=c.failed,
            unpredicted=c.unpredicted,
            leaders=c.leaders,
            left=c.left,
            compiled=c.compiled,
            seconds=c.seconds,
            measuring=c.measuring,
            interrupted=bool(c.interrupted),
            verified=c.verified,
            refuted=c.refuted,
            unverified=maybe_text(c.unverified),
            unchecked=maybe_text(c.unchecked),
            tied=c.tied,
            tied_within=c.tied_within,
            alike=c.alike,
            energies=c.energies,
            power_capped=c.power_capped,
            steady=c.steady,
            unsettled=c.unsettled,
            devices=c.devices,
            lost=text(c.lost),
            equal_to=maybe_text(c.equal_to),
            outputs=Outputs._of(c.outputs),
            unsupported=c.unsupported,
            not_run=maybe_text(c.not_run),
            began=maybe_text(c.began),
        )

MOST_PROBLEMS = 1000


class cugen_plan_exploration(Structure):
    _fields_ = [
        ("variants", c_size_t),
        ("launches", c_uint64),
        ("explored", c_uint64),
        ("settled", c_int),
        ("variant", c_char_p),
    ]


class cugen_cache_merged(Structure):
    _fields_ = [
        ("records", c_size_t),
        ("added", c_size_t),
        ("better", c_size_t),
        ("worse", c_size_t),
        ("known", c_size_t),
        ("portfolios", c_size_t),
    ]


@dataclass(frozen=True)
class Merged:
    """What an import did with the records of a file."""

    records: int  # in the file: the sum of the following
    added: int  # of variants that had no record
    better: int  # replace the record of their variant, which is kept as history
    worse: int  # kept as history themselves
    known: int  # were in the cache already
    portfolios: int  # in the file; one replaces an earlier one of its kernel, class and device

    @classmethod
    def _of(cls, c: cugen_cache_merged) -> Merged:
        return Merged(
            records=c.records,
            added=c.added,
            better=c.better,
            worse=c.worse,
            known=c.known,
            portfolios=c.portfolios,
        )


class cugen_choice(Structure):
    _fields_ = [
        ("how", c_int),
        ("variant", c_char_p),
        ("tuned_for", c_char_p),
        ("tuned_on", c_char_p),
        ("same_model", c_int),
        ("distance", c_double),
        ("predicted", c_int),
        ("by_portfolio", c_int),
        ("named", c_int),
    ]


class cugen_space_info(Structure):
    _fields_ = [
        ("cartesian", c_uint64),
        ("valid", c_uint64),
        ("implementations", c_size_t),
        ("restrictions", c_size_t),
    ]


class cugen_implementation_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("unavailable", c_char_p),
        ("cartesian", c_uint64),
        ("valid", c_uint64),
    ]


class cugen_restriction_info(Structure):
    _fields_ = [
        ("implementation", c_char_p),
        ("text", c_char_p),
        ("file", c_char_p),
        ("line", c_int),
        ("removed", c_uint64),
        ("kind", c_int),
    ]


class cugen_filter(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("where", POINTER(c_char_p)),
        ("where_count", c_size_t),
        ("variant", c_char_p),
        ("implementation", c_char_p),
        ("all", c_int),
    ]


class cugen_unused_tunable(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("implementation", c_char_p),
        ("file", c_char_p),
        ("line", c_int),
        ("values", c_size_t),
        ("nearest", c_char * 64),
        ("why", c_int),
    ]


class cugen_launch_info(Structure):
    _fields_ = [
        ("entry", c_char_p),
        ("place", c_char_p),
        ("line", c_int),
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared_bytes", c_int64),
        ("carveout", c_int),
        ("overlap", c_int),
        ("cooperative", c_int),
        ("listed", c_int),
        ("passes", c_char_p),
        ("times", c_size_t),
    ]


class FindingKind(IntEnum):
    """The kinds of findings."""

    RACE = 0  # two threads of a block, at least one writes, and nothing orders them
    BLOCK_RACE = 1  # the same of threads of two blocks
    COPY_IN_FLIGHT = 2  # an access to memory that an asynchronous copy still writes or reads
    UNINITIALISED = 3  # a read of memory that nobody has written
    OUT_OF_BOUNDS = 4  # an access outside a buffer or an array
    MISALIGNED = 5  # an address that is no multiple of the access's width
    INDEX = 6  # an index outside the type of its array
    INPUT_WRITE = 7  # a write to an input
    DIVERGENCE = 8  # threads of a block wait at different barriers
    EXITED = 9  # a barrier that some threads never reach, because they have ended
    ABSENT_LANES = 10  # a mask with lanes that have ended or never existed
    DEADLOCK = 11  # threads wait for each other
    HANG = 12  # the kernel does not end: where a thread was
    MISSING_FENCE = 13  # no fence between accesses of threads and of asynchronous copies or products
    ACCUMULATORS = 14  # registers that a product still adds to
    ASYNC_MISUSE = 15  # a barrier or asynchronous copy that is used in a wrong way
    TRAP = 16  # the kernel ended itself, or the processor ended it
    WRONG = 17  # a wrong result
    SAME_VALUE = 18  # a race of threads that write the same value: a note, unless the check is strict
    CONSTANT_WRITE = 19  # a write to a __constant__ variable
    SHARED_LIMIT = 20  # more static shared memory than a block may have
    LAUNCH = 21  # a launch that no GPU makes, or not the one that is checked for


class cugen_check_finding(Structure):
    _fields_ = [
        ("kind", c_int),
        ("message", c_char_p),
        ("file", c_char_p),
        ("line", c_int),
        ("user_file", c_char_p),
        ("user_line", c_int),
        ("other_file", c_char_p),
        ("other_line", c_int),
        ("array", c_char_p),
        ("shared", c_int),
        ("block", c_uint32 * 3),
        ("thread", c_uint32 * 3),
        ("other_block", c_uint32 * 3),
        ("other_thread", c_uint32 * 3),
        ("variant", c_char_p),
        ("problem", c_char_p),
        ("variants", c_size_t),
        ("count", c_uint64),
        ("note", c_int),
        ("waived", c_char_p),
    ]


@dataclass(frozen=True)
class Finding:
    """One defect, in however many variants and runs it shows."""

    kind: FindingKind
    message: str  # a sentence: which thread did what, and where the other thread was
    file: str  # of the template, as in the source's #line; "": not known
    line: int
    user_file: str  # where an inlined function's code is called from: another file, or the kernel; ""
    user_line: int
    other_file: str  # the other access or barrier; ""
    other_line: int
    array: str  # of shared memory, or the buffer; ""
    shared: bool
    block: tuple[int, ...]  # of the access
    thread: tuple[int, ...]  # of the access
    other_block: tuple[int, ...]  # of the other access; zero if none
    other_thread: tuple[int, ...]  # of the other access; zero if none
    variant: str  # where it was found first
    problem: str  # where it was found first
    variants: int  # that show it
    count: int  # how often it happened, in all runs
    note: int  # no error: what --strict would count, or what is waived
    waived: str  # the reason of the config's waive that it is a note by; ""

    @classmethod
    def _of(cls, c: cugen_check_finding) -> Finding:
        return Finding(
            kind=FindingKind(c.kind),
            message=text(c.message),
            file=text(c.file),
            line=c.line,
            user_file=text(c.user_file),
            user_line=c.user_line,
            other_file=text(c.other_file),
            other_line=c.other_line,
            array=text(c.array),
            shared=bool(c.shared),
            block=tuple(c.block),
            thread=tuple(c.thread),
            other_block=tuple(c.other_block),
            other_thread=tuple(c.other_thread),
            variant=text(c.variant),
            problem=text(c.problem),
            variants=c.variants,
            count=c.count,
            note=c.note,
            waived=text(c.waived),
        )

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        return f"{place}{self.kind.name.lower().replace('_', ' ')}: {self.message}"


class cugen_check_waiver(Structure):
    _fields_ = [
        ("file", c_char_p),
        ("line", c_int),
        ("kind", c_int),
        ("at", c_char_p),
        ("reason", c_char_p),
        ("findings", c_size_t),
    ]


class cugen_check_traffic(Structure):
    _fields_ = [
        ("variant", c_char_p),
        ("problem", c_char_p),
        ("launch", c_int),
        ("array", c_char_p),
        ("shared", c_int),
        ("write", c_int),
        ("requests", c_double),
        ("bytes", c_double),
        ("needed", c_double),
        ("ideal", c_double),
        ("launches", c_int),
        ("entry", c_char_p),
        ("lines", c_double),
        ("touched", c_double),
        ("elsewhere", c_int),
    ]


@dataclass(frozen=True)
class Traffic:
    """The memory traffic of a variant with one array of shared memory, or one buffer of global memory, in one launch: on sizes that are whole tiles if it ran on such, else on the check problem."""

    variant: str
    problem: str
    launch: int
    array: str
    shared: bool
    write: bool
    requests: float  # of a warp: its lanes' accesses at one program position
    bytes: float
    needed: float  # passes over the banks (shared), or sectors of 32 bytes (global)
    ideal: float  # the fewest possible for so many bytes
    launches: int  # of the variant: launch is 0 to launches - 1
    entry: str  # the kernel that it launches
    lines: float  # of 128 bytes, of which a request touches one or more sectors; shared memory: 0
    touched: float  # bytes, of each request those that several lanes ask for once; shared memory: 0
    elsewhere: int  # the problem has another type or layout than the check problem

    @classmethod
    def _of(cls, c: cugen_check_traffic) -> Traffic:
        return Traffic(
            variant=text(c.variant),
            problem=text(c.problem),
            launch=c.launch,
            array=text(c.array),
            shared=bool(c.shared),
            write=bool(c.write),
            requests=c.requests,
            bytes=c.bytes,
            needed=c.needed,
            ideal=c.ideal,
            launches=c.launches,
            entry=text(c.entry),
            lines=c.lines,
            touched=c.touched,
            elsewhere=c.elsewhere,
        )


class cugen_check_skip(Structure):
    _fields_ = [
        ("what", c_char_p),
        ("why", c_char_p),
        ("refused", c_int),
        ("variants", c_size_t),
    ]


@dataclass(frozen=True)
class Skip:
    """What was not checked."""

    what: str  # a variant or an implementation; what it needs that the cpu device lacks
    why: str  # a variant or an implementation; what it needs that the cpu device lacks
    refused: bool  # the compiler refused it, or the problem's data and reference were not made in time; 0: by what the config says it is not for this device
    variants: int  # implementations, where what is one

    @classmethod
    def _of(cls, c: cugen_check_skip) -> Skip:
        return Skip(
            what=text(c.what),
            why=text(c.why),
            refused=bool(c.refused),
            variants=c.variants,
        )


class cugen_check_ran(Structure):
    _fields_ = [
        ("variant", c_char_p),
        ("problem", c_char_p),
    ]


class cugen_check_kept(Structure):
    _fields_ = [
        ("setting", c_char_p),
        ("why", c_char_p),
    ]


class cugen_check_line(Structure):
    _fields_ = [
        ("file", c_char_p),
        ("line", c_int),
    ]


class cugen_check_progress(Structure):
    _fields_ = [
        ("done", c_size_t),
        ("planned", c_size_t),
        ("findings", c_size_t),
    ]


@dataclass(frozen=True)
class CheckProgress:
    """How far a check is."""

    done: int  # runs: of a variant on a problem
    planned: int  # runs: of a variant on a problem
    findings: int

    @classmethod
    def _of(cls, c: cugen_check_progress) -> CheckProgress:
        return CheckProgress(
            done=c.done,
            planned=c.planned,
            findings=c.findings,
        )


cugen_check_callback = CFUNCTYPE(c_int, POINTER(cugen_check_progress), c_void_p)


class cugen_check_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("variant", c_char_p),
        ("all", c_int),
        ("branches", c_int),
        ("sample", c_size_t),
        ("seed", c_uint64),
        ("threads", c_int),
        ("timeout", c_double),
        ("progress", cugen_check_callback),
        ("context", c_void_p),
        ("strict", c_int),
        ("no_traffic", c_int),
    ]


class cugen_check(Structure):
    _fields_ = [
        ("findings", POINTER(cugen_check_finding)),
        ("finding_count", c_size_t),
        ("note_count", c_size_t),
        ("traffic", POINTER(cugen_check_traffic)),
        ("traffic_count", c_size_t),
        ("skips", POINTER(cugen_check_skip)),
        ("skip_count", c_size_t),
        ("ran", POINTER(cugen_check_ran)),
        ("variants", c_size_t),
        ("problems", c_size_t),
        ("runs", c_size_t),
        ("variants_of", c_uint64),
        ("variants_elsewhere", c_size_t),
        ("runs_done", c_size_t),
        ("runs_planned", c_size_t),
        ("problem_texts", POINTER(c_char_p)),
        ("kept", POINTER(cugen_check_kept)),
        ("kept_count", c_size_t),
        ("lines", c_size_t),
        ("lines_reached", c_size_t),
        ("unreached", POINTER(cugen_check_line)),
        ("unwatched", POINTER(c_char_p)),
        ("unwatched_count", c_size_t),
        ("compared", c_int),
        ("has_check", c_int),
        ("waivers", POINTER(cugen_check_waiver)),
        ("waiver_count", c_size_t),
        ("waived_count", c_size_t),
    ]


class cugen_ceilings(Structure):
    _fields_ = [
        ("dtype", c_char_p),
        ("flops", c_double),
        ("flops_peak", c_double),
        ("tensor_flops_peak", c_double),
        ("bandwidth", c_double),
        ("bandwidth_peak", c_double),
        ("flops_at", c_int64),
        ("bandwidth_at", c_int64),
    ]


class cugen_resources(Structure):
    _fields_ = [
        ("registers", c_int),
        ("threads", c_int),
        ("shared_bytes", c_int64),
        ("dynamic_shared", c_char_p),
        ("has_carveout", c_int),
        ("carveout", c_int),
    ]


class cugen_occupancy(Structure):
    _fields_ = [
        ("device", c_char * 128),
        ("arch", c_char * 16),
        ("blocks", c_int),
        ("max_threads", c_int),
        ("fraction", c_double),
        ("limiter", c_char_p),
        ("warps", c_int),
        ("idle_lanes", c_int),
        ("shared_bytes", c_int64),
        ("best_threads", c_int),
        ("best_shared_bytes", c_int64),
        ("best_fraction", c_double),
    ]


class cugen_transfer_row(Structure):
    _fields_ = [
        ("memory", c_char_p),
        ("unavailable", c_char_p),
        ("to_host", c_int),
        ("size", c_int64),
        ("bytes", c_int64),
        ("alone", c_double),
        ("seconds", c_double),
        ("seconds_min", c_double),
        ("seconds_p20", c_double),
        ("seconds_p80", c_double),
        ("samples", c_int),
    ]


class cugen_transfer_progress(Structure):
    _fields_ = [
        ("done", c_size_t),
        ("planned", c_size_t),
        ("last", POINTER(cugen_transfer_row)),
    ]


cugen_transfer_callback = CFUNCTYPE(c_int, POINTER(cugen_transfer_progress), c_void_p)


class cugen_transfer_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("memory", c_char_p),
        ("sizes", POINTER(c_int64)),
        ("size_count", c_size_t),
        ("seconds", c_double),
        ("progress", cugen_transfer_callback),
        ("context", c_void_p),
    ]


class cugen_transfer(Structure):
    _fields_ = [
        ("device", POINTER(cugen_device_info)),
        ("rows", POINTER(cugen_transfer_row)),
        ("count", c_size_t),
    ]


class cugen_cache_filter(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("config", c_char_p),
        ("problem", c_char_p),
        ("device", c_char_p),
        ("before", c_int64),
        ("failed", c_int),
        ("measure", c_char_p),
    ]


class cugen_cache_set(Structure):
    _fields_ = [
        ("config", c_char_p),
        ("problem", c_char_p),
        ("device", c_char_p),
        ("options", c_char_p),
        ("arch", c_char_p),
        ("measure", c_char_p),
        ("records", c_size_t),
        ("failed", c_size_t),
        ("history", c_size_t),
        ("best", c_char_p),
        ("seconds", c_double),
        ("flops", c_double),
        ("bytes", c_double),
        ("measured_at", c_int64),
    ]


@dataclass(frozen=True)
class RecordSet:
    """The records of one kernel for one problem on one device with one set of options."""

    config: str
    problem: str
    device: str
    options: str
    arch: str | None  # of options: "sm_90a", "cpu"; None: they are those of predictions
    measure: str | None  # of options: how it was timed, "burst" or "served"; None: likewise
    records: int  # variants measured or failed
    failed: int  # of them
    history: int  # earlier records of the same variants
    best: str  # as cugen_best, of stale ones, too; the fastest without the config; "": none is right
    seconds: float  # its time
    flops: float  # of the problem; 0: not declared
    bytes: float  # of the problem; 0: not declared
    measured_at: int  # the latest; seconds since the epoch

    @classmethod
    def _of(cls, c: cugen_cache_set) -> RecordSet:
        return RecordSet(
            config=text(c.config),
            problem=text(c.problem),
            device=text(c.device),
            options=text(c.options),
            arch=maybe_text(c.arch),
            measure=maybe_text(c.measure),
            records=c.records,
            failed=c.failed,
            history=c.history,
            best=text(c.best),
            seconds=c.seconds,
            flops=c.flops,
            bytes=c.bytes,
            measured_at=c.measured_at,
        )


class cugen_cache_counts(Structure):
    _fields_ = [
        ("sets", c_size_t),
        ("records", c_size_t),
        ("history", c_size_t),
        ("images", c_size_t),
        ("image_bytes", c_int64),
        ("foreign_images", c_size_t),
        ("portfolios", c_size_t),
    ]


class cugen_export_progress(Structure):
    _fields_ = [
        ("written", c_size_t),
        ("records", c_size_t),
        ("text", c_char_p),
        ("length", c_size_t),
        ("left_out", c_size_t),
    ]


cugen_export_callback = CFUNCTYPE(c_int, POINTER(cugen_export_progress), c_void_p)


class cugen_stored_record(Structure):
    _fields_ = [
        ("record", cugen_record),
        ("current", c_int),
        ("superseded", c_int),
        ("measured_at", c_int64),
        ("driver_version", c_int),
        ("nvrtc_version", c_int),
    ]


class cugen_why_row(Structure):
    _fields_ = [
        ("field", c_char_p),
        ("wanted", c_char_p),
        ("found", c_char_p),
        ("state", c_int),
        ("decides", c_int),
    ]


class cugen_why_match(Structure):
    _fields_ = [
        ("variant", c_char_p),
        ("verdict", c_char_p),
        ("outcome", c_int),
        ("predicted", c_int),
        ("seconds", c_double),
        ("measured_at", c_int64),
        ("rows", POINTER(cugen_why_row)),
        ("row_count", c_size_t),
    ]


class cugen_why(Structure):
    _fields_ = [
        ("hit", c_int),
        ("verdict", c_char_p),
        ("advice", c_char_p),
        ("tune", c_int),
        ("matches", POINTER(cugen_why_match)),
        ("match_count", c_size_t),
    ]


class cugen_portfolio_variant(Structure):
    _fields_ = [
        ("variant", c_char_p),
        ("serves", c_size_t),
        ("mean", c_double),
        ("worst", c_double),
        ("stale", c_int),
        ("invalid", c_int),
        ("time", c_char_p),
    ]


class cugen_portfolio_problem(Structure):
    _fields_ = [
        ("problem", c_char_p),
        ("variant", c_size_t),
        ("seconds", c_double),
        ("best", c_char_p),
        ("best_seconds", c_double),
        ("loss", c_double),
        ("held_out_loss", c_double),
    ]


class cugen_portfolio(Structure):
    _fields_ = [
        ("config", c_char_p),
        ("problem_class", c_char_p),
        ("device", c_char_p),
        ("options", c_char_p),
        ("objective", c_char_p),
        ("rule", c_char_p),
        ("variants", POINTER(cugen_portfolio_variant)),
        ("variant_count", c_size_t),
        ("problems", c_size_t),
        ("mean", c_double),
        ("worst", c_double),
        ("held_out_mean", c_double),
        ("held_out_worst", c_double),
        ("learnt_at", c_int64),
        ("problem", POINTER(cugen_portfolio_problem)),
        ("unserved", c_size_t),
        ("doubted", c_double),
        ("kernels", c_size_t),
        ("missed", c_size_t),
        ("held_out_missed", c_size_t),
    ]


class cugen_learn_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("most", c_size_t),
        ("remembered", c_int),
        ("dry", c_int),
    ]


class cugen_input_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("most", c_size_t),
        ("most_line", c_size_t),
        ("stop", cugen_stop_callback),
        ("context", c_void_p),
    ]


class cugen_export_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("devices", c_char_p),
        ("problems", c_char_p),
        ("distance", c_double),
        ("ptx", c_int),
        ("force", c_int),
        ("portfolio", c_int),
        ("variant", c_char_p),
    ]


class cugen_export_result(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("devices", c_size_t),
        ("problems", c_size_t),
        ("variants", c_size_t),
        ("images", c_size_t),
        ("compiled", c_size_t),
        ("stale", c_size_t),
        ("image_bytes", c_int64),
        ("source_bytes", c_int64),
        ("notes", c_char_p),
        ("portfolios", c_size_t),
    ]


@dataclass(frozen=True)
class ExportResult:
    """What was exported."""

    name: str  # prefix of the bundle's functions and files
    devices: int  # that it has code for, PTX included
    problems: int  # tuned ones, each device's counted
    variants: int  # each device's
    images: int  # cubins and PTX; equal ones are one
    compiled: int  # images compiled now; the rest came from the cache
    stale: int  # records that were not used, since their source has changed
    image_bytes: int
    source_bytes: int
    notes: str  # lines: what was left out or replaced, and why; ""
    portfolios: int  # each device's and class's

    @classmethod
    def _of(cls, c: cugen_export_result) -> ExportResult:
        return ExportResult(
            name=text(c.name),
            devices=c.devices,
            problems=c.problems,
            variants=c.variants,
            images=c.images,
            compiled=c.compiled,
            stale=c.stale,
            image_bytes=c.image_bytes,
            source_bytes=c.source_bytes,
            notes=text(c.notes),
            portfolios=c.portfolios,
        )


# Every function: its result and its parameters.
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "cugen_status_text": (c_char_p, [c_int]),
    "cugen_version": (c_char_p, []),
    "cugen_open": (c_int, [POINTER(cugen_options), POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_close": (None, [c_void_p]),
    "cugen_add_file": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(cugen_error)]),
    "cugen_where": (c_char_p, [c_void_p]),
    "cugen_devices": (c_size_t, [c_void_p, POINTER(cugen_device_info), c_size_t, POINTER(c_char_p)]),
    "cugen_kernel_open": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_kernel_close": (None, [c_void_p]),
    "cugen_kernel_name": (c_char_p, [c_void_p]),
    "cugen_kernel_problem": (c_char_p, [c_void_p]),
    "cugen_kernel_device": (POINTER(cugen_device_info), [c_void_p]),
    "cugen_kernel_arguments": (c_size_t, [c_void_p]),
    "cugen_kernel_argument": (c_int, [c_void_p, c_size_t, POINTER(cugen_argument_info), POINTER(cugen_error)]),
    "cugen_plan_open": (c_int, [c_void_p, POINTER(cugen_plan_options), POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_plan_close": (None, [c_void_p]),
    "cugen_plan_about": (POINTER(cugen_plan_info), [c_void_p]),
    "cugen_plan_argument": (c_int, [c_void_p, c_size_t, POINTER(cugen_argument_info), POINTER(cugen_error)]),
    "cugen_plan_save": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_call_bind": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_call_close": (None, [c_void_p]),
    "cugen_call_rebind": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(cugen_error)]),
    "cugen_call_launch": (c_int, [c_void_p, c_void_p, POINTER(cugen_error)]),
    "cugen_plan_symbol": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_plan_write": (c_int, [c_void_p, c_char_p, c_size_t, c_void_p, c_size_t, c_void_p, POINTER(cugen_error)]),
    "cugen_plan_read": (c_int, [c_void_p, c_char_p, c_size_t, c_void_p, c_size_t, c_void_p, POINTER(cugen_error)]),
    "cugen_kernel_tune": (c_int, [c_void_p, POINTER(cugen_tune_options), POINTER(cugen_tune_result), POINTER(cugen_error)]),
    "cugen_cache_import": (c_int, [c_void_p, c_char_p, cugen_import_callback, c_void_p, POINTER(cugen_cache_merged), POINTER(cugen_error)]),
    "cugen_worker_main": (c_int, [c_int, POINTER(c_char_p)]),
    "cugen_clean_text": (c_size_t, [c_char_p, c_size_t, c_char_p, c_size_t]),
    "cugen_nearest": (c_char_p, [c_char_p, POINTER(c_char_p), c_size_t]),
    "cugen_configs": (c_size_t, [c_void_p, POINTER(c_char_p), c_size_t]),
    "cugen_device_parse": (cugen_device_name, [c_char_p]),
    "cugen_cache_parse": (c_int, [c_char_p]),
    "cugen_device_group": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_models": (c_size_t, [c_void_p, POINTER(c_char_p), c_size_t]),
    "cugen_described": (c_size_t, [c_void_p, POINTER(cugen_device_info), c_size_t]),
    "cugen_outcome_name": (c_char_p, [c_int]),
    "cugen_outcome_text": (c_char_p, [c_int]),
    "cugen_outputs_text": (c_size_t, [POINTER(cugen_outputs), c_char_p, c_size_t]),
    "cugen_outputs_equal": (c_int, [POINTER(cugen_outputs), POINTER(cugen_outputs)]),
    "cugen_best": (c_size_t, [POINTER(POINTER(cugen_record)), c_size_t]),
    "cugen_kernel_records": (c_size_t, [c_void_p]),
    "cugen_kernel_record": (c_int, [c_void_p, c_size_t, POINTER(cugen_record), POINTER(cugen_error)]),
    "cugen_kernels_tune": (c_int, [POINTER(c_void_p), c_size_t, POINTER(cugen_tune_options), POINTER(cugen_tune_result), POINTER(cugen_error)]),
    "cugen_plan_explored": (c_int, [c_void_p, POINTER(cugen_plan_exploration), POINTER(cugen_error)]),
    "cugen_kernel_fallback": (c_char_p, [c_void_p]),
    "cugen_kernel_problem_short": (c_char_p, [c_void_p]),
    "cugen_kernel_problem_values": (c_char_p, [c_void_p, c_char_p]),
    "cugen_kernel_problem_set": (c_char_p, [c_void_p, c_size_t]),
    "cugen_kernel_policy": (c_char_p, [c_void_p]),
    "cugen_kernel_objective": (c_int, [c_void_p]),
    "cugen_objective_name": (c_char_p, [c_int]),
    "cugen_kernel_objective_text": (c_char_p, [c_void_p]),
    "cugen_kernel_needs_energy": (c_int, [c_void_p]),
    "cugen_kernel_measure": (c_char_p, [c_void_p]),
    "cugen_kernel_use_check": (c_int, [c_void_p, POINTER(cugen_error)]),
    "cugen_kernel_has_check": (c_int, [c_void_p]),
    "cugen_kernel_use_predictions": (c_int, [c_void_p, POINTER(cugen_error)]),
    "cugen_kernel_predicted": (c_int, [c_void_p]),
    "cugen_kernel_key": (None, [c_void_p, POINTER(c_char_p), POINTER(c_char_p)]),
    "cugen_kernel_choose": (c_int, [c_void_p, c_double, POINTER(cugen_choice), POINTER(cugen_error)]),
    "cugen_kernel_filter": (c_int, [c_void_p, POINTER(cugen_filter), POINTER(cugen_error)]),
    "cugen_kernel_space": (c_int, [c_void_p, POINTER(cugen_space_info), POINTER(cugen_error)]),
    "cugen_kernel_implementation": (c_int, [c_void_p, c_size_t, POINTER(cugen_implementation_info), POINTER(cugen_error)]),
    "cugen_kernel_restriction": (c_int, [c_void_p, c_size_t, POINTER(cugen_restriction_info), POINTER(cugen_error)]),
    "cugen_kernel_unused": (c_int, [c_void_p, POINTER(cugen_unused_tunable), c_size_t, POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_kernel_variant": (c_int, [c_void_p, c_uint64, POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_kernel_source": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_kernel_ptx": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_kernel_accepts": (c_int, [c_void_p, c_char_p, POINTER(cugen_error)]),
    "cugen_kernel_launches": (c_int, [c_void_p, c_char_p, POINTER(POINTER(cugen_launch_info)), POINTER(c_size_t), POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_kernel_complete": (c_int, [c_void_p, c_char_p, POINTER(cugen_error)]),
    "cugen_strategy": (c_char_p, [c_size_t, POINTER(c_char_p)]),
    "cugen_expect_tuning": (None, [c_void_p, c_int]),
    "cugen_kernel_watch_run": (None, [c_void_p, cugen_progress_callback, c_void_p]),
    "cugen_kernel_run": (c_int, [c_void_p, c_char_p, c_double, POINTER(cugen_record), POINTER(cugen_error)]),
    "cugen_kernel_printed": (c_char_p, [c_void_p]),
    "cugen_finding_name": (c_char_p, [c_int]),
    "cugen_kernel_check": (c_int, [c_void_p, POINTER(cugen_check_options), POINTER(cugen_check), POINTER(cugen_error)]),
    "cugen_kernel_ceilings": (c_int, [c_void_p, POINTER(cugen_ceilings), POINTER(cugen_error)]),
    "cugen_kernel_tensor_flops": (c_double, [c_void_p, c_char_p]),
    "cugen_kernel_resources": (c_int, [c_void_p, c_char_p, POINTER(cugen_resources), POINTER(cugen_error)]),
    "cugen_device_occupancy": (c_int, [c_void_p, c_char_p, POINTER(cugen_resources), POINTER(cugen_occupancy), POINTER(cugen_error)]),
    "cugen_transfer_measure": (c_int, [c_void_p, POINTER(cugen_transfer_options), POINTER(cugen_transfer), POINTER(cugen_error)]),
    "cugen_cache_list": (c_int, [c_void_p, POINTER(cugen_cache_filter), POINTER(POINTER(cugen_cache_set)), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_cache_remove": (c_int, [c_void_p, POINTER(cugen_cache_filter), c_int, POINTER(cugen_cache_counts), POINTER(cugen_error)]),
    "cugen_cache_verify": (c_int, [c_void_p, POINTER(cugen_cache_counts), POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_cache_export": (c_int, [c_void_p, POINTER(cugen_cache_filter), c_char_p, cugen_export_callback, c_void_p, POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_kernel_stored": (c_int, [c_void_p, c_int, POINTER(POINTER(cugen_stored_record)), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_kernel_why": (c_int, [c_void_p, c_char_p, POINTER(cugen_why), POINTER(cugen_error)]),
    "cugen_kernels_learn": (c_int, [POINTER(c_void_p), c_size_t, POINTER(cugen_learn_options), POINTER(POINTER(cugen_portfolio)), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_kernel_unlearnt": (c_char_p, [c_void_p]),
    "cugen_kernel_portfolios": (c_int, [c_void_p, POINTER(POINTER(cugen_portfolio)), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_cache_portfolios": (c_int, [c_void_p, POINTER(cugen_cache_filter), POINTER(POINTER(cugen_portfolio)), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_input_open": (c_int, [c_char_p, POINTER(cugen_input_options), POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_input_close": (None, [c_void_p]),
    "cugen_input_line": (c_int, [c_void_p, POINTER(c_char_p), POINTER(c_size_t), POINTER(c_int), POINTER(cugen_error)]),
    "cugen_input_rest": (c_int, [c_void_p, POINTER(c_char_p), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_output_open": (c_int, [c_char_p, POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_output_add": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(cugen_error)]),
    "cugen_output_close": (c_int, [c_void_p, c_int, POINTER(cugen_error)]),
    "cugen_kernel_export": (c_int, [c_void_p, POINTER(cugen_export_options), c_char_p, POINTER(cugen_export_result), POINTER(cugen_error)]),
}
