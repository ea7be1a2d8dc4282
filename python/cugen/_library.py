"""libcugen: finding and loading it, its errors, its handles, and Ctrl-C while it works."""

from __future__ import annotations

import ctypes
import numbers
import os
import re
import signal
import threading
import weakref
from ctypes import byref, c_void_p
from types import FrameType
from typing import Any, Callable, Protocol

from . import _declarations as c
from ._declarations import Cause, Status

FOLDER = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(FOLDER, "files")  # library, worker and program of an installed package
CHECKOUT = os.path.dirname(os.path.dirname(FOLDER))


class Error(Exception):
    """A failure of cugen. ``str(error)`` is cugen's message: what happened, the file and line, what to do.

    ``file`` and ``line`` are the place in your config, template or what they include; None where there is none."""

    def __init__(self, message: str, status: Status = Status.USAGE, cause: Cause = Cause.NONE, file: str | None = None,
                 line: int | None = None) -> None:
        super().__init__(message, status, cause, file, line)
        self.message, self.status, self.cause, self.file, self.line = message, status, cause, file, line

    def __str__(self) -> str:
        return self.message


# ---- Loading --------------------------------------------------------------------------------------------------------

_loaded: ctypes.CDLL | None = None
_loading = threading.Lock()

WAYS_OUT = "install the package (pip install . in cugen's checkout), build it in the checkout (./cugen build), " \
    "or name the file in CUGEN_LIBRARY"


def candidates() -> list[str]:
    """Files that may be the library, in the order in which they are tried. A file named by CUGEN_LIBRARY is the only one."""
    named = os.environ.get("CUGEN_LIBRARY")
    if named:
        return [named]
    built = [os.path.join(CHECKOUT, "build", "libcugen.so")] if os.path.exists(os.path.join(CHECKOUT, "CMakeLists.txt")) else []
    return [os.path.join(FILES, "libcugen.so"), *built, f"libcugen.so.{c.VERSION.split('.')[0]}"]


def _open_first() -> tuple[str, ctypes.CDLL]:
    tried = []
    for path in candidates():
        if os.path.isabs(path) and not os.path.exists(path):
            tried.append(path)
            continue
        try:
            return path, ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path} ({error})")
    raise Error(f"libcugen.so was not found; looked at {', '.join(tried)}; {WAYS_OUT}", Status.MISSING)


def load() -> ctypes.CDLL:
    """The library, with the types of all its functions; the same one each time."""
    global _loaded
    with _loading:
        if _loaded is None:
            path, library = _open_first()
            _declare(path, library)
            _loaded = library
        return _loaded


def _declare(path: str, library: ctypes.CDLL) -> None:
    try:
        library.cugen_version.restype = ctypes.c_char_p
        version = c.text(library.cugen_version())
        if version == c.VERSION:
            for name, (result, parameters) in c.PROTOTYPES.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, parameters
    except AttributeError as error:
        raise Error(f"{path} is not the libcugen {c.VERSION} of this package: {error}; {WAYS_OUT}", Status.MISSING) from None
    if version != c.VERSION:
        raise Error(f"{path} is cugen {version}, this package is for {c.VERSION}; {WAYS_OUT}", Status.MISSING)


# ---- Calling --------------------------------------------------------------------------------------------------------


def call(name: str, *arguments: Any) -> None:
    """Calls a function that gives a status and takes an error as its last argument."""
    error = c.cugen_error()
    status = getattr(load(), name)(*arguments, byref(error))
    if status:
        raise error_of(status, error)


# "cugen_options.toolkit" in a message of the C library is the argument "toolkit" here.
OPTION = re.compile(r"\bcugen_(?:\w+_)?options\.(\w+)")


def error_of(status: int, error: c.cugen_error) -> Error:
    place = (c.text(error.file), error.line) if error.line else (None, None)
    return Error(OPTION.sub(r"\1", c.text(error.message)), Status(status), Cause(error.cause), *place)


def options(kind: type[ctypes.Structure], **values: Any) -> Any:
    """An options structure as its INIT macro makes it, with these values."""
    made = kind(size=ctypes.sizeof(kind))
    if kind is c.cugen_tune_options:
        made.seed = 1
    texts = {name for name, type_, *_ in kind._fields_ if type_ is ctypes.c_char_p}
    for name, value in values.items():
        title = name.replace("budget_", "")
        try:
            setattr(made, name, encoded(value) if name in texts else value)
            fits = not isinstance(value, numbers.Number) or getattr(made, name) == value  # ctypes truncates other numbers; false for NaN
        except OverflowError:
            fits = False
        except TypeError as error:
            raise TypeError(f"{title}={value!r}: {error}") from None
        if not fits:
            raise Error(f"{title}={value!r} is out of range")
    return made


