"""PyTorch: the short way of a call with tensors, torch.compile, CUDA graphs and gradients. Imported
once torch is.

A call with plain tensors is looked up by their shapes, strides and types. What is found there
(``Ready``) was checked by the long way, ``Kernel._call``, so that only addresses are left to
pass. Under torch.compile and for gradients a call is the operator ``cugen::launch``, which makes
its outputs, or ``cugen::launch_into``, which writes to arguments."""

from __future__ import annotations

import importlib
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from ._declarations import Argument, ArgumentKind
from ._library import Error

if TYPE_CHECKING:
    from ._kernel import Kernel, Plan

torch: Any = importlib.import_module("torch")

Tensor = torch.Tensor
PLAIN = frozenset((Tensor, torch.nn.Parameter))  # other classes may have no memory of their own
TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
}
for _name, _type in (
    ("e4m3", "float8_e4m3fn"),
    ("e5m2", "float8_e5m2"),
    ("u16", "uint16"),
    ("u32", "uint32"),
    ("u64", "uint64"),
):
    if hasattr(torch, _type):  # not in old versions
        TYPES[_name] = getattr(torch, _type)

_grad_enabled = torch.is_grad_enabled
_raw_stream: Any = getattr(
    torch._C, "_cuda_getCurrentRawStream", None
)  # a build without CUDA has none
_capturing: Any = getattr(torch._C, "_cuda_isCurrentStreamCapturing", None)
_empty = torch.empty
compiling = torch.compiler.is_dynamo_compiling


def raw_stream(device: int) -> int:
    """The current stream of a GPU."""
    return int(_raw_stream(device)) if _raw_stream else 0


def capturing() -> bool:
    """Whether the current stream is being captured into a CUDA graph."""
    return bool(_capturing and torch.cuda.is_initialized() and _capturing())


# ---- The short way -------------------------------------------------------------------------------


