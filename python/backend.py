"""Builds the package cugen for pip (PEP 517, PEP 660): library, worker and program as ./cugen builds them, beside the modules.

Settings (pip install . --config-settings NAME=VALUE):
    build    a build folder to take as it is, instead of bringing build/ up to date
    toolkit  "none": without NVRTC and the CUDA headers, where the build has fetched them (100 MB)"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile
from typing import Dict, Iterator, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = {"libcugen.so": "libcugen.so", "cugen-worker": "cugen-worker", "cugen": "cugen"}
# Folders to be read, and their names in the wheel; the library has them inside.
SHIPPED = {"configs": "configs", "configs/devices": "devices", "templates": "templates"}
NOT_SHIPPED = {"devices", "editor", "portfolios"}

Settings = Optional[Dict[str, str]]


def version() -> str:
    with open(os.path.join(ROOT, "include", "cugen.h"), encoding="utf-8") as file:
        found = re.search(r'^#define CUGEN_VERSION "(.*)"', file.read(), re.M)
    assert found
    return found.group(1)


def build() -> str:
    """build/, brought up to date by the launcher, which also says what is missing."""
    # pip hides the interpreter's own packages, and with them the pip that may fetch the toolkit.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    folder = os.path.join(ROOT, "build")
    subprocess.run([os.path.join(ROOT, "cugen"), "--version"], check=True, env=environment, stdin=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "cugen_shared", "cugen_worker"], check=True, env=environment)
    return folder


def tree(folder: str, target: str) -> Iterator[Tuple[str, str]]:
    """(file, its name in the wheel) of all in a folder, in order."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - NOT_SHIPPED)
        for name in sorted(files):
            path = os.path.join(place, name)
            yield path, os.path.join(target, os.path.relpath(path, folder))


def contents(folder: str, settings: Dict[str, str]) -> Iterator[Tuple[str, str]]:
    for path, name in tree(os.path.join(ROOT, "python", "cugen"), "cugen"):
        if name.endswith((".py", "py.typed")):
            yield path, name
    for built, name in PROGRAMS.items():
        yield os.path.join(folder, built), f"cugen/files/{name}"
    for shipped, name in SHIPPED.items():
        yield from tree(os.path.join(ROOT, shipped), f"cugen/files/share/{name}")
    if settings.get("toolkit") != "none":
        yield from tree(os.path.join(folder, "toolkit"), "cugen/files/toolkit")


class Wheel:
    """A wheel being written; equal input gives equal bytes."""

    def __init__(self, folder: str, tag: str) -> None:
        self.name = f"cugen-{version()}-{tag}.whl"
        self.tag, self.info = tag, f"cugen-{version()}.dist-info"
        self.records = ""
        self.zip = zipfile.ZipFile(os.path.join(folder, self.name), "w", zipfile.ZIP_DEFLATED)

    def add(self, name: str, data: bytes, executable: bool = False) -> None:
        entry = zipfile.ZipInfo(name.replace(os.sep, "/"))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records += f"{entry.filename},sha256={digest},{len(data)}\n"

    def add_file(self, path: str, name: str) -> None:
        with open(path, "rb") as file:
            self.add(name, file.read(), os.access(path, os.X_OK))

    def finish(self) -> str:
        self.add(f"{self.info}/METADATA", metadata().encode())
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: cugen\nRoot-Is-Purelib: false\nTag: {self.tag}\n".encode())
        self.add(f"{self.info}/entry_points.txt", b"[console_scripts]\ncugen = cugen.__main__:main\n")
        self.add_file(os.path.join(ROOT, "LICENSE"), f"{self.info}/LICENSE")
        self.zip.writestr(zipfile.ZipInfo(f"{self.info}/RECORD"), self.records + f"{self.info}/RECORD,,\n")
        self.zip.close()
        return self.name


def metadata() -> str:
    return f"""Metadata-Version: 2.1
Name: cugen
Version: {version()}
Summary: Tuned CUDA kernels for your arrays
Requires-Python: >=3.9
Description-Content-Type: text/markdown

CUDA kernels specialised from a Lua config and a .cu template, verified, tuned and remembered for each device.
docs/python.md in the checkout is the guide.
"""


def platform_tag() -> str:
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


# ---- What pip calls -------------------------------------------------------------------------------------------------


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None) -> str:
    settings = config_settings or {}
    folder = os.path.abspath(os.path.join(ROOT, settings["build"])) if "build" in settings else build()
    wheel = Wheel(wheel_directory, platform_tag())
    for path, name in contents(folder, settings):
        wheel.add_file(path, name)
    return wheel.finish()


def build_editable(wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None) -> str:
    """The modules stay in the checkout and take the library of its build/."""
    if "build" not in (config_settings or {}):
        build()
    wheel = Wheel(wheel_directory, platform_tag())
    wheel.add("cugen.pth", os.path.join(ROOT, "python").encode() + b"\n")
    return wheel.finish()
