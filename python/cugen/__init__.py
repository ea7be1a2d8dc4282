"""cugen from Python: tuned CUDA kernels for your arrays.

    import cugen
    matmul = cugen.kernel("matmul", dtype="bf16")
    c = matmul(a, b)

A thin layer over libcugen: everything here is a call of cugen.h. docs/python.md is the guide."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Mapping, Sequence, overload

from ._config import Config
from ._declarations import VERSION, Argument, ArgumentKind, Cause, Device, PlanChoice, PlanInfo, Progress, Stage, Status
from ._kernel import Call, Check, Kernel, Library, Path, Plan, Setting, Tuning, tune_several
from ._library import Error
from ._values import Value

__version__ = VERSION
__all__ = [
    "Argument", "ArgumentKind", "Call", "Cause", "Check", "Config", "Device", "Error", "Kernel", "Library", "Plan", "PlanChoice", "PlanInfo",
    "Progress", "Stage", "Status", "Tuning", "Value", "devices", "kernel", "records", "tune", "where",
]

_shared: dict[tuple[int, str | None, str | None], Library] = {}
_sharing = threading.Lock()


def _opened(device: str | None, template_dir: str | None = None) -> Library:
    """One library for each device and folder, kept so that compilers stay warm. A forked process has its own."""
    key = (os.getpid(), device, template_dir)
    with _sharing:
        if key not in _shared or _shared[key]._handle.closed:
            _shared[key] = Library(device, template_dir=template_dir)
        return _shared[key]


def kernel(config: Path, *, device: str | None = None, library: Library | None = None,
           settings: Mapping[str, Setting] | None = None, backward: Callable[..., Any] | None = None, **problem: Setting) -> Kernel:
    """A config for all sizes, ``cugen.kernel("matmul", dtype="bf16")``, or for some, ``cugen.kernel("matmul", M=4096, N=4096, K=4096)``.

    config: a name that ships with cugen, a path, or a Config. device: "cuda:0", "cpu", "model:H200"; by default the first GPU, else "cpu".
    library: one of your own, with other options. settings: problem values named like one of these parameters.
    backward: gradients for PyTorch: called with the gradient of each output and with the arguments of the call, it returns a gradient, or
    None, for each tensor among these arguments: ``backward=lambda grad, a, b: (grad @ b.t(), a.t() @ grad)``."""
    if library is not None and device is not None:
        raise Error("device and library were both given: leave out the device, the library has one")
    folder = config.template_dir if isinstance(config, Config) else None
    return (library or _opened(device, folder)).kernel(config, settings=settings, backward=backward, **problem)


@overload
def tune(what: Sequence[Kernel], budget: float | str | None = None, **options: Any) -> list[Tuning]: ...
@overload
def tune(what: Path, kernel: str | None = None, arguments: Sequence[Any] = (), *, budget: float | str | None = None,
         device: str | None = None, baseline: str | None = None, **description: Any) -> Tuning: ...
def tune(what: Any, *given: Any, budget: float | str | None = None, device: str | None = None, baseline: str | None = None,
         **options: Any) -> Any:
    """Tunes a kernel that is described here, or several kernels of one library within one budget.

    ``cugen.tune(source, "blur", [out, x, n], tunables=..., grid=..., block=..., answer=...)`` is ``Kernel.tune`` of a Config of
    these, for a budget, a device and a baseline. ``cugen.tune([small, large], "10m")`` compiles once what several of them can use; the other
    options are Kernel.tune's, but for patience, bitwise and in_process."""
    if not isinstance(what, (str, os.PathLike)):
        return tune_several(what, *(given or (budget,)), baseline=baseline, **options)
    return _kernel_of(Config(what, *given, **options), device=device).tune(budget, baseline=baseline)


_kernel_of = kernel  # tune has a parameter of that name


def devices() -> list[Device]:
    """The devices of this machine, CUDA GPUs first, then "cpu"."""
    return _opened(None).devices()


def records(config: str | None = None, *, problem: str | None = None, device: str | None = None) -> list[Value]:
    """What the cache remembers: an entry for each kernel, problem and device, with the best variant."""
    return _opened(None).records(config, problem=problem, device=device)


def where() -> str:
    """What was found where, for a bug report."""
    return _opened(None).where()


for _public in (Error, Call, Check, Kernel, Library, Plan, Tuning, Value):
    _public.__module__ = __name__  # tracebacks then show the public names