class Made(NamedTuple):
    """An output that a call makes: packed rows."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any


class Ready(NamedTuple):
    """A checked call of tensors, of which only the addresses are missing."""

    plan: Plan
    lock: Any
    calls: Any  # the plan's Bounds by stream
    device: int  # number of the GPU; -1: the processor
    made: Made | None
    order: tuple[int, ...] | None  # the argument of each tensor; None: the first ones in order
    blank: list[None]  # for the arguments that are left out
    results: tuple[int, ...]  # which of the tensors are outputs
    differentiable: bool  # some require gradients: with gradients enabled this is no plain call
    scratch: bool


def launch(kernel: Kernel, arguments: tuple[Any, ...], out: Any) -> Any:
    """Launches a call that is remembered for such tensors, on the current stream. Returns
    NotImplemented if the call must take the long way."""
    tensors = arguments if out is None else (*arguments, out)
    try:
        key = (
            len(arguments),
            *[
                (type(t), t.shape, t.stride(), t.dtype, t.get_device(), t.requires_grad, t.is_neg())
                for t in tensors
            ],
        )
        ready = kernel._ready.get(key)
    except (AttributeError, TypeError, RuntimeError):  # not all are tensors that have memory
        return NotImplemented
    if ready is None:
        return NotImplemented
    plan, lock, calls, device, made, order, blank, results, differentiable, scratch = ready
    if differentiable and _grad_enabled():
        return NotImplemented
    stream = _raw_stream(device) if device >= 0 else 0
    if scratch and device >= 0 and _capturing():
        return NotImplemented
    if made is not None:
        tensors = (*tensors, _empty(made.shape, dtype=made.dtype, device=made.device))
    addresses = [t.data_ptr() for t in tensors]
    if order is None:
        addresses += blank
    else:
        addresses = arranged(addresses, order, blank)
    with lock:
        bound = calls.get(stream)
        if bound is None:
            return NotImplemented
        if bound.key != addresses:
            bound.move(addresses)
        bound.launch(stream)
    return tensors[results[0]] if len(results) == 1 else tuple([tensors[i] for i in results])


def arranged(addresses: Sequence[int], order: tuple[int, ...], blank: list[None]) -> list[Any]:
    all_: list[Any] = [None] * (len(order) + len(blank))
    for place, address in zip(order, addresses):
        all_[place] = address
    return all_


def remember(
    kernel: Kernel, plan: Plan, arguments: tuple[Any, ...], out: Any, made: Sequence[int]
) -> None:
    """Remembers a call that Kernel._call has launched, if the short way can repeat it."""
    tensors = arguments if out is None else (*arguments, out)
    if (
        plan._constants
        or len(made) > 1
        or any(type(t) not in PLAIN for t in tensors)
        or len(kernel._ready) >= MOST_READY
    ):
        return
    device = max((t.get_device() for t in tensors), default=-1)
    if (
        not kernel._on_cpu and device < 0
    ):  # all in host memory: no tensor tells which stream is current
        return
    outputs = [
        i for i, argument in enumerate(plan.arguments) if argument.kind == ArgumentKind.OUTPUT
    ]
    order = (*range(len(arguments)), *(outputs[:1] if out is not None else ()), *made)
    spec = None
    if made:
        argument = plan.arguments[made[0]]
        if not is_packed(argument):
            return
        spec = Made(
            argument.shape,
            TYPES[argument.dtype],
            next(t.device for t in tensors if t.get_device() == device),
        )
    results = tuple(
        i
        for i, place in enumerate(order)
        if plan.arguments[place].kind in (ArgumentKind.OUTPUT, ArgumentKind.INOUT)
    )
    key = (
        len(arguments),
        *[
            (type(t), t.shape, t.stride(), t.dtype, t.get_device(), t.requires_grad, t.is_neg())
            for t in tensors
        ],
    )
    kernel._ready[key] = Ready(
        plan,
        plan._lock,
        plan._calls,
        device,
        spec,
        None if order == tuple(range(len(order))) else order,
        [None] * (len(plan.arguments) - len(order)),
        results,
        any(t.requires_grad for t in tensors),
        plan._scratch,
    )


MOST_READY = 1 << 16  # a program with more kinds of calls takes the long way for the rest


def is_packed(argument: Argument) -> bool:
    """Whether the elements lie by rows without gaps."""
    size = 1
    for extent, stride in zip(reversed(argument.shape), reversed(argument.stride)):
        if extent > 1 and stride != size:
            return False
        size *= extent
    return True


def make(argument: Argument, like: Any) -> Any:
    """A tensor for an output, on the device of another one."""
    dtype = TYPES.get(argument.dtype)
    if dtype is None:
        raise Error(
            f"argument '{argument.name}': this version of PyTorch has no {argument.dtype}: "
            "pass it as bytes"
        )
    if is_packed(argument):
        return torch.empty(argument.shape, dtype=dtype, device=like.device)
    whole = torch.empty(
        argument.bytes // dtype.itemsize, dtype=dtype, device=like.device
    )  # rows are whole, the last one too
    return whole if not argument.stride[0] else whole.as_strided(argument.shape, argument.stride)


def memory_of(stream: int, device: Any) -> Any:
    """A context in which new tensors belong to the stream, because work on another stream may
    still use the memory of that stream's tensors."""
    return torch.cuda.stream(
        torch.cuda.ExternalStream(stream, device=device)
        if stream
        else torch.cuda.default_stream(device)
    )


def scratch_of(arguments: Sequence[Argument], device: int) -> list[Any]:
    """Scratch for one launch in a CUDA graph, from the graph's own memory. None for other
    arguments."""
    return [
        (
            None
            if a.kind != ArgumentKind.SCRATCH or a.absent or not a.bytes
            else (torch.zeros if a.data else torch.empty)(
                a.bytes, dtype=torch.uint8, device=f"cuda:{device}"
            )
        )
        for a in arguments
    ]


def needs_operator(kernel: Kernel, values: Sequence[Any]) -> bool:
    """Whether the call is one of tensors that PyTorch traces, or that require gradients."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if any(
        type(t).__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl for t in tensors
    ):
        return True
    if not _grad_enabled() or not any(t.requires_grad for t in tensors):
        return False
    if kernel.backward is None:
        raise Error(
            f"a tensor requires gradients and {kernel.name} has no backward: "
            "give cugen.kernel one, backward=function, detach the "
            "tensor, or call under torch.no_grad()"
        )
    return True


def without_gradient(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) and value.requires_grad else value


# ---- The operators -------------------------------------------------------------------------------

_kernels: weakref.WeakValueDictionary[str, Kernel] = weakref.WeakValueDictionary()


def name_of(kernel: Kernel, text: str) -> str:
    """A name for operators, the same in every process that opens the same kernels in the same
    order: compiled graphs hold it."""
    name, number = text, 1
    while name in _kernels:
        number += 1
        name = f"{text} #{number}"
    _kernels[name] = kernel
    return name


def _kernel(name: str) -> Kernel:
    found = _kernels.get(name)
    if found is None:
        raise Error(
            f"{name}: the kernel that was compiled into a graph is gone: "
            "keep it as long as the graph"
        )
    return found


def _sort(
    kernel: Kernel, places: Sequence[int], tensors: Sequence[Any], numbers: Sequence[Any]
) -> list[Any]:
    """Arguments in the config's order: the first places are the tensors', the others the
    numbers'."""
    values: list[Any] = [None] * len(kernel.arguments)
    for place, value in zip(places, (*tensors, *numbers)):
        values[place] = value
    return values


