"""A kernel described in Python: source, arrays, tunables and what is right become a config, its data beside it."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import struct
import tempfile
import weakref
from typing import Any, Mapping, Sequence, Union

from . import _arrays as arrays
from ._kernel import Library, Path
from ._library import Error

Expression = Union[str, int]
Extents = Union[Expression, Sequence[Expression]]

_NPY = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "|V2", "e4m3": "|V1", "e5m2": "|V1", "i8": "|i1", "i16": "<i2", "i32": "<i4",
        "i64": "<i8", "u8": "|u1", "u16": "<u2", "u32": "<u4", "u64": "<u8"}
_WIDE = {"f": "f64", "b": "f64", "e": "f64", "i": "i64", "u": "u64"}
_KINDS = ("input", "output", "inout")


# ---- Arrays as files ------------------------------------------------------------------------------------------------


class _Stored:
    """The elements of an array, packed row by row."""

    def __init__(self, name: str, source: Any) -> None:
        for take in ("detach", "cpu", "contiguous"):  # PyTorch
            source = getattr(source, take)() if hasattr(source, take) else source
        if type(source).__module__.partition(".")[0] == "cupy":
            source = source.get()
        try:
            view = arrays._make_view(source, None)
        except BufferError as error:
            raise Error(f"argument '{name}': {error}") from None
        if view is None:
            raise Error(f"argument '{name}': a {type(source).__name__} is no array")
        if view.where == arrays.CUDA:
            raise Error(f"argument '{name}' lies on a GPU: pass a tensor of PyTorch, an array of CuPy, or a copy on the host")
        if view.strides is not None and not arrays._same_strides(view.shape, view.strides, arrays._packed(view.shape, view.size)):
            if not hasattr(source, "copy"):
                raise Error(f"argument '{name}': its rows are not packed: pass a copy")
            view = arrays._make_view(source.copy("C"), None)
            assert view is not None
        if view.element not in _NPY:
            raise Error(f"argument '{name}': its elements are {view.element}, which cugen does not have")
        self.dtype, self.shape, self._view = view.element, view.shape or (1,), view

    def write(self, path: str) -> None:
        count = self._view.size
        for extent in self.shape:
            count *= extent
        head = f"{{'descr': '{_NPY[self.dtype]}', 'fortran_order': False, 'shape': {self.shape!r}, }}"
        head += " " * (-(len(head) + 11) % 64) + "\n"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
            if count:
                file.write((ctypes.c_char * count).from_address(self._view.address))


def _is_number(value: object) -> bool:
    return getattr(value, "shape", ()) == () and isinstance(_plain(value), (int, float))


# ---- Lua ------------------------------------------------------------------------------------------------------------


def _quoted(text: object) -> str:
    written = str(text)
    if "\n" in written:
        raise Error(f"{written!r} has a line end, which an expression cannot have")
    return '"' + written.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") and not isinstance(value, (bool, int, float)) else value


def _value(given: object) -> str:
    value = _plain(given)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else str(value)


def _extents(what: str, given: Extents) -> str:
    given = _plain(given)
    listed = [given] if isinstance(given, (str, int)) else list(given) if hasattr(given, "__iter__") else []
    if not listed or not all(isinstance(_plain(extent), (str, int)) for extent in listed):
        raise Error(f'{what}: give a number, an expression of tunables such as "ceil_div(n, BLOCK)", or a list of these, instead of {given!r}')
    return "{ " + ", ".join(_quoted(extent) for extent in listed) + " }"


# ---- The config -----------------------------------------------------------------------------------------------------


class Config:
    """A kernel described in Python, to be used where a config's name is: ``cugen.kernel(cugen.Config(...))``.

    source: the text of a .cu, or a path. kernel: its name, which may be left out if the source has one; ``"blur<BLOCK>"`` for a template.
    arguments: in the kernel's order, arrays and numbers; they are the data that variants run on. tunables: the values of each macro
    or template parameter. grid, block: numbers or expressions of tunables and whole-number arguments, ``"ceil_div(n, BLOCK)"``;
    without a block ``block_size_x``, ``_y`` and ``_z`` are taken. restrictions: expressions that every variant meets. answer: what
    is right, an array, a list or dict of arrays for several results, or a function of the arguments that returns it; without it
    results are not compared. tolerance: an expression, or one for each result; ``0`` for equality; by default 64 roundings, for an
    element (absolute below 1) and for the norm of all. kinds: "input", "output" or "inout" of a pointer, where the source does not
    tell it. derive, shared, flops, bytes: as in a config."""

    def __init__(self, source: Path, kernel: str | None = None, arguments: Sequence[Any] = (), *, tunables: Mapping[str, Sequence[Any]],
                 grid: Extents, block: Extents | None = None, restrictions: Sequence[str] = (), answer: Any = None,
                 tolerance: Expression | float | Mapping[str, Expression | float] | None = None,
                 kinds: Mapping[str, str] | None = None, derive: Mapping[str, Expression] | None = None,
                 shared: Expression | None = None, flops: Expression | None = None, bytes: Expression | None = None) -> None:
        self._folder = tempfile.mkdtemp(prefix="cugen-")
        weakref.finalize(self, shutil.rmtree, self._folder, True)
        self._arguments, self._kinds, self._tolerance = arguments, dict(kinds or {}), tolerance
        text = os.fspath(source)
        inline = "\n" in text or "__global__" in text
        self.template_dir = None if inline else os.path.dirname(os.path.abspath(text))
        self._file = "kernel.cu" if inline else os.path.basename(text)
        path = os.path.join(self._folder, self._file) if inline else text
        if inline:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        base = re.match(r"[^<]*", kernel or "")
        with Library("cpu", cache="none") as library:
            self._signature = library.command("new", f"{path}:{base.group()}" if kernel and base else path)
        self.name = self._signature.kernel.lstrip("_0123456789") or "kernel"
        entry = kernel if kernel and "<" in kernel else self._signature.entry
        if not tunables:
            raise Error("tunables: give the values of at least one macro or template parameter of the kernel")
        for name, values in tunables.items():
            if isinstance(values, str) or not hasattr(values, "__iter__"):
                raise Error(f"tunables: '{name}' takes a list of values")
        block = block or [name for name in ("block_size_x", "block_size_y", "block_size_z") if name in tunables]
        if not block:
            raise Error("block: say how many threads a block has")
        lines = [f"-- Made by cugen.Config of {self._file}.", f"kernel {_quoted(self.name)} {{"]
        lines += self._declared() + self._right(answer)
        lines += [f"  {word} {_quoted(work)}," for word, work in (("flops", flops), ("bytes", bytes)) if work is not None]
        lines += [f"  implementation {_quoted(self.name)} {{", f"    template {_quoted(self._file)},"]
        lines += [f"    entry {_quoted(entry)},"] if entry else []
        lines += [f"    tunable {_quoted(name)} {{ {', '.join(map(_value, values))} }}," for name, values in tunables.items()]
        lines += [f"    derive {_quoted(name)} {_quoted(made)}," for name, made in (derive or {}).items()]
        lines += [f"    where {_quoted(rule)}," for rule in ([restrictions] if isinstance(restrictions, str) else restrictions)]
        lines += [f"    shared {_quoted(shared)},"] if shared is not None else []
        lines += [f"    grid {_extents('grid', grid)},", f"    block {_extents('block', block)},", "  },", "}"]
        self.lua = "\n".join(lines) + "\n"
        with open(self.__fspath__(), "w", encoding="utf-8") as file:
            file.write(self.lua)

    def __fspath__(self) -> str:
        return os.path.join(self._folder, f"{self.name}.lua")

    def __repr__(self) -> str:
        return f"<cugen.Config {self.name}>"

    def write(self, folder: Path) -> str:
        """Writes the config, its data, its source and the headers beside that into a folder, which is made. Returns the config's path."""
        os.makedirs(folder, exist_ok=True)
        for name in sorted(os.listdir(self._folder)):
            shutil.copy(os.path.join(self._folder, name), folder)
        beside = self.template_dir
        for name in [] if beside is None else sorted(os.listdir(beside)):
            if name == self._file or name.endswith((".h", ".cuh", ".hpp")):
                shutil.copy(os.path.join(str(beside), name), folder)
        return os.path.join(folder, os.path.basename(self.__fspath__()))

    # ---- Parts of the text ----

    def _declared(self) -> list[str]:
        """The lines of problem and arguments; stores the arrays."""
        parameters = self._signature.parameters
        names = [parameter.name for parameter in parameters]
        if len(parameters) != len(self._arguments):
            raise Error(f"{self.name} takes {len(parameters)} arguments ({', '.join(names)}) and was given {len(self._arguments)}")
        for name, kind in self._kinds.items():
            if name not in names or kind not in _KINDS:
                raise Error(f"kinds: {name!r}: {kind!r}: give 'input', 'output' or 'inout' for one of {', '.join(names)}")
        self._results: dict[str, _Stored] = {}
        problems, lines = [], []
        for parameter, value in zip(parameters, self._arguments):
            if parameter.pointer:
                lines.append(self._buffer(parameter, value))
                continue
            if not _is_number(value):
                raise Error(f"argument '{parameter.name}': the kernel takes a number")
            if parameter.dtype is None:
                raise Error(f"argument '{parameter.name}': its type {parameter.type!r} is none of cugen's: write a config (docs/config.md)")
            value = _plain(value)
            if value != value or value in (float("inf"), -float("inf")):
                raise Error(f"argument '{parameter.name}': {value!r} is no number that a config can hold")
            if parameter.dtype[0] in "iu":
                if value != int(value):
                    raise Error(f"argument '{parameter.name}': {value!r} is no whole number, and the kernel takes one")
                problems.append(f"  problem {_quoted(parameter.name)} ({int(value)}),")
                lines.append(f"  scalar {_quoted(parameter.name)} {{ dtype = {_quoted(parameter.dtype)} }},")
            else:
                lines.append(f"  scalar {_quoted(parameter.name)} {{ dtype = {_quoted(parameter.dtype)}, value = {_quoted(repr(float(value)))} }},")
        return problems + lines

    def _buffer(self, parameter: Any, value: Any) -> str:
        name, kind = parameter.name, self._kinds.get(parameter.name, parameter.kind)
        stored = _Stored(name, value)
        attributes = [f"dtype = {_quoted(stored.dtype)}", f"shape = {_extents('shape', stored.shape)}"]
        if kind != "output":
            stored.write(os.path.join(self._folder, f"{self.name}.{name}.npy"))
            attributes.append(f'file = "{self.name}.{name}.npy"')
        if kind != "input":
            self._results[name] = stored
            attributes += self._tolerance_of(name, stored.dtype)
        return f"  {kind} {_quoted(name)} {{ {', '.join(attributes)} }},"

    def _tolerance_of(self, name: str, dtype: str) -> list[str]:
        """By default also a norm, because a tolerance is absolute below 1 and says little of small results."""
        given = self._tolerance.get(name) if isinstance(self._tolerance, Mapping) else self._tolerance
        if given is None and dtype[0] in "fbe":
            return [f"{word} = \"64 * eps('{dtype}')\"" for word in ("tolerance", "norm")]
        return [] if given is None else [f"tolerance = {_quoted(given)}"]

    def _right(self, answer: Any) -> list[str]:
        """The line of the reference; stores the answers."""
        if not self._results:
            raise Error(f"{self.name} writes to none of its arguments, as far as its text tells: name one by kinds={{'...': 'output'}}")
        if answer is None:
            return ['  reference "none",']
        given = answer(*self._arguments) if callable(answer) else answer
        named = given if isinstance(given, Mapping) else dict(zip(self._results, given if isinstance(given, (list, tuple)) else [given]))
        if set(named) != set(self._results):
            raise Error(f"answer: the results are {', '.join(self._results)}, and {len(named)} were given ({', '.join(map(str, named))})")
        for name, right in named.items():
            stored, wanted = _Stored(name, right), self._results[name]
            if stored.shape != wanted.shape:
                raise Error(f"answer: '{name}' has the shape {stored.shape}, and its argument {wanted.shape}")
            if stored.dtype not in (wanted.dtype, _WIDE[wanted.dtype[0]]):
                raise Error(f"answer: '{name}' is {stored.dtype}: give {wanted.dtype}, or {_WIDE[wanted.dtype[0]]}")
            stored.write(os.path.join(self._folder, f"{self.name}.{name}.answer.npy"))
        return ["  reference { " + ", ".join(f'{name} = "{self.name}.{name}.answer.npy"' for name in named) + " },"]