def seconds(**limits: float) -> dict[str, float]:
    """Limits of time by their names; 0 is the C library's default."""
    for name, value in limits.items():
        if not value >= 0:
            raise Error(f"{name}={value!r}: the seconds must be 0 (the default) or more")
    return {name: float(value) for name, value in limits.items()}


def encoded(value: str | os.PathLike[str] | None) -> bytes | None:
    if value is None:
        return None
    try:
        made = os.fsencode(value)
    except UnicodeEncodeError as error:
        raise Error(f"{value!r} is no text: {error.reason}") from None
    if b"\0" in made:
        raise Error(f"{value!r} holds a NUL character, which ends a text")
    return made


# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------

_running = threading.local()


class Interruptible:
    """A context for a call that may take long. In the main thread a signal's Python handler runs only when cugen calls back, and an
    exception there would be lost. So Ctrl-C is kept, makes the callbacks stop cugen, and is raised when it has stopped."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None
        self._before: Any = None
        self._outer: Any = None

    def __enter__(self) -> Interruptible:
        self._outer = getattr(_running, "now", None)
        _running.now = self
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        _running.now = self._outer
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self.raised is not None:
            raised, self.raised = self.raised, None
            raise raised.with_traceback(raised.__traceback__) from None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.run(lambda: self._before(number, frame))

    def run(self, function: Callable[[], object]) -> bool:
        """Runs a function of the caller. True: cugen shall stop, because the function said so or raised an exception."""
        try:
            return bool(function()) or self.raised is not None
        except BaseException as error:  # raised again when cugen has returned
            self.raised = error
            return True


def _stop(_: int | None) -> int:
    now = getattr(_running, "now", None)
    return 1 if now is not None and now.raised is not None else 0


STOP = c.cugen_stop_callback(_stop)


# ---- Handles --------------------------------------------------------------------------------------------------------


class Handle:
    """An open handle of the library, closed once, after all that was opened from it, by the process that opened it."""

    def __init__(self, what: str, address: int | None, close: str | None, parent: Handle | None = None) -> None:
        """close: the C function that closes the handle; None: the parent's function closes it, too."""
        self._what, self._address, self._parent = what, address, parent
        self._close: Callable[[int], object] = getattr(load(), close) if close else lambda _: None
        self._children: set[Handle] = set()
        self._dropped = False
        self._process = os.getpid()
        if parent is not None:
            parent._children.add(self)

    @property
    def address(self) -> int:
        if self._address is None:
            raise Error(f"the {self._what} is closed")
        return self._address

    @property
    def closed(self) -> bool:
        return self._address is None

    def close(self) -> None:
        for child in tuple(self._children):
            child.close()
        address, self._address = self._address, None
        if address is not None and self._process == os.getpid():
            self._close(address)
        parent = self._parent
        if parent is not None:
            parent._children.discard(self)
            if parent._dropped and not parent._children:
                parent.close()

    def drop(self) -> None:
        """Closes the handle once nothing that was opened from it is in use."""
        self._dropped = True
        if not self._children:
            self.close()


class Handled(Protocol):
    _handle: Handle


def own(owner: Handled, handle: Handle) -> None:
    """Closes the handle with its owner, at the latest when Python ends."""
    owner._handle = handle
    weakref.finalize(owner, handle.drop)


class Turn:
    """Lets one thread at a time use a handle. A callback that uses the handle that is calling it is refused."""

    def __init__(self, what: str) -> None:
        self._what, self._lock, self._thread = what, threading.Lock(), 0

    def __enter__(self) -> None:
        self.refuse_callback(self._what)
        self._lock.acquire()
        self._thread = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._thread = 0
        self._lock.release()

    def refuse_callback(self, what: str) -> None:
        """Raises an error if this is a callback of the call that has the turn."""
        if self._thread == threading.get_ident():
            raise Error(f"the {what} is in use by the function that calls this callback: use it when that has returned")


def open_handle(what: str, name: str, close: str, *arguments: Any, parent: Handle | None = None) -> Handle:
    address = c_void_p()
    call(name, *arguments, byref(address))
    return Handle(what, address.value, close, parent)