def _run(name: str, places: list[int], tensors: list[Any], numbers: list[Any]) -> Any:
    kernel = _kernel(name)
    with torch.no_grad():
        if places == list(range(len(tensors))):  # the short way, if it was called so before
            result = launch(kernel, tuple(tensors), None)
            return (
                kernel._call(tuple(tensors), None, None, {}) if result is NotImplemented else result
            )
        return kernel._call(tuple(_sort(kernel, places, tensors, numbers)), None, None, {})


def _launch(name: str, places: list[int], tensors: list[Any], numbers: list[Any]) -> list[Any]:
    result = _run(name, places, tensors, numbers)
    return list(result) if isinstance(result, tuple) else [result]


def _launch_into(
    name: str, places: list[int], tensors: list[Any], outputs: list[Any], numbers: list[Any]
) -> None:
    _run(name, places, [*tensors, *outputs], numbers)


def _shapes(name: str, places: list[int], tensors: list[Any], numbers: list[Any]) -> list[Any]:
    """Outputs without contents. Extents that follow from an input's extents are taken from the
    input, so that a graph serves all sizes."""
    kernel = _kernel(name)
    fixed = [
        _Fixed(tuple(map(_hint, t.shape)), tuple(map(_hint, t.stride())), t.dtype) for t in tensors
    ]
    plan = kernel._plan_of(_sort(kernel, places, fixed, [None] * len(numbers)))
    symbolic = any(not isinstance(extent, int) for t in tensors for extent in t.shape)
    inherited = _inherited(kernel, plan) if symbolic else {}
    given = dict(zip(places, tensors))
    made = []
    for i, argument in enumerate(plan.arguments):
        if argument.kind != ArgumentKind.OUTPUT or argument.absent:
            continue
        sources = [inherited.get((i, d), (-1, 0)) for d in range(len(argument.shape))]
        shape = [
            given[j].shape[e] if j in given else extent
            for (j, e), extent in zip(sources, argument.shape)
        ]
        packed = is_packed(argument)
        made.append(
            torch.empty(shape, dtype=TYPES[argument.dtype], device=tensors[0].device)
            if packed
            else make(argument, tensors[0])
        )
        if symbolic and (not packed or any(j not in given for j, _ in sources)):
            for t in tensors:
                [int(extent) for extent in t.shape]  # makes the sizes constants of the graph
    return made


def _hint(extent: Any) -> int:
    """The value with which a graph is traced, without making it the graph's constant."""
    return (
        extent
        if isinstance(extent, int)
        else int(extent if extent.node.hint is None else extent.node.hint)
    )


# Extents that no size of a config has by chance; most tiles divide them.
_PROBES = (
    (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049),
    (2039, 2029, 2027, 2017, 2011, 2003, 1999, 1997),
)


def _inherited(kernel: Kernel, plan: Plan) -> dict[tuple[int, int], tuple[int, int]]:
    """For an output and its dimension, an input and its dimension of equal extent for all sizes,
    found by trying other sizes."""
    words = [word.split("=", 1) for word in plan.info.problem.split(" ")]
    sizes = [name for name, value in words if value.isdigit() and int(value) > 1]
    shapes = []
    for probe in _PROBES if len(sizes) <= len(_PROBES[0]) else ():
        other = {**dict(words), **{name: str(64 * extent) for name, extent in zip(sizes, probe)}}
        try:
            shapes.append(
                [
                    argument.shape
                    for argument in kernel.library.kernel(kernel._config, settings=other).arguments
                ]
            )
        except Error:
            return {}
    found: dict[tuple[int, int], tuple[int, int]] = {}
    inputs = [
        (j, e)
        for j, a in enumerate(plan.arguments)
        if a.kind == ArgumentKind.INPUT
        for e in range(len(a.shape))
    ]
    outputs = [
        (i, d)
        for i, a in enumerate(plan.arguments)
        if a.kind == ArgumentKind.OUTPUT
        for d in range(len(a.shape))
    ]
    for i, d in outputs if shapes else ():
        for j, e in inputs:
            if all(shape[j][e] == shape[i][d] for shape in shapes):
                found.setdefault((i, d), (j, e))
    return found


