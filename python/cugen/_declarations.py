"""The header of cugen for ctypes. Made by tools/python-declarations; do not edit."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p,
)
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import lru_cache
from typing import Any, Callable, TypeVar


def text(value: bytes | None) -> str:
    return value.decode(errors="replace") if value else ""


def maybe_text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="replace")


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "str": text, "str | None": maybe_text, "bool": bool, "int": int, "float": float,
}
Made = TypeVar("Made", bound="Described")


@lru_cache(maxsize=None)
def conversions(described: type[Described]) -> list[tuple[str, Callable[[Any], Any] | None]]:
    """Each field, and what converts to its type; None for an array."""
    return [(f.name, CONVERSIONS.get(str(f.type)) or globals().get(str(f.type))) for f in fields(described)]


@dataclass(frozen=True)
class Described:
    """A copy of a structure with the types with which the fields are annotated."""

    @classmethod
    def _of(cls: type[Made], c: Structure) -> Made:
        # Of an array only the first `rank` elements count.
        return cls(**{name: convert(getattr(c, name)) if convert else tuple(getattr(c, name)[: c.rank])
                      for name, convert in conversions(cls)})  # type: ignore[arg-type]

VERSION = "0.1.0"


class Status(IntEnum):
    """The status that functions return. The values never change. The exit code of the command line is the status without its sign, unless stated otherwise."""

    OK = 0
    INTERNAL = -1  # a defect of cugen itself
    USAGE = -2  # a wrong option, setting or argument
    CONFIG = -3  # a config does not load or is inconsistent
    TEMPLATE = -4  # a template does not expand
    EMPTY = -5  # no variant satisfies the restrictions
    COMPILE = -6  # the compiler refused an expanded source
    DEVICE = -7  # the device or its driver failed
    MISSING = -8  # a driver, NVRTC, compiler, worker or file was not found
    CACHE = -9  # the cache or a wisdom file is corrupt, foreign, or newer than this cugen
    IO = -10  # reading or writing failed: permissions, full disk
    WRONG = -11  # a wrong result, a finding of a check, or no variant was correct (in the budget)
    MEMORY = -12  # out of memory, on the host or the device
    INTERRUPTED = -13  # stopped on request; measurements are kept; exit code 130 (Ctrl-C) or 143


class Cause(IntEnum):
    """The cause of an error, more precise than its status. Most errors have none."""

    NONE = 0
    BOUNDS = 1  # a kernel accessed memory outside its buffers, or misaligned
    INPUT = 2  # a kernel wrote to an input
    TRAP = 3  # a kernel ended itself, or the processor ended it
    MASK = 4  # a kernel's warp operation has a mask without the calling lane
    RESOURCES = 5  # the device cannot launch the kernel
    KERNEL_TIME = 6  # the driver ended a kernel that took too long
    COMPILE_TIME = 7  # a compile was stopped at its time limit
    ASSEMBLY = 8  # the compiler does not know an instruction in inline assembly
    DEVICE_LOST = 9  # the device is gone; no kernel's fault
    BUSY = 10  # the cache's server could not answer just now: trying again may work
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
        ("no_library", c_int),
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
class Device(Described):
    """A device. "" and 0 mean unknown."""

    id: str  # id for options.device: "cuda:0", "cpu"
    name: str  # "NVIDIA H200"
    uuid: str  # "GPU-..." or ""
    arch: str  # "sm_90a"
    driver_version: int  # CUDA versions, 13000 for 13.0; 0: there is none
    nvrtc_version: int  # CUDA versions, 13000 for 13.0; 0: there is none
    sm_count: int
    clock_khz: int  # highest clocks, and width of the memory bus; 0: not applicable
    memory_clock_khz: int  # highest clocks, and width of the memory bus; 0: not applicable
    memory_bus_bits: int  # highest clocks, and width of the memory bus; 0: not applicable
    memory_bytes: int
    l2_bytes: int
    shared_bytes_per_block: int  # with opt-in


class ArgumentKind(IntEnum):
    """What the kernel does with an argument."""

    INPUT = 0  # a buffer that is read
    OUTPUT = 1  # a buffer that is written completely
    INOUT = 2  # a buffer that is read and written
    SCRATCH = 3  # a buffer for the kernel's own use; cugen can allocate it
    SCALAR = 4  # a number, passed by value
    CONSTANT = 5  # values that the kernel reads, copied at bind: a symbol, or passed by address

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
class Argument(Described):
    """An argument of the kernel for its problem."""

    name: str
    kind: ArgumentKind
    dtype: str  # "f32"; "struct": a struct that is passed by value
    rank: int  # 0 for a scalar
    shape: tuple[int, ...]  # elements, logical order
    stride: tuple[int, ...]  # in elements; 0s with tiles or a swizzle
    layout: str  # "row", "col", "row/32x8:col", ... in its shortest form; "strides" where the config gives the strides
    bytes: int  # size of the whole argument, pitch included; 0: absent, or scratch that the variant does not use
    memory: str  # "device", "pinned", "mapped", "managed", "registered"
    compiled_in: bool  # scalar: its value is part of the source and is not passed
    absent: bool  # the problem has no such argument: pass None. The other members are those of a scalar
    overwrite: bool  # input: the kernel may write to the buffer, so it is not const
    data: str | None  # source of the test data: a fill ("uniform"), "values", "file", "generator"; None: none
    data_from: str | None  # the expression or file of data; None: neither, or in a plan
    access: str  # how the kernel reaches the argument: "global", "constant", "texture", "array", "symbol", "pointer", "tensor", "field"
    is_size: bool  # scalar: passes a size of the problem; with a larger value the kernel exceeds its buffers
    size: int  # value of that size; otherwise 0

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
    """The origin of a plan's variant."""

    EXACT = 0  # the best remembered for this problem
    NEAR = 1  # the best remembered for the problem that the policy selects: the nearest, or its bucket's
    DEFAULT = 2  # nothing measured here serves: a variant that cugen ships or the model puts first, else on a GPU the config's suggestion (try), else the first valid variant
    PINNED = 3  # the choice in options.choice, or in the file of options.pin or $CUGEN_PIN
    PORTFOLIO = 4  # named by a portfolio's rule: measured for other sizes
    OTHER_GPU = 5  # the best remembered for this problem on another GPU, of the same model or compute capability


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
        ("flops", c_double),
        ("bytes", c_double),
        ("predicted", c_int),
        ("measured_at", c_int64),
        ("driver_version", c_int),
        ("nvrtc_version", c_int),
        ("source_hash", c_char_p),
        ("image_from_cache", c_int),
        ("launches", c_size_t),
        ("arguments", c_size_t),
    ]


