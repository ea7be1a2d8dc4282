"""Libraries, kernels, plans and calls: the handles of cugen.h as objects."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
import warnings
import weakref
from contextlib import ExitStack, nullcontext
from ctypes import byref, c_char_p, c_size_t, c_void_p
from types import TracebackType
from typing import Any, Callable, Mapping, Sequence, TypeVar, Union

from . import _arrays as arrays
from . import _declarations as c
from ._declarations import Argument, ArgumentKind, Device, PlanInfo, Progress, Status
from ._library import STOP, Error, Handle, Interruptible, Turn, call, encoded, error_of, load, open_handle, options, own, seconds
from ._values import Value, parsed

Path = Union[str, "os.PathLike[str]"]
Setting = Union[str, int, float, bool]
Self = TypeVar("Self", bound="Closing")

class Closing:
    """Something that is closed by ``with``, by ``close()``, or when nobody refers to it any more."""

    _handle: Handle

    def close(self) -> None:
        """Closes it, and all that was opened from it. On a GPU its launches must have ended."""
        self._handle.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _may_be_left_out(argument: Argument) -> bool:
    return argument.absent or argument.kind in (ArgumentKind.SCALAR, ArgumentKind.SCRATCH) or argument.access in ("symbol", "pointer")


# ---- Values ---------------------------------------------------------------------------------------------------------


class Tuning(Value):
    """What one tune did: the fields of "run" in docs/json.md, and ``problem``, ``device`` (its id) and ``records``: correct
    variants, best first, then failed ones."""

    @property
    def best(self) -> Value | None:
        """The best correct record, with the bits that were asked for; None: there is none."""
        return _best([r for r in self.records if self.outputs is None or r.outputs == self.outputs])


    def __str__(self) -> str:
        """A line for the run, one for each of the ten best, and one for a baseline."""
        right = [record for record in self.records if record.seconds is not None]
        lines = [f"{self.problem or 'no sizes'} on {self.device}: {self.tried} of {self.valid} variants tried, {self.failed} failed"]
        lines += [f"{1e6 * record.seconds:10.4g} us  {record.variant}" for record in right[:10]]
        lines += [f"and {len(right) - 10} more in records"] * (len(right) > 10)
        if self.baseline:
            ratio = f"{self.baseline.ratio:.2f} x your baseline" if self.baseline.ratio else "not compared with"
            lines.append(f"{ratio} {self.baseline.function}" + (f": {self.baseline.reason}" if self.baseline.reason else ""))
        return "\n".join(lines)


class Check(Value):
    """What a check found: the fields of "cugen check" in docs/json.md, and ``status`` and ``message``."""

    @property
    def ok(self) -> bool:
        """Nothing was found, and nothing was refused."""
        return bool(self.status == Status.OK)


USUAL_MODEL = "model:A100"  # what the command line predicts for without a GPU
_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def _seconds(budget: float | str | None) -> float:
    """The seconds of a budget: 0 is the C library's default, a number below 0 is no limit."""
    if budget is None:
        return 0.0
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(ms|s|min|m|h)\s*", budget)
        if budget == "none":
            return -1.0
        if not match or not float(match.group(1)):
            raise Error(f"budget {budget!r} is no time: write '10s', '5m', '1h' or 'none'; count=200 limits the variants")
        return float(match.group(1)) * _UNITS[match.group(2)]
    if not budget > 0:
        raise Error(f"budget {budget!r}: the seconds must be above 0; 'none' is no limit")
    return budget


def _text_of_setting(value: Setting) -> str:
    text = str(value)
    return text.lower() if text in ("True", "False") and not isinstance(value, str) else text  # NumPy has a bool of its own


# ---- The library ----------------------------------------------------------------------------------------------------