class _Fixed(NamedTuple):
    """What a tensor without memory tells of itself."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: Any

    @property
    def element(self) -> str:
        return next((name for name, dtype in TYPES.items() if dtype == self.dtype), str(self.dtype))


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    name, places, tensors, numbers = inputs
    ctx.save_for_backward(*tensors)
    ctx.kernel_name, ctx.places, ctx.numbers = name, places, numbers


def _backward(ctx: Any, gradients: Any) -> Any:
    kernel = _kernel(ctx.kernel_name)
    if kernel.backward is None:
        raise Error(f"{kernel.name} has no backward: give cugen.kernel one, backward=function")
    given = _sort(kernel, ctx.places, ctx.saved_tensors, ctx.numbers)
    values = [value for place, value in enumerate(given) if place in ctx.places]
    found = kernel.backward(*gradients, *values)
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    count = len(ctx.saved_tensors)
    if len(found) != count:
        raise Error(
            f"the backward of {kernel.name} gave {len(found)} gradients: "
            f"give one for each of its {count} tensors, or None"
        )
    by_place = dict(zip(sorted(ctx.places[:count]), found))
    return (
        None,
        None,
        [by_place[place] for place in ctx.places[:count]],
        None if ctx.numbers else [],
    )


_library = torch.library.Library("cugen", "DEF")
_library.define("launch(str kernel, int[] places, Tensor[] tensors, Scalar[] numbers) -> Tensor[]")
_library.define(
    "launch_into(str kernel, int[] places, Tensor[] tensors, Tensor(a!)[] outputs, "
    "Scalar[] numbers) -> ()"
)
_library.impl("launch", _launch, "CompositeExplicitAutograd")
_library.impl("launch_into", _launch_into, "CompositeExplicitAutograd")
torch.library.register_fake("cugen::launch", _shapes, lib=_library)
torch.library.register_fake("cugen::launch_into", lambda *_: None, lib=_library)
torch.library.register_autograd("cugen::launch", _backward, setup_context=_keep, lib=_library)


def _signature(name: str) -> str:
    """A letter for each argument, and its name: "iA iB oC sM". It is read while a graph is traced,
    which sees the result alone."""
    letters = {
        ArgumentKind.INPUT: "i",
        ArgumentKind.OUTPUT: "o",
        ArgumentKind.INOUT: "w",
        ArgumentKind.SCRATCH: "x",
        ArgumentKind.SCALAR: "s",
        ArgumentKind.CONSTANT: "i",
    }
    return " ".join(
        ("w" if a.overwrite else letters[a.kind]) + a.name for a in _kernel(name).arguments
    )


# What torch.compiler.assume_constant_result sets, which would import all of dynamo.
_signature._dynamo_marked_constant = True  # type: ignore[attr-defined]


def operate(
    name: str, arguments: Sequence[Any], out: Any, stream: Any, named: dict[str, Any]
) -> Any:
    """A call as an operator. torch.compile traces this function, so it is plain Python."""
    if stream is not None:
        raise Error(
            "stream= is for plain calls: under torch.compile and for gradients, "
            "PyTorch's current stream is used"
        )
    signature = _signature(name).split(" ")
    values: list[Any] = [None] * len(signature)
    for i, value in enumerate(arguments):
        values[i] = value
    for argument, value in named.items():
        values[[word[1:] for word in signature].index(argument)] = value
    outputs = [i for i, word in enumerate(signature) if word[0] == "o"]
    if out is not None:
        for i, value in zip(outputs, out if isinstance(out, (tuple, list)) else (out,)):
            values[i] = value
    tensors = [
        i for i, value in enumerate(values) if isinstance(value, Tensor) and signature[i][0] == "i"
    ]
    written = [
        i
        for i, value in enumerate(values)
        if isinstance(value, Tensor) and signature[i][0] in "owx"
    ]
    numbers = [
        i for i, value in enumerate(values) if value is not None and not isinstance(value, Tensor)
    ]
    if not written:
        made = torch.ops.cugen.launch(
            name, tensors + numbers, [values[i] for i in tensors], [values[i] for i in numbers]
        )
        return made[0] if len(made) == 1 else tuple(made)
    torch.ops.cugen.launch_into(
        name,
        tensors + written + numbers,
        [values[i] for i in tensors],
        [values[i] for i in written],
        [values[i] for i in numbers],
    )
    results = [values[i] for i in written if signature[i][0] == "o" or signature[i][0] == "w"]
    return results[0] if len(results) == 1 else tuple(results)
