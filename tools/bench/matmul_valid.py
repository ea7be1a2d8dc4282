"""Which variants of configs/matmul.lua are valid for which sizes, on an H200: a part of distill_portfolios.py, which asks of a million pairs.
The conditions are read from the configs, evaluated for all sizes at once by NumPy, and have no exceptions: `bench_remember` skips the same
variants. Heuristics are left out, since a plan that names a variant does not ask them."""
import ast
import pathlib
import re
import types

import numpy

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
SIZEOF = {"f32": 4, "tf32": 4, "f64": 8, "bf16": 2, "f16": 2, "e4m3": 1, "e5m2": 1, "i8": 1, "i32": 4}
EPS = dict.fromkeys(SIZEOF, 0.0)
H200 = types.SimpleNamespace(
    compute_capability=90, architecture_specific=1, sm_count=132, warp_size=32, max_threads_per_block=1024, registers_per_sm=65536,
    shared_per_block=49152, shared_per_block_optin=232448, shared_per_sm=233472, shared_reserved_per_block=1024, pitch_alignment=512, is_gpu=1)
CLASS = {"layout_c": "row", "dtype_c": "default", "pitched": False, "specialize": False, "fill": "uniform", "batch": 1, "scaled": False,
         "biased": False, "activation": "none"}


# ---- Expressions ---------------------------------------------------------------------------------------------------------


def ceil_div(a, b):
    return -(-a // b)


def fold(function):
    def of_all(first, *others):
        for other in others:
            first = function(first, other)
        return first
    return of_all


def select(*parts):
    value = parts[-1]
    for condition, other in reversed(list(zip(parts[:-1:2], parts[1:-1:2]))):
        value = numpy.where(condition, other, value) if numpy.ndim(condition) else other if condition else value
    return value


FUNCTIONS = {"both": fold(numpy.logical_and), "either": fold(numpy.logical_or), "inverse": numpy.logical_not, "select": select,
             "ceil_div": ceil_div, "round_up": lambda a, b: ceil_div(a, b) * b, "min": fold(numpy.minimum), "max": fold(numpy.maximum),
             "abs": numpy.abs, "sqrt": numpy.sqrt, "sizeof": lambda name: SIZEOF[str(name)], "eps": lambda name: EPS[str(name)], "device": H200}


class Vectors(ast.NodeTransformer):
    """`and`, `or` and `not` of arrays are calls."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("both" if isinstance(node.op, ast.And) else "either", ast.Load()), node.values, [])

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("inverse", ast.Load()), [node.operand], []) if isinstance(node.op, ast.Not) else node


def read_expression(text):
    text = text.replace("\\\n", " ").replace("~=", "!=").replace("true", "True").replace("false", "False").strip()
    text = re.sub(r"\bnot ([\w.]+)(?= *(==|!=))", r"(not \1)", text)  # which binds tighter in Lua
    return compile(ast.fix_missing_locations(Vectors().visit(ast.parse(text, mode="eval"))), text, "eval")


# ---- Configs -------------------------------------------------------------------------------------------------------------


STATEMENT = re.compile(r'\b(derive "(\w+)"|where|requires|tunable "(\w+)")\s*(?:"((?:[^"\\]|\\.|\\\n)*)"|\{([^}]*)\})', re.S)


def read_text(path):
    text = re.sub(r"(?m)(^|[ ,])--.*$", r"\1", path.read_text(encoding="utf-8"))
    return text if path.parent == CONFIGS else re.sub(r'include "([\w.]+)"', lambda found: read_text(path.parent / found[1]), text)


def read_statements(path):
    """(what, name, values or expression) of each `derive`, `tunable` and condition. A derived name may stand behind its use in an included
    file, so that what cannot be evaluated waits."""
    for found in STATEMENT.finditer(read_text(path)):
        if found[3]:
            yield "tunable", found[3], [value.strip().strip('"') for value in found[5].split(",")]
        else:
            yield found[1].split()[0], found[2], read_expression(found[4])


SHARED = [statement for statement in read_statements(CONFIGS / "matmul.lua") if statement[0] == "derive"]
IMPLEMENTATIONS = {}


def statements_of(implementation):
    if implementation not in IMPLEMENTATIONS:
        IMPLEMENTATIONS[implementation] = list(read_statements(CONFIGS / "matmul" / f"{implementation}.lua"))
    return IMPLEMENTATIONS[implementation]


def value_of(text):
    return text == "true" if text in ("true", "false") else int(text) if text.isdigit() else text


def holds(statements, names, count):
    """Whether all conditions hold, for each size."""
    good, waiting = numpy.ones(count, bool), []
    for what, name, given in statements:
        try:
            if what == "derive":
                names[name] = eval(given, names)
            elif what == "tunable":
                good &= str(names.get(name)).lower() in given
            else:
                good &= numpy.asarray(eval(given, names), bool)
        except NameError:
            waiting.append((what, name, given))
        if not good.any():
            return good
    return good & holds(waiting, names, count) if waiting else good


def valid(dtype, layout_a, layout_b, variants, sizes):
    """Of each size, a row of M, N and K, and of each variant whether it is valid for the product with C by rows."""
    names = dict(FUNCTIONS, **CLASS, dtype=dtype, layout_a=layout_a, layout_b=layout_b, M=sizes[:, 0], N=sizes[:, 1], K=sizes[:, 2])
    out = numpy.zeros((len(sizes), len(variants)), bool)
    with numpy.errstate(all="ignore"):
        for _, name, given in SHARED:
            names[name] = eval(given, names)
        for column, variant in enumerate(variants):
            implementation, *words = variant.split()
            settings = {name: value_of(value) for name, value in (word.split("=") for word in words)}
            out[:, column] = holds(statements_of(implementation), {**names, **settings}, len(sizes))
    return out