class Library(Closing):
    """An open libcugen: its device, its cache. ``cugen.kernel`` opens one for each device and keeps it."""

    def __init__(self, device: str | None = None, *, arch: str | None = None, config_dir: Path | None = None,
                 template_dir: Path | None = None, cache: Path | None = None, toolkit: Path | None = None,
                 compiler: Path | None = None, worker: Path | None = None, device_dir: Path | None = None,
                 objective: str | None = None, prefer: str | None = None, measure: str | None = None,
                 no_library: bool = False) -> None:
        self._turn = Turn("library")
        self._closing = False
        self._model: Library | None = None
        self._given: dict[str, Any] = dict(arch=arch, config_dir=config_dir, template_dir=template_dir, cache=cache, toolkit=toolkit, compiler=compiler,
                           worker=worker, device_dir=device_dir, objective=objective, prefer=prefer, measure=measure, no_library=no_library)
        self._kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
        self._plans: weakref.WeakSet[Plan] = weakref.WeakSet()
        wanted = options(c.cugen_options, device=device, stop=STOP, **self._given)
        own(self, open_handle("library", "cugen_open", "cugen_close", byref(wanted)))

    def close(self) -> None:
        """Closes it, and all that was opened from it, when the functions that use them have ended."""
        with self._turn:
            kernels = list(self._kernels)
            for kernel in kernels:
                kernel._turn.refuse_callback("library")
            self._closing = True  # from now on nothing is opened
        for kernel in kernels:  # outside of the library's turn, which the kernels' callbacks may need
            kernel.close()
        for plan in list(self._plans):
            plan.close()
        if self._model is not None:
            self._model.close()
        with self._turn:
            self._handle.close()

    def _predicting(self) -> Library:
        """A library with these options that predicts for a described GPU, as the command line does where there is no GPU."""
        with self._turn:
            if self._model is None:
                self._model = Library(USUAL_MODEL, **self._given)
            return self._model

    def kernel(self, config: Path, *, settings: Mapping[str, Setting] | None = None, backward: Callable[..., Any] | None = None,
               **problem: Setting) -> Kernel:
        """Opens a config: ``lib.kernel("matmul", dtype="bf16")``. settings and backward: as for ``cugen.kernel``."""
        return Kernel(self, config, {**(settings or {}), **problem}, backward)

    def add_file(self, name: str, text: str) -> None:
        """Holds a config, template or include in memory, where it is found before any file."""
        content = text.encode()
        with self._turn:
            call("cugen_add_file", self._handle.address, encoded(name), content, len(content))

    def devices(self) -> list[Device]:
        """The devices of this machine, CUDA GPUs first, then "cpu"."""
        with self._turn:
            count = load().cugen_devices(self._handle.address, None, 0, None)
            found = (c.cugen_device_info * count)()
            count = min(count, load().cugen_devices(self._handle.address, found, count, None))
            return [Device._of(found[i]) for i in range(count)]

    def command(self, *words: Path) -> Value:
        """Runs a command of the command line, in a process of its own, and gives its JSON (docs/json.md):
        ``lib.command("space", "matmul", "--set", "M=64").valid``. Its options that are not given are the library's."""
        return self._command(words)[0]

    def _command(self, words: Sequence[Path], meanwhile: Sequence[int] = ()) -> tuple[Value, Error | None]:
        """meanwhile: a failure with such a status and a result is no exception, but comes with the result."""
        given, json, error = [encoded(word) for word in words], c_char_p(), c.cugen_error()
        with self._turn, Interruptible():
            status = load().cugen_command(self._handle.address, (c_char_p * len(given))(*given), len(given), byref(json), byref(error))
            failure = error_of(status, error) if status else None
            if failure and not (json.value and status in meanwhile):
                raise failure
            return parsed(json.value), failure

    def configs(self) -> list[str]:
        """The configs that ship with cugen."""
        return list(self.command("show").configs)

    def where(self) -> str:
        """What was found where, for a bug report."""
        with self._turn:
            return c.text(load().cugen_where(self._handle.address))

    def records(self, config: str | None = None, *, problem: str | None = None, device: str | None = None) -> list[Value]:
        """What the cache remembers: an entry for each kernel, problem and device, with the best variant."""
        return list(self.command("cache", "ls", *_chosen(config, problem=problem, device=device)).sets)

    def export_records(self, path: Path, config: str | None = None, *, problem: str | None = None,
                       device: str | None = None) -> int:
        """Writes records to a file for another machine's import_records. Returns their number."""
        return int(self.command("cache", "export", *_chosen(config, problem=problem, device=device), "--output", path).records)

    def import_records(self, path: Path) -> Value:
        """Merges a file of export_records into the cache: all of it, or nothing."""
        json = c_char_p()
        with self._turn, Interruptible():
            call("cugen_cache_import", self._handle.address, encoded(path), byref(json))
            return Value(parsed(json.value))


def _chosen(config: Path | None = None, **given: Any) -> list[Path]:
    """A command's words: an operand, and options by their names, which are left out where they are None or False."""
    words: list[Path] = [] if config is None else [config]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, value if isinstance(value, (str, os.PathLike)) else str(value)]
    return words


# ---- Kernels --------------------------------------------------------------------------------------------------------


