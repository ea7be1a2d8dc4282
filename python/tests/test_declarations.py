"""The declarations are the headers': sizes, places, values and initialisers, as the C compiler has them."""

import ctypes
import os
import re
import subprocess
import tempfile
import unittest

from cugen import _declarations as declarations
from cugen import _library

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRUCTURES = {name: kind for name, kind in vars(declarations).items()
              if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure}
OPTIONS = {name: kind for name, kind in STRUCTURES.items() if kind._fields_[0][0] == "size"}
PREFIXES = {"Status": "CUGEN_ERROR_", "Cause": "CUGEN_CAUSE_", "ArgumentKind": "CUGEN_ARGUMENT_",
            "PlanChoice": "CUGEN_PLAN_", "Stage": "CUGEN_STAGE_"}


def run_c(lines):
    """The numbers that a program of these statements prints."""
    program = ["#include <stdio.h>", "#include <stddef.h>", '#include "cugen.h"', "int main(void) {", *lines, "return 0; }"]
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(program))
        subprocess.run(["cc", "-std=c11", f"-I{ROOT}/include", source, "-o", binary], check=True)
        return subprocess.run([binary], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]


def print_of(value):
    return f'printf("%lld\\n", (long long)({value}));'


class Declarations(unittest.TestCase):
    def test_structures(self):
        lines, expected = [], []
        for name, kind in STRUCTURES.items():
            lines.append(print_of(f"sizeof({name})"))
            expected.append((name, ctypes.sizeof(kind)))
            for field, _, *_ in kind._fields_:
                lines += [print_of(f"offsetof({name}, {field})"), print_of(f"sizeof((({name} *)0)->{field})")]
                place = getattr(kind, field)
                expected += [(f"{name}.{field}", place.offset), (f"{name}.{field}", place.size)]
        self.assertGreater(len(STRUCTURES), 8)
        self.assertEqual([(name, int(found)) for (name, _), found in zip(expected, run_c(lines))], expected)

    def test_initialisers(self):
        for name, kind in OPTIONS.items():
            macro = name.upper() + "_INIT"
            (found,) = run_c([f"static const {name} o = {macro};", "for (size_t i = 0; i < sizeof o; i++) printf(\"%02x\", ((const unsigned char *)&o)[i]);",
                              'printf("\\n");'])
            self.assertEqual(bytes(_library.options(kind)).hex(), found, name)
        self.assertIn("cugen_tune_options", OPTIONS)

    def test_values(self):
        lines, expected = [], []
        for title, prefix in PREFIXES.items():
            for member in getattr(declarations, title):
                lines.append(print_of("CUGEN_OK" if (title, member.name) == ("Status", "OK") else prefix + member.name))
                expected.append((title, member.name, int(member)))
        self.assertEqual([(title, name, int(found)) for (title, name, _), found in zip(expected, run_c(lines))], expected)

    def test_functions(self):
        """As many parameters as the header's, of pointers or numbers where it has those."""
        with open(os.path.join(ROOT, "include", "cugen.h"), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        declared = dict(re.findall(r"^\w[\w *]*?\b(cugen_\w+)\(([^;{]*)\);", text, re.M))
        self.assertEqual(set(declared), set(declarations.PROTOTYPES))
        for name, parameters in declared.items():
            kinds = [] if parameters.strip() == "void" else parameters.split(",")
            given = declarations.PROTOTYPES[name][1]
            self.assertEqual(len(kinds), len(given), name)
            for kind, type_ in zip(kinds, given):
                callback = "_callback" in kind
                self.assertEqual("*" in kind or "[" in kind or callback, ctypes.sizeof(type_) == 8 and
                                 type_ not in (ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int64, ctypes.c_double), f"{name}: {kind}")


if __name__ == "__main__":
    unittest.main()