@dataclass(frozen=True)
class PlanInfo(Described):
    """A plan, and the reason for its variant. For a default, pinned or portfolio choice tuned_for is None, and seconds, measured_at and the versions are 0."""

    kernel: str
    problem: str
    variant: str
    choice: PlanChoice
    tuned_for: str | None  # the problem of the record
    tuned_on: str | None  # the other GPU of the record, or of the shipped portfolio; otherwise None
    distance: float  # from this problem to tuned_for
    seconds: float  # median time of one run of all launches, measured for tuned_for
    flops: float  # declared work of tuned_for, or if that is None of the problem; 0: not declared
    bytes: float  # declared work of tuned_for, or if that is None of the problem; 0: not declared
    predicted: bool  # the variant was not measured on a GPU: the model chose it
    measured_at: int  # seconds since the epoch
    driver_version: int  # CUDA versions of the measurement
    nvrtc_version: int  # CUDA versions of the measurement
    source_hash: str  # hash of the source without comments and spacing: equal hashes mean the same code
    image_from_cache: bool  # 0: the image was compiled now
    launches: int  # kernels launched by one cugen_call_launch
    arguments: int  # number of arguments of cugen_call_bind


class cugen_array(Structure):
    _fields_ = [
        ("dtype", c_char_p),
        ("rank", c_int),
        ("shape", c_int64 * MAX_RANK),
        ("stride", c_int64 * MAX_RANK),
    ]


class cugen_plan_exploration(Structure):
    _fields_ = [
        ("variants", c_size_t),
        ("launches", c_uint64),
        ("explored", c_uint64),
        ("settled", c_int),
        ("variant", c_char_p),
    ]