class Kernel(Closing):
    """A config on one device. Call it with arrays to launch the best variant for them: what no setting says follows from them."""

    def __init__(self, library: Library, config: Path, settings: Mapping[str, Setting],
                 backward: Callable[..., Any] | None = None) -> None:
        self.library = library
        self.backward = backward
        self._turn = Turn("kernel")
        self._config = config
        self._plans: dict[Any, Plan] = {}  # by what their arrays are
        self._opened: dict[int, Plan] = {}  # by address, earlier ones too: launches, or CUDA graphs, may still use them
        self._ready: dict[Any, Any] = {}  # calls of tensors, see _torch.py
        self._listed: tuple[Argument, ...] | None = None
        self._set = [f"{name}={_text_of_setting(value)}" for name, value in settings.items()]
        texts = [encoded(text) for text in self._set]
        with library._turn, Interruptible():
            if library._closing:
                raise Error("the library is closed")
            own(self, open_handle("kernel", "cugen_kernel_open", "cugen_kernel_close", library._handle.address, encoded(config),
                                  (c_char_p * len(texts))(*texts), len(texts), parent=library._handle))
            library._kernels.add(self)
        self._on_cpu, self._described = self.device.id == "cpu", self.device.id.startswith("model:")
        self._torch: Any = None
        self._id = ""  # its name for PyTorch's operators
        self._take_torch()

    def _take_torch(self) -> None:
        """Once PyTorch is imported, _torch.py launches calls with its tensors."""
        if self._torch is None and hasattr(sys.modules.get("torch"), "compiler"):
            from . import _torch

            self._id = _torch.name_of(self, f"{self.name} {' '.join(self._set)} on {self.device.id}")
            self._torch = _torch

    def close(self) -> None:
        """Closes it and the plans of its calls. What ``plan()`` opened stays open until its library closes."""
        with self._turn:
            self._forget()
            for plan in self._opened.values():
                plan.close()
            self._opened.clear()
            self._handle.close()

    def __repr__(self) -> str:
        return f"<cugen.Kernel {self.name} {self.problem} on {self.device.id}>" if not self._handle.closed else "<cugen.Kernel closed>"

    @property
    def name(self) -> str:
        return c.text(load().cugen_kernel_name(self._handle.address))

    @property
    def problem(self) -> str:
        """ "M=4096 N=4096 K=4096 dtype=f32", in the config's order."""
        return c.text(load().cugen_kernel_problem(self._handle.address))

    @property
    def device(self) -> Device:
        return Device._of(load().cugen_kernel_device(self._handle.address).contents)

    @property
    def fallback(self) -> str | None:
        """Why the kernel is for the cpu device though no device was named; None otherwise."""
        return c.maybe_text(load().cugen_kernel_fallback(self._handle.address))

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The kernel's arguments, in order, for its own problem."""
        self._handle.address  # raises if the kernel is closed
        if self._listed is None:
            info = c.cugen_argument_info()
            with self._turn, Interruptible():
                found = []
                for i in range(load().cugen_kernel_arguments(self._handle.address)):
                    call("cugen_kernel_argument", self._handle.address, i, byref(info))
                    found.append(Argument._of(info))
                self._listed = tuple(found)
        return self._listed

    # ---- Launching ----

    def plan(self, *, distance: float = 0.0, tuned_only: bool = False, choice: bytes | None = None,
             bitwise: str | None = None, explore: float = 0.0) -> Plan:
        """Loads the variant to use. distance: 0 is the config's policy, above 0 nearest up to that distance, below 0 this
        problem's own best. tuned_only: an error instead of a default or another GPU's variant. choice: that of another plan
        (``Plan.choice``), in this process or another one. bitwise: a variant; only what is recorded to give the same bits.
        explore: the share of launches, up to 0.5, that other variants get, to find out which is the fastest here."""
        flags = (c.PLAN_TUNED_ONLY if tuned_only else 0) | (c.PLAN_EXPLORE if explore else 0)
        wanted = options(c.cugen_plan_options, flags=flags, distance=distance, bitwise=bitwise, explore_share=explore)
        if choice is not None:
            kept = ctypes.create_string_buffer(choice, max(len(choice), 1))
            wanted.choice, wanted.choice_size = ctypes.addressof(kept), len(choice)
        with self._turn, Interruptible():
            return Plan(self, open_handle("plan", "cugen_plan_open", "cugen_plan_close", self._handle.address, byref(wanted),
                                          parent=self.library._handle))

    @property
    def current(self) -> Plan:
        """The plan for its own problem (the settings, and the config's defaults), opened by the first use, and anew after ``tune``."""
        return self._plan_of(())

    def _plan_of(self, views: Sequence[Any]) -> Plan:
        """The plan for arrays: opened by the first call with such arrays. A view is None where no array is given."""
        key = tuple([None if view is None else (view.element, view.shape, view.stride) for view in views])
        plan = self._plans.get(key)
        if plan is None:
            with self._turn, Interruptible():
                plan = self._plans.get(key)  # another thread may have opened it meanwhile
                if plan is None:
                    plan = self._plans[key] = self._open_plan(key)
        return plan

    def _open_plan(self, key: Sequence[Any]) -> Plan:
        address, count = c_void_p(), len(key)
        while count and key[count - 1] is None:
            count -= 1
        given = (c.cugen_array * count)()
        for array, described in zip(given, key):
            if described is not None:
                _describe(array, *described)
        where = self._handle.address, given, count, None, byref(address)
        try:
            call("cugen_plan_for", *where)
        except Error:
            other = [array for array in given if c.maybe_text(array.dtype) in arrays.STANDING_IN]
            if not other:
                raise
            for array in other:
                array.dtype = None  # bytes that stand for a type
            call("cugen_plan_for", *where)
        assert address.value is not None
        plan = self._opened.get(address.value)
        if plan is None:
            plan = self._opened[address.value] = Plan(self, Handle("plan", address.value, None, parent=self._handle))
        return plan

    def bind(self, *arguments: Any, out: Any = None, **named: Any) -> Call:
        """The arguments, checked and laid out once, for launches without Python's share of the work."""
        values = self._in_order(arguments, out, named)
        stream = _stream(self._on_cpu, values)
        views = _views(self.arguments, values, stream)
        plan = self._plan_of(views)
        return Call(plan, plan._take(values, views), values)

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        """Launches on the stream, by default the current one of the arrays' library, and gives the outputs. Returns before the kernel
        ends; on the cpu device after it. Arguments stand in the config's order or have their names. Outputs that are left out, or None,
        are made, of the library of the first array; ``out`` names all outputs together. Scalars that are left out have the problem's
        values, scratch is made once."""
        torch = self._torch
        if torch is not None:
            if torch.compiling():
                return torch.operate(self._id, arguments, out, stream, named)
            if stream is None and not named:
                result = torch.launch(self, arguments, out)
                if result is not NotImplemented:
                    return result
        return self._call(arguments, out, stream, named)

    def _call(self, arguments: tuple[Any, ...], out: Any, stream: Any, named: dict[str, Any]) -> Any:
        """A call that checks every argument. Calls with tensors are then remembered by _torch.py, and checked no more."""
        self._take_torch()
        values = self._in_order(arguments, out, named)
        if self._described:
            self.current  # raises: nothing can run
        torch = self._torch
        if torch is not None:
            if torch.needs_operator(self, values):
                return torch.operate(self._id, arguments, out, stream, named)
            values = [torch.without_gradient(value) for value in values]
        plan, made = self._launch(values, stream)
        if torch is not None and stream is None and not named:
            torch.remember(self, plan, arguments, out, made)
        results = [value for argument, value in zip(plan.arguments, values)
                   if argument.kind in (ArgumentKind.OUTPUT, ArgumentKind.INOUT) and value is not None]
        return results[0] if len(results) == 1 else tuple(results) or None

    def _launch(self, values: list[Any], stream: Any) -> tuple[Plan, list[int]]:
        """Launches the arguments in the config's order. Puts the outputs that it makes among them, and returns their numbers."""
        handle = _stream(self._on_cpu, values) if stream is None else arrays.stream_handle(stream)
        views = _views(self.arguments, values, handle)
        plan = self._plan_of(views)
        made = plan._make(values, views, handle, stream is not None)
        taken = plan._take(values, views)
        if plan._scratch and not self._on_cpu and self._torch is not None and self._torch.capturing():
            plan._launch_captured(taken, handle)
        else:
            plan._launch(taken, handle)
        return plan, made

    def _in_order(self, arguments: tuple[Any, ...], out: Any, named: dict[str, Any]) -> list[Any]:
        listed = self.arguments
        if out is None:
            return _in_order(self.name, listed, arguments, named)
        if any(argument.name == "out" for argument in listed):
            return _in_order(self.name, listed, arguments, {**named, "out": out})
        values = _in_order(self.name, listed, arguments, named)
        outputs = [i for i, argument in enumerate(listed) if argument.kind == ArgumentKind.OUTPUT]
        given = out if isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(outputs):
            raise Error(f"out: {len(given)} arrays, and {self.name} has {len(outputs)} outputs")
        for i, value in zip(outputs, given):
            if values[i] is not None:
                raise Error(f"argument '{listed[i].name}' was given twice")
            values[i] = value
        return values

    # ---- Tuning ----

    def tune(self, budget: float | str | None = None, *, count: int = 0, patience: int = 0, strategy: str | None = None, seed: int = 1,
             implementation: str | None = None, bitwise: str | None = None, baseline: str | None = None, again: bool = False,
             threads: int = 0, variant_timeout: float = 0.0, compile_timeout: float = 0.0, verify_seconds: float = 0.0,
             in_process: bool = False, progress: Callable[[Progress], object] | None = None) -> Tuning:
        """Finds and remembers the fastest variant. budget: seconds, or "10s", "5m", "none"; count: variants to try; patience: it
        ends after so many variants in a row that bring nothing, 0 is the C library's default, below 0 none. progress gets a
        Progress some ten times a second and stops the run by returning something true. Ctrl-C stops it as well: what was
        measured is kept, and tuning again goes on from there. bitwise: a variant; only what gives the same bits is wanted.
        baseline: "./libmine.so:function", compiled code of your own to compare the best with, as ``Tuning.baseline``.

        Where no device was asked for and there is no GPU, it predicts for an A100, as the command line does, and warns."""
        chosen: dict[str, Any] = dict(budget_seconds=_seconds(budget), budget_count=count, patience=patience, strategy=strategy, seed=seed,
                      implementation=implementation, bitwise=bitwise, baseline=baseline, again=again, threads=threads, flags=c.TUNE_IN_PROCESS if in_process else 0,
                      verify_seconds=verify_seconds, **seconds(variant_timeout=variant_timeout, compile_timeout=compile_timeout))
        if self.fallback is not None:
            warnings.warn(f"{self.fallback}: predicted for {USUAL_MODEL.partition(':')[2]}; device=\"cpu\" tunes for the processor", stacklevel=2)
            model = self.library._predicting().kernel(self._config, settings=dict(text.split("=", 1) for text in self._set))
            return _tune([model], progress, chosen)[0]
        with self._turn:
            try:
                return _tune([self], progress, chosen)[0]
            finally:
                self._forget()

    def _forget(self) -> None:
        """The next calls open plans anew."""
        self._plans.clear()
        self._ready.clear()

    def records(self) -> tuple[Value, ...]:
        """What is remembered of this kernel, problem and device: correct variants, best first, then failed ones."""
        json = c_char_p()
        with self._turn, Interruptible():
            call("cugen_kernel_records", self._handle.address, byref(json))
            return tuple(parsed(json.value))

    @property
    def best(self) -> Value | None:
        """The best correct record; None: there is none."""
        return _best(self.records())

    def run(self, variant: str | None = None, *, timeout: float = 0.0) -> Value:
        """Verifies and times a variant now, by default the one that a plan takes; nothing is remembered. Gives its record."""
        seconds(timeout=timeout)
        record: Value = self._command("run", (Status.WRONG, Status.COMPILE, Status.DEVICE), variant=variant,
                                      timeout=timeout or None)[0].record
        return record

    def _command(self, name: str, meanwhile: Sequence[int] = (), **given: Any) -> tuple[Value, Error | None]:
        """Runs a command about this kernel."""
        self._handle.address  # raises if the kernel is closed
        settings = [word for text in self._set for word in ("--set", text)]
        return self.library._command([name, *_chosen(self._config, **given), *settings], meanwhile)

    def source(self, variant: str | None = None) -> str:
        """The expanded .cu of a variant, by default the one that a plan takes."""
        text = c_char_p()
        with self._turn, Interruptible():
            call("cugen_kernel_source", self._handle.address, encoded(variant), byref(text), None)
            return c.text(text.value)

    # ---- Checking and exporting ----

    def check(self, variant: str | None = None, *, all: bool = False, branches: bool = False, sample: int | None = None,
              seed: int | None = None, threads: int | None = None, timeout: float = 0.0, no_traffic: bool = False) -> Check:
        """Runs variants on the processor with every access to memory watched: races, bounds, barriers. Sizes are small, whatever
        the kernel's own are. What it finds is no exception: see ``Check.ok``."""
        seconds(timeout=timeout)
        found, failure = self._command("check", (Status.WRONG, Status.COMPILE, Status.INTERRUPTED), variant=variant, all=all,
                                       branches=branches, sample=sample, seed=seed, threads=threads, timeout=timeout or None,
                                       no_traffic=no_traffic)
        return Check({**found, "status": failure.status if failure else Status.OK, "message": str(failure or "")})

    def export(self, folder: Path, *, devices: str | None = None, problems: str | None = None, distance: float | None = None,
               ptx: bool = False, force: bool = False, variant: str | None = None) -> Value:
        """Writes the tuned variants as plain C, which at run time needs only the driver; with ``variant``, that one alone."""
        return self._command("export", output=folder, devices=devices, problems=problems, distance=distance, ptx=ptx, force=force,
                             variant=variant)[0]


