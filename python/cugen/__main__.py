"""The program cugen, as the package brings it along: ``python -m cugen``."""

from __future__ import annotations

import os
import sys

from ._declarations import Status
from ._library import CHECKOUT, FILES, Error, load


def program() -> str:
    """Finds the program cugen: an installed package's worker, which is the same program, or the one in the checkout's build."""
    for path in (os.path.join(FILES, "cugen-worker"), os.path.join(CHECKOUT, "build", "cugen")):
        if os.access(path, os.X_OK):
            return path
    load()  # the exception of load() says what is missing
    raise Error("the program cugen is not in this package; install it again (pip install . in cugen's checkout)", Status.MISSING)


def main() -> None:
    try:
        path = program()
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(-error.status)
    os.execv(path, ["cugen", *sys.argv[1:]])


if __name__ == "__main__":
    main()