class Stage(IntEnum):
    """The stage of tuning."""

    SEARCH = 0  # variants are tried
    RACE = 1  # the fastest variants are measured again, in turn
    VERIFY = 2  # predictions only: the best variant runs on the cpu device
    DATA = 3  # input data and the reference's results are computed; variants wait for them


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
class Progress(Described):
    """The progress of tuning."""

    done: int  # counts of variants over all problems; planned: as many as the budget allows, 0: the budget is a time
    failed: int  # counts of variants over all problems; planned: as many as the budget allows, 0: the budget is a time
    planned: int  # counts of variants over all problems; planned: as many as the budget allows, 0: the budget is a time
    valid: int  # variants in the space of `problem`
    elapsed: float  # seconds; remaining < 0: unknown
    remaining: float  # seconds; remaining < 0: unknown
    best: str | None  # the best variant of `problem`, or None
    best_seconds: float
    last: str | None  # the variant of `problem` that was tried last, or None
    flops: float  # declared work of the problem, from the config; 0: not declared, or unknown yet
    bytes: float  # declared work of the problem, from the config; 0: not declared, or unknown yet
    problem: str  # the problem that is being tuned
    problem_index: int  # index of `problem`, from 0, in the array of cugen_kernels_tune
    problems: int  # number of problems being tuned; 1 for cugen_kernel_tune
    stage: Stage  # stage of the problem's tuning; done does not change after the search
    lost: str | None  # devices that failed and are no longer used: "cuda:3: why", one per line; or None


cugen_progress_callback = CFUNCTYPE(c_int, POINTER(cugen_progress), c_void_p)

TUNE_IN_PROCESS = 1


cugen_baseline = CFUNCTYPE(c_int, POINTER(c_void_p), POINTER(POINTER(cugen_argument_info)), c_void_p)


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
        ("patience", c_int),
        ("baseline", c_char_p),
    ]


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
    "cugen_kernel_fallback": (c_char_p, [c_void_p]),
    "cugen_kernel_arguments": (c_size_t, [c_void_p]),
    "cugen_kernel_argument": (c_int, [c_void_p, c_size_t, POINTER(cugen_argument_info), POINTER(cugen_error)]),
    "cugen_plan_open": (c_int, [c_void_p, POINTER(cugen_plan_options), POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_plan_close": (None, [c_void_p]),
    "cugen_plan_about": (POINTER(cugen_plan_info), [c_void_p]),
    "cugen_plan_argument": (c_int, [c_void_p, c_size_t, POINTER(cugen_argument_info), POINTER(cugen_error)]),
    "cugen_plan_for": (c_int, [c_void_p, POINTER(cugen_array), c_size_t, POINTER(cugen_plan_options), POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_plan_save": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_plan_explored": (c_int, [c_void_p, POINTER(cugen_plan_exploration), POINTER(cugen_error)]),
    "cugen_call_bind": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), POINTER(cugen_error)]),
    "cugen_call_close": (None, [c_void_p]),
    "cugen_call_rebind": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(cugen_error)]),
    "cugen_call_launch": (c_int, [c_void_p, c_void_p, POINTER(cugen_error)]),
    "cugen_plan_symbol": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t), POINTER(cugen_error)]),
    "cugen_plan_write": (c_int, [c_void_p, c_char_p, c_size_t, c_void_p, c_size_t, c_void_p, POINTER(cugen_error)]),
    "cugen_plan_read": (c_int, [c_void_p, c_char_p, c_size_t, c_void_p, c_size_t, c_void_p, POINTER(cugen_error)]),
    "cugen_kernel_tune": (c_int, [c_void_p, POINTER(cugen_tune_options), POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_kernels_tune": (c_int, [POINTER(c_void_p), c_size_t, POINTER(cugen_tune_options), POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_kernel_records": (c_int, [c_void_p, POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_kernel_source": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_cache_import": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_command": (c_int, [c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_char_p), POINTER(cugen_error)]),
    "cugen_worker_main": (c_int, [c_int, POINTER(c_char_p)]),
}