def tune_several(kernels: Sequence[Kernel], budget: float | str | None = None, *, count: int = 0, strategy: str | None = None, seed: int = 1,
         implementation: str | None = None, baseline: str | None = None, again: bool = False, threads: int = 0, variant_timeout: float = 0.0,
         compile_timeout: float = 0.0, verify_seconds: float = 0.0, progress: Callable[[Progress], object] | None = None) -> list[Tuning]:
    """Tunes several kernels of one library within one budget, such as one config for several problems: ``cugen.tune([small, large],
    "10m")``. What several of them can use is compiled once. The options are as for ``Kernel.tune``."""
    chosen = dict(budget_seconds=_seconds(budget), budget_count=count, strategy=strategy, seed=seed, implementation=implementation, baseline=baseline,
                  again=again, threads=threads, verify_seconds=verify_seconds,
                  **seconds(variant_timeout=variant_timeout, compile_timeout=compile_timeout))
    with ExitStack() as stack:
        for kernel in sorted(set(kernels), key=id):  # one order for all threads, so that they cannot deadlock
            stack.enter_context(kernel._turn)
        try:
            tunings = _tune(kernels, progress, chosen, several=True)
        finally:
            for kernel in kernels:
                kernel._forget()
    return tunings


def _tune(kernels: Sequence[Kernel], progress: Callable[[Progress], object] | None,
          chosen: Mapping[str, Any], several: bool = False) -> list[Tuning]:
    """Tunes one kernel, or several within one budget. A run that progress stopped is no error."""
    json, error = c_char_p(), c.cugen_error()
    with Interruptible() as running:
        report = c.cugen_progress_callback(lambda state, _: running.run(
            lambda: progress(Progress._of(state.contents)) if progress else False))
        wanted = options(c.cugen_tune_options, progress=report, **chosen)
        handles = (c_void_p * len(kernels))(*(kernel._handle.address for kernel in kernels))
        given = byref(wanted), byref(json), byref(error)
        if several:
            status = load().cugen_kernels_tune(handles, len(kernels), *given)
        else:
            status = load().cugen_kernel_tune(handles[0], *given)
    results = parsed(json.value) if json.value else ()
    results = results if several else (results,) if results else ()
    stopped = any(result.run.interrupted for result in results)
    if status and not (status == Status.INTERRUPTED and stopped):
        raise error_of(status, error)
    return [Tuning({**result.run, "problem": result.problem, "device": kernel.device.id,
                    "records": result.records}) for result, kernel in zip(results, kernels)]


