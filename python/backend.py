"""Builds the package cugen for pip (PEP 517, PEP 660): the library and its worker as ./cugen builds them, beside the modules.

Settings (pip install . --config-settings NAME=VALUE):
    build     a build folder to take as it is, instead of bringing build/ up to date
    toolkit   "none": without NVRTC and the CUDA headers, where the build has fetched them (100 MB)
    platform  a wheel for other machines, with this tag: manylinux_2_28_x86_64. What was built must need no newer glibc and no other
              library. pip then fetches NVRTC and the CUDA headers as packages of their own. tools/wheel builds so."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile
from typing import Dict, Iterator, List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = ("libcugen.so", "cugen-worker")  # the worker is the program cugen too
# NVIDIA's own selection of its packages, which fit each other. CUDA 12 has no crt and does not need it.
TOOLKIT = "cuda-toolkit[cccl,crt,cudart,nvrtc]>=12,<14"
# What a wheel for other machines may need; the loader is libc's.
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread)\.so\.6|(libdl|libpthread)\.so\.[02]|ld-linux-[a-z0-9-]+\.so\.[12]")
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
    for name in PROGRAMS:
        yield os.path.join(folder, name), f"cugen/files/{name}"
    yield os.path.join(ROOT, "include", "cugen.h"), "cugen/files/include/cugen.h"
    for shipped, name in SHIPPED.items():
        yield from tree(os.path.join(ROOT, shipped), f"cugen/files/share/{name}")
    if settings.get("toolkit") != "none" and "platform" not in settings:
        yield from tree(os.path.join(folder, "toolkit"), "cugen/files/toolkit")


def lacking(path: str, glibc: Tuple[int, ...], arch: str) -> List[str]:
    """What the program or library needs and another machine may lack: its processor, libraries, functions of a newer glibc."""
    shown = subprocess.run(["readelf", "--file-header", "--dynamic", "--dyn-syms", "--wide", path], check=True, capture_output=True,
                           text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    machine = re.findall(r"Machine: .* (\S+)", shown)
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", shown)
    functions = re.findall(r" UND (\S+@(\w+?)_([0-9.]+))", shown)
    return [name for name in machine if name.lower().replace("-", "_") != arch] + \
        [name for name in libraries if not SYSTEM_LIBRARIES.fullmatch(name)] + \
        [name for name, of, number in functions if of != "GLIBC" or tuple(map(int, number.split("."))) > glibc]


def check(folder: str, platform: str) -> None:
    parts = re.fullmatch(r"manylinux_(\d+)_(\d+)_(\w+)", platform)
    if not parts:
        raise SystemExit(f"platform={platform} is no platform such as manylinux_2_28_x86_64")
    for name in PROGRAMS:
        bad = lacking(os.path.join(folder, name), (int(parts[1]), int(parts[2])), parts[3])
        if bad:
            raise SystemExit(f"{os.path.join(folder, name)} cannot be in a wheel for {platform}, because it needs {', '.join(bad)}: "
                             "build it with tools/wheel")


class Wheel:
    """A wheel being written; equal input gives equal bytes."""

    def __init__(self, folder: str, platform: str = "", requires: str = "") -> None:
        self.tag = "py3-none-" + (platform or sysconfig.get_platform().replace("-", "_").replace(".", "_"))
        self.name = f"cugen-{version()}-{self.tag}.whl"
        self.info, self.requires = f"cugen-{version()}.dist-info", requires
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
        self.add(f"{self.info}/METADATA", metadata(self.requires).encode())
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: cugen\nRoot-Is-Purelib: false\nTag: {self.tag}\n".encode())
        self.add(f"{self.info}/entry_points.txt", b"[console_scripts]\ncugen = cugen.__main__:main\n")
        self.add_file(os.path.join(ROOT, "LICENSE"), f"{self.info}/licenses/LICENSE")
        self.zip.writestr(zipfile.ZipInfo(f"{self.info}/RECORD"), self.records + f"{self.info}/RECORD,,\n")
        self.zip.close()
        return self.name


def metadata(requires: str) -> str:
    requirement = f"Requires-Dist: {requires}\n" if requires else ""
    return f"""Metadata-Version: 2.1
Name: cugen
Version: {version()}
Summary: Tuned CUDA kernels for your arrays
Requires-Python: >=3.9
{requirement}Description-Content-Type: text/markdown

CUDA kernels specialised from a Lua config and a .cu template, verified, tuned and remembered for each device.
docs/python.md in the checkout is the guide.
"""


# ---- What pip calls -------------------------------------------------------------------------------------------------


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None) -> str:
    settings = config_settings or {}
    folder = os.path.abspath(os.path.join(ROOT, settings["build"])) if "build" in settings else build()
    platform = settings.get("platform", "")
    if platform:
        check(folder, platform)
    wheel = Wheel(wheel_directory, platform, TOOLKIT if platform else "")
    for path, name in contents(folder, settings):
        wheel.add_file(path, name)
    for path, name in tree(os.path.join(folder, "licenses"), f"{wheel.info}/licenses"):  # of the libraries inside, by tools/wheel
        wheel.add_file(path, name)
    return wheel.finish()


def build_editable(wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None) -> str:
    """The modules stay in the checkout and take the library of its build/."""
    if "build" not in (config_settings or {}):
        build()
    wheel = Wheel(wheel_directory)
    wheel.add("cugen.pth", os.path.join(ROOT, "python").encode() + b"\n")
    return wheel.finish()
