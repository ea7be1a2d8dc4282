"""The arguments of a kernel: arrays of many libraries as one kind of view, and numbers as bytes.

A view is made through the first protocol that an object has: ``__array_interface__`` (host memory), DLPack,
``__cuda_array_interface__``, a buffer. Nothing is copied."""

from __future__ import annotations

import ctypes
import operator
import re
import struct
import sys
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ._declarations import Argument, ArgumentKind
from ._library import Error

HOST, CUDA = "host", "cuda"


@dataclass
class View:
    """Memory that an object shows: strides are in bytes, None for packed rows."""

    address: int
    element: str  # "f32"; "raw16" if the protocol has no name for the type
    size: int  # size of an element in bytes
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    writable: bool
    where: str  # HOST or CUDA; "" if either side may use it
    ordinal: int | None  # number of the GPU, if known
    keep: object  # object that must live as long as the view

    @property
    def stride(self) -> tuple[float, ...]:
        """The strides in elements."""
        return tuple(s // self.size if s % self.size == 0 else s / self.size for s in self.strides or _packed(self.shape, self.size))


_MASKED = "it has a mask, which the kernel would not see: pass its data, or fill it"

# ---- Buffers and array interfaces -----------------------------------------------------------------------------------


class PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


_FULL_RO = 0x011C  # PyBUF_FULL_RO: format, shape, strides; writable or not
_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes, _get_buffer.restype = [ctypes.py_object, ctypes.POINTER(PyBuffer), ctypes.c_int], ctypes.c_int
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes, _release_buffer.restype = [ctypes.POINTER(PyBuffer)], None


_KINDS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQNc", "u"), **dict.fromkeys("efd", "f"), "?": "u"}


def _element_of_format(text: str, size: int) -> str:
    match = re.fullmatch(r"([@=<]?)([bhilqnBHILQNcefd?])", text)
    return f"{_KINDS[match.group(2)]}{8 * size}" if match else f"'{text}'"


def _from_buffer(source: Any) -> View:
    held = memoryview(source)  # while this exists, the owner may neither move nor free the memory
    if any(offset >= 0 for offset in held.suboffsets or ()):
        raise BufferError("its rows lie in separate pieces of memory")
    buffer = PyBuffer()
    _get_buffer(held, ctypes.byref(buffer), _FULL_RO)
    address = buffer.buf
    _release_buffer(ctypes.byref(buffer))
    element = _element_of_format(held.format, held.itemsize)
    return View(address or 0, element, held.itemsize, held.shape or (), held.strides, not held.readonly,
                HOST, None, held)


def _from_interface(interface: Mapping[str, Any], where: str, source: object) -> View:
    if interface.get("mask") is not None:
        raise BufferError(_MASKED)
    match = re.fullmatch(r"([<>|=])([biufcV])(\d+)", interface["typestr"])
    if match is None:
        raise BufferError(f"its elements are '{interface['typestr']}', which are no numbers")
    order, kind, size = match.groups()
    element = {"V": "raw", "b": "u"}.get(kind, kind) + str(8 * int(size))
    if order == (">" if sys.byteorder == "little" else "<") and int(size) > 1:
        element = f"'{interface['typestr']}'"
    address, readonly = interface["data"]
    strides = interface.get("strides")
    shape = tuple(interface["shape"])
    return View(address or 0, element, int(size), shape, tuple(strides) if strides else None, not readonly, where, None, source)


# ---- DLPack ---------------------------------------------------------------------------------------------------------


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes, _capsule_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p

_DL_DEVICES = {1: HOST, 2: CUDA, 3: "", 13: ""}  # CPU, CUDA, pinned host memory, managed memory
_DL_KINDS = {0: "i", 1: "u", 2: "f", 6: "u"}
_DL_NAMES = {(4, 16): "bf16", (10, 8): "e4m3", (12, 8): "e5m2"}


def _from_dlpack(source: Any, stream: int | None) -> View:
    """The view keeps the capsule, which gives the memory back when it is deleted."""
    device, ordinal = source.__dlpack_device__()
    if device not in _DL_DEVICES:
        raise BufferError(f"it is on a device of another kind (DLPack's {int(device)})")
    if stream is None or _DL_DEVICES[device] == HOST:
        capsule = source.__dlpack__()
    else:
        # The array's library makes this stream wait for its own work, unless both use
        # the same stream; 1: the default stream.
        capsule = source.__dlpack__(stream=-1 if current_stream(source) == stream else stream or 1)
    t = DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    if t.lanes != 1:
        raise BufferError("its elements are vectors")
    element = _DL_NAMES.get((t.code, t.bits)) or _DL_KINDS.get(t.code, "raw") + str(t.bits)
    size = t.bits // 8
    strides = tuple(size * s for s in t.strides[: t.ndim]) if t.strides else None
    where = _DL_DEVICES[device]
    return View((t.data or 0) + t.byte_offset, element, size, tuple(t.shape[: t.ndim]), strides, True, where,
                ordinal if where == CUDA else None, capsule)


# ---- Views ----------------------------------------------------------------------------------------------------------


def _make_view(source: Any, stream: int | None) -> View | None:
    kind = type(source)
    if hasattr(kind, "__array_interface__"):
        masked = sys.modules.get("numpy.ma")
        if masked is not None and isinstance(source, masked.MaskedArray) and masked.getmask(source) is not masked.nomask:
            raise BufferError(_MASKED)
        return _from_interface(source.__array_interface__, HOST, source)
    if hasattr(kind, "__dlpack__"):
        return _from_dlpack(source, stream)
    if hasattr(source, "__cuda_array_interface__"):
        return _from_interface(source.__cuda_array_interface__, CUDA, source)
    if hasattr(source, "__array_interface__"):
        return _from_interface(source.__array_interface__, HOST, source)
    try:
        return _from_buffer(source)
    except TypeError:
        return None


def look(name: str, source: Any, stream: int | None) -> View:
    """A view of what was passed for the argument. stream: the stream on which the kernel will run."""
    try:
        made = _make_view(source, stream)
    except Exception as error:  # keep the other library's message, whatever it raises
        raise Error(f"argument '{name}': its memory cannot be used: {error}") from error
    if made is None:
        raise Error(f"argument '{name}': a {type(source).__name__} is no array: pass what has DLPack, __cuda_array_interface__, "
                    "__array_interface__ or a buffer")
    return made


# For types that not every protocol can name: integers, or bytes, of equal size may be passed.
_STAND_INS = {"bf16": ("u16", "raw16"), "e4m3": ("u8", "raw8", "f8"), "e5m2": ("u8", "raw8", "f8")}
STANDING_IN = frozenset(name for names in _STAND_INS.values() for name in names)
_WRITTEN = (ArgumentKind.OUTPUT, ArgumentKind.INOUT, ArgumentKind.SCRATCH)


def _packed(shape: Sequence[int], size: int) -> tuple[int, ...]:
    strides = []
    for extent in reversed(shape):
        strides.append(size)
        size *= max(extent, 1)
    return tuple(reversed(strides))


def _same_strides(shape: Sequence[int], left: Sequence[int], right: Sequence[int]) -> bool:
    return all(a == b for extent, a, b in zip(shape, left, right) if extent > 1)


def _elements(strides: Sequence[int], size: int) -> str:
    return f"({', '.join(f'{s / size:g}' for s in strides)}{',' if len(strides) == 1 else ''})"


class Slot:
    """A buffer among a kernel's arguments, and what may be passed for it. device: "cpu", "cuda:0"."""

    def __init__(self, argument: Argument, device: str) -> None:
        self.argument, self.device = argument, device
        self.here = HOST if device == "cpu" else CUDA
        self.ordinal = int(device.partition(":")[2] or 0)
        host_too = argument.memory != "device" or argument.kind == ArgumentKind.CONSTANT
        self.places = (self.here, "", HOST) if host_too else (self.here, "")
        self.elements = (argument.dtype, *_STAND_INS.get(argument.dtype, ()))
        self.written = argument.kind in _WRITTEN or argument.overwrite

    def view(self, source: Any, stream: int | None) -> View:
        """A view of what was passed. Raises an Error unless the kernel can take it. stream: as for look."""
        return self.accept(look(self.argument.name, source, stream))

    def accept(self, view: View) -> View:
        """The view itself. Raises an Error unless the kernel can take it."""
        self._check_memory(view)
        self._check_shape(view)
        return view

    def _refuse(self, what: str) -> Error:
        return Error(f"argument '{self.argument.name}': {what}")

    def _check_memory(self, given: View) -> None:
        if given.where not in self.places:
            advice = "copy it to the GPU" if self.here == CUDA else "copy it to the host, or open the kernel with device=\"cuda:0\""
            raise self._refuse(f"it is in {given.where} memory, the kernel runs on {self.device}: {advice}")
        if given.ordinal is not None and given.ordinal != self.ordinal:
            raise self._refuse(f"it is on cuda:{given.ordinal}, the kernel is for {self.device}: copy it there, or open the kernel "
                               f"with device=\"cuda:{given.ordinal}\"")
        if given.element not in self.elements:
            raise self._refuse(f"its elements are {given.element}, should be {self.argument.dtype}: convert them, or open the kernel for "
                               "that type")
        if self.written and not given.writable:
            raise self._refuse("the kernel writes to it and it is read-only: pass a writable copy")

    def _check_shape(self, given: View) -> None:
        """Demands the argument's shape and strides, or all of the buffer as one dimension."""
        argument, size = self.argument, given.size
        strides = given.strides or _packed(given.shape, size)
        if len(given.shape) == 1 and given.shape[0] * size == argument.bytes and _same_strides(given.shape, strides, (size,)):
            return
        if argument.stride and not argument.stride[0]:
            raise self._refuse(f"its layout is {argument.layout}, which no strides describe: pass the buffer as it lies in memory, an "
                               f"array of one dimension of {argument.bytes // size} elements")
        if given.shape != argument.shape:
            raise self._refuse(f"its shape is {given.shape}, should be {argument.shape}: pass such an array, or open the kernel "
                               "for that size")
        wanted = tuple(size * s for s in argument.stride)
        if strides != wanted and not _same_strides(given.shape, strides, wanted):
            raise self._refuse(f"its strides are {_elements(strides, size)} elements, should be {argument.stride}: pass an array "
                               "that lies so in memory, or open the kernel with the layout or pitch that this one has")


# ---- Outputs ----------------------------------------------------------------------------------------------------------


def make(argument: Argument, like: object) -> Any:
    """Makes an array for an output, by the library and on the device of another array; None: this library's arrays cannot be made."""
    library = type(like).__module__.partition(".")[0]
    if library not in ("numpy", "cupy") or argument.dtype not in _NUMPY or not argument.stride[0]:
        return None
    size = int(argument.dtype[1:]) // 8
    whole = sys.modules[library].empty(argument.bytes // size, _NUMPY[argument.dtype])  # rows are whole, the last one too
    made = whole[:1] if 0 in argument.shape else whole
    return sys.modules[library].lib.stride_tricks.as_strided(made, argument.shape, tuple(size * s for s in argument.stride))


_NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", **{f"{kind}{8 * size}": f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)}}


# ---- Streams --------------------------------------------------------------------------------------------------------


def stream_handle(stream: Any) -> int:
    """A CUstream's number from what libraries have for it."""
    if isinstance(stream, int):
        if not 0 <= stream < 1 << 64:
            raise Error(f"stream: {stream} is no stream's number")
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        found = protocol() if callable(protocol) else protocol
        return int(found[1])
    for name in ("cuda_stream", "ptr", "handle"):  # torch; cupy; numba, pycuda
        found = getattr(stream, name, None)
        if found is not None:
            return int(getattr(found, "value", found) or 0)
    raise Error(f"stream: a {type(stream).__name__} is no stream: pass a number, or an object with __cuda_stream__, cuda_stream or ptr")


def current_stream(source: Any) -> int | None:
    """The stream that the object's library works on now; None: it does not say."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(source, torch.Tensor):
        return int(torch.cuda.current_stream(source.device).cuda_stream) if source.is_cuda else None
    if type(source).__module__.partition(".")[0] == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    stream = getattr(source, "__cuda_array_interface__", {}).get("stream")
    return None if stream is None else int(stream)


# ---- Numbers --------------------------------------------------------------------------------------------------------

_FORMATS = {"f64": "d", "f32": "f", "f16": "e", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H",
            "u32": "I", "u64": "Q"}


def _bf16(value: float) -> bytes:
    """Rounded to the nearest, ties to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if value != value:
        return b"\xc0\x7f"
    return struct.pack("<H", min(bits + 0x7FFF + (bits >> 16 & 1) >> 16, 0xFFFF))


def pack(argument: Argument, value: Any) -> bytes:
    """A scalar's bytes: of a number, or as they are given (a struct, an 8-bit float)."""
    if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure)):
        given = bytes(value)
        if len(given) != argument.bytes:
            raise Error(f"argument '{argument.name}': {len(given)} bytes, should be {argument.bytes}")
        return given
    try:
        if isinstance(value, str):  # refused, because float() would parse it
            raise TypeError("it is a text")
        if argument.dtype == "bf16":
            return _bf16(float(value))
        form = "=" + _FORMATS[argument.dtype]  # "=": standard sizes, and an error for a number that is too large
        return struct.pack(form, float(value) if argument.dtype[0] == "f" else operator.index(value))
    except KeyError:
        raise Error(f"argument '{argument.name}': a {argument.dtype} is passed as {argument.bytes} bytes") from None
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        raise Error(f"argument '{argument.name}': {value!r} is no {argument.dtype}: {error}") from None