def _best(records: Sequence[Value]) -> Value | None:
    return records[0] if records and records[0].outcome == "ok" else None


# ---- Plans ----------------------------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, bytes))


def _describe(array: Any, element: str, shape: Sequence[int], stride: Sequence[float]) -> None:
    if len(shape) > c.MAX_RANK:
        raise Error(f"an array of {len(shape)} dimensions, and kernels take {c.MAX_RANK} at most: pass it in another shape")
    if any(s != int(s) for s in stride):
        raise Error(f"an array whose strides are {tuple(stride)} elements: pass one whose elements lie at whole numbers of them")
    array.dtype, array.rank = element.encode(), len(shape)
    array.shape[: len(shape)], array.stride[: len(shape)] = shape, [int(s) for s in stride]


def _in_order(kernel: str, listed: Sequence[Argument], arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    names = [argument.name for argument in listed]
    if len(arguments) > len(names):
        raise Error(f"{kernel} takes {len(names)} arguments ({', '.join(names)}) and was given {len(arguments)}")
    values = [*arguments, *[None] * (len(names) - len(arguments))]
    for name, value in named.items():
        if name not in names:
            raise Error(f"{kernel} has no argument '{name}'; it has {', '.join(names)}")
        index = names.index(name)
        if index < len(arguments):
            raise Error(f"argument '{name}' was given twice")
        values[index] = value
    return values


def _views(listed: Sequence[Argument], values: Sequence[Any],
           stream: int) -> list[arrays.View | None]:
    """The memory of each array among the values; None for scalars and for what is left out.

    An argument that the problem does not have is described as a scalar, but an array may be passed
    for it, because the arrays may show another problem."""
    def is_array(argument: Argument, value: Any) -> bool:
        scalar = argument.kind == ArgumentKind.SCALAR
        return value is not None and not (scalar and (not argument.absent or _is_number(value)))

    return [arrays.look(argument.name, value, stream) if is_array(argument, value) else None
            for argument, value in zip(listed, values)]


def _stream(on_cpu: bool, values: Sequence[Any]) -> int:
    """The current stream of the arrays' libraries."""
    if on_cpu:
        return 0
    found = {stream for stream in map(arrays.current_stream, values) if stream is not None}
    if len(found) > 1:
        raise Error("the arrays are of different streams: synchronise them and name one: stream=...")
    return found.pop() if found else 0


class Plan(Closing):
    """One variant of a kernel, loaded on its device. The variant changes only with explore. Any thread may call a plan."""

    def __init__(self, kernel: Kernel, handle: Handle) -> None:
        self._library = kernel.library
        self._device = kernel.device.id
        own(self, handle)
        self.info: PlanInfo = PlanInfo._of(load().cugen_plan_about(self._handle.address).contents)
        self.arguments = tuple(self._argument(i) for i in range(self.info.arguments))
        self._slots = [arrays.Slot(argument, self._device) for argument in self.arguments]
        self._constants = any(argument.kind == ArgumentKind.CONSTANT for argument in self.arguments)
        self._scratch = any(argument.kind == ArgumentKind.SCRATCH and argument.bytes for argument in self.arguments)
        self._calls: dict[int, Bound] = {}  # by stream: scratch serves one stream at a time
        self._lock = threading.Lock()
        kernel.library._plans.add(self)

    @property
    def choice(self) -> bytes:
        """Its choice as bytes, for ``Kernel.plan`` elsewhere: the same variant in every process."""
        data, size = c_void_p(), c_size_t()
        call("cugen_plan_save", self._handle.address, byref(data), byref(size))
        return ctypes.string_at(data, size.value)

    def close(self) -> None:
        with self._lock:  # on the cpu device a launch holds the lock until the kernel has ended
            self._handle.close()

    def _argument(self, index: int) -> Argument:
        info = c.cugen_argument_info()
        call("cugen_plan_argument", self._handle.address, index, byref(info))
        return Argument._of(info)

    @property
    def variant(self) -> str:
        return self.info.variant

    def __repr__(self) -> str:
        return f"<cugen.Plan {self.info.kernel} {self.info.variant} ({self.info.choice.name.lower()})>"

    def bind(self, *arguments: Any, **named: Any) -> Call:
        """The arguments, checked and laid out once. They live as long as the Call."""
        values = _in_order(self.info.kernel, self.arguments, arguments, named)
        views = _views(self.arguments, values, _stream(self._device == "cpu", values))
        return Call(self, self._take(values, views), values)

    def __call__(self, *arguments: Any, stream: Any = None, **named: Any) -> None:
        """As Kernel.__call__, with this plan's variant, and with all outputs given."""
        values = _in_order(self.info.kernel, self.arguments, arguments, named)
        handle = _stream(self._device == "cpu", values) if stream is None else arrays.stream_handle(stream)
        self._launch(self._take(values, _views(self.arguments, values, handle)), handle)

    def _launch(self, taken: Taken, stream: int) -> None:
        with self._lock:
            bound = self._calls.get(stream)
            if bound is None:
                bound = self._calls[stream] = Bound(self, taken)
            elif self._constants or bound.key != taken.key:
                bound.rebind(taken)
            bound.launch(stream)

    def _launch_captured(self, taken: Taken, stream: int) -> None:
        """Launches into a CUDA graph, whose replays may be side by side with other launches on any stream. So it gets scratch of its own."""
        from . import _torch

        scratch = _torch.scratch_of(self.arguments, self._slots[0].ordinal)
        for i, tensor in enumerate(scratch):
            if tensor is not None and taken.key[i] is None:
                taken.pointers[i] = tensor.data_ptr()
        with self._lock:
            bound = Bound(self, taken)
            bound.launch(stream)
            bound._handle.close()

    # ---- Arguments ----

    def _make(self, values: list[Any], views: list[arrays.View | None], stream: int, foreign: bool) -> list[int]:
        """Makes the outputs that are missing, and returns their numbers. foreign: the stream is not the current one."""
        missing = [i for i, argument in enumerate(self.arguments) if argument.kind == ArgumentKind.OUTPUT and not argument.absent
                   and values[i] is None and not _may_be_left_out(argument)]
        if not missing:
            return missing
        for i, argument in enumerate(self.arguments):
            if values[i] is None and i not in missing and not _may_be_left_out(argument):
                raise self._missing(i)
        like = next((value for value, view in zip(values, views) if view is not None), None)
        torch = sys.modules.get("torch")
        for i in missing:
            if torch is not None and isinstance(like, torch.Tensor):
                from . import _torch

                with _torch.memory_of(stream, like.device) if foreign and like.is_cuda else nullcontext():
                    values[i] = _torch.make(self.arguments[i], like)
            else:
                values[i] = arrays.make(self.arguments[i], like)
            if values[i] is None:
                raise self._missing(i, f"; a {type(like).__name__} tells no way to make it" if like is not None else "")
            views[i] = arrays.look(self.arguments[i].name, values[i], stream)
        return missing

    def _missing(self, index: int, why: str = "") -> Error:
        names = ", ".join(argument.name for argument in self.arguments)
        return Error(f"argument '{self.arguments[index].name}' is missing: {self.info.kernel} takes {names}{why}")

    def _scalar(self, argument: Argument, value: Any) -> bytes:
        """A size must have the problem's value: with a larger one the kernel would leave its buffers."""
        given = arrays.pack(argument, value)
        if argument.is_size and given != arrays.pack(argument, argument.size):
            raise Error(f"argument '{argument.name}': {value!r}, but the kernel is open for {argument.size}. Leave it out, or open "
                        f"a kernel for that size: cugen.kernel({self.info.kernel!r}, {argument.name}={value!r})")
        return given

    def _take(self, values: Sequence[Any], views: Sequence[arrays.View | None]) -> Taken:
        taken = Taken(len(values))
        for i, (argument, value, view) in enumerate(zip(self.arguments, values, views)):
            if value is None:
                if not _may_be_left_out(argument):
                    raise self._missing(i)
            elif argument.absent:
                raise Error(f"argument '{argument.name}' is none of this problem's: leave it out, or pass None")
            elif argument.kind == ArgumentKind.SCALAR:
                taken.add_scalar(i, self._scalar(argument, value))
            else:
                assert view is not None
                taken.add_buffer(i, self._slots[i].accept(view))
        return taken


class Taken:
    """Arguments as cugen_call_bind takes them. The same key is the same binding."""

    def __init__(self, count: int) -> None:
        self.pointers = (c_void_p * count)()
        self.count = count
        self.key: list[object] = [None] * count
        self.views: list[object] = []

    def add_scalar(self, index: int, value: bytes) -> None:
        copy = ctypes.create_string_buffer(value, len(value))
        self.pointers[index] = ctypes.addressof(copy)
        self.key[index] = value
        self.views.append(copy)

    def add_buffer(self, index: int, view: arrays.View) -> None:
        self.pointers[index] = self.key[index] = view.address
        self.views.append(view)


class Bound:
    """A plan with bound arguments, a cugen_call of the C library."""

    def __init__(self, plan: Plan, taken: Taken) -> None:
        handle = open_handle("call", "cugen_call_bind", "cugen_call_close", plan._handle.address, taken.pointers, taken.count,
                             parent=plan._handle)
        own(self, handle)
        self._handle: Handle = handle
        self._launch, self._rebind = load().cugen_call_launch, load().cugen_call_rebind
        self._error = c.cugen_error()  # used only under the plan's lock
        self._error_at = byref(self._error)
        self._pointers = taken.pointers
        self.key = taken.key

    def rebind(self, taken: Taken) -> None:
        self._bind(taken.pointers, taken.count)
        self._pointers, self.key = taken.pointers, taken.key

    def move(self, addresses: list[Any]) -> None:
        """Binds other addresses; None: as if the argument was left out."""
        self._pointers[:] = addresses
        self.key = []  # until the addresses are bound
        self._bind(self._pointers, len(addresses))
        self.key = addresses

    def _bind(self, pointers: Any, count: int) -> None:
        status = self._rebind(self._handle.address, pointers, count, self._error_at)
        if status:
            raise error_of(status, self._error)

    def launch(self, stream: int) -> None:
        status = self._launch(self._handle.address, stream, self._error_at)
        if status:
            raise error_of(status, self._error)


class Call(Closing):
    """A plan with its arguments, which it keeps alive. Calling it is one launch."""

    def __init__(self, plan: Plan, taken: Taken, values: Sequence[Any]) -> None:
        self.plan = plan
        with plan._lock:
            self._bound = Bound(plan, taken)
        self._handle = self._bound._handle
        self._views, self._values = taken.views, values

    def __call__(self, stream: Any = None) -> None:
        """Launches on the stream, by default the current one of the arrays' library."""
        handle = _stream(self.plan._device == "cpu", self._values) if stream is None else arrays.stream_handle(stream)
        with self.plan._lock:
            self._bound.launch(handle)

    def close(self) -> None:
        with self.plan._lock:
            self._handle.close()
