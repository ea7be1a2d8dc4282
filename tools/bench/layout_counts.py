#!/usr/bin/env python3
"""Whether a GPU counts what `cugen layout` counts: passes over the banks of shared memory and sectors of global memory.

  layout_counts.py cases CUGEN >CASES      anywhere: the accesses that tests/cpu/layouts.py draws, others of 4 to 16 bytes, and row,
                                           col and ldmatrix of all declared arrays of the shipped kernels, with what
                                           `cugen layout` counts
  layout_counts.py count CASES             on a GPU, with nvcc and ncu: makes each access once and compares

A line of CASES is NAME, FORM, BYTES, COUNT and 32 offsets in bytes, parted by blanks."""
import csv
import importlib.util
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
METRICS = {"G": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "S": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
           "g": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "s": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
           "m": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"}
SHIPPED = [("transpose", (f"dtype={dtype}", "rows=100", "cols=60")) for dtype in ("f32", "f16", "f64")]
SHIPPED += [("copy", ("width=15", "height=64", f"pitched={pitched}")) for pitched in ("false", "true")]
SHIPPED += [("access", ("n=1024", f"load_stride={stride}", f"load_offset={offset}")) for stride, offset in ((1, 0), (1, 1), (2, 0), (3, 1), (8, 0))]
SHIPPED += [("particles", ("n=1024",)), ("filter", ("rows=60", "cols=52")), ("filter", ("rows=60", "cols=52", "pitched=true")), ("sum", ("n=5000",)),
            ("reduce", ("rows=30", "cols=50")), ("reduce", ("rows=30", "cols=50", "axis=col")), ("reader", ("n=5000",))]
SHIPPED += [("matmul", (f"dtype={dtype}", f"layout_a={a}", f"layout_b={b}", "M=96", "N=112", "K=80"))
            for dtype in ("f32", "f64", "f16", "tf32", "e4m3", "i8") for a in ("row", "col") for b in ("row", "col")]


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def layout(cugen, *arguments, folder=None):
    done = subprocess.run([cugen, "layout", *arguments, "--device", "model:H200", "--json", "-q"], capture_output=True, text=True, check=False,
                          cwd=folder)
    return json.loads(done.stdout)["arrays"] if done.returncode == 0 else []


def walk(shape, form, width):
    """The indices of each lane, as docs/layouts.md says."""
    rank = len(shape)
    if form == "ldmatrix":
        return [[0] * (rank - 2) + [lane % 16, lane // 16 * width] for lane in range(32)]
    order = list(range(rank))[::-1]
    if form == "col":
        order[0], order[1] = order[1], order[0]
    lanes = []
    for lane in range(32):
        at, left = [0] * rank, lane
        for i, d in enumerate(order):
            step = width if d == rank - 1 else 1
            steps = -(-shape[d] // step)
            at[d] = (left if i == rank - 1 else left % steps) * step
            left //= steps
        lanes.append(at)
    return lanes


def line(name, array, access, lanes):
    size = array["bytes_of_element"]
    offsets = []
    for at in lanes:
        inside = all(0 <= i < e for i, e in zip(at, array["shape"]))
        place = 0
        for i, e in zip(at, array["shape"]):
            place = place * e + i
        offsets.append(array["offsets"][place] * size if inside else -1)
    form = "g" if array["memory"] == "global" else "m" if access["access"] == "ldmatrix" else "s"
    if form == "m" and min(offsets) < 0:
        return None
    return " ".join(map(str, [name, form, access["bytes"], access.get("passes", access.get("sectors")), *offsets]))


def vectors(cugen):
    """Accesses of 4, 8 and 16 bytes with lanes in any order, some of them equal, some out of bounds."""
    rng = random.Random(1)
    for number in range(90):
        width, rows = rng.choice([1, 2, 4]), rng.choice([4, 32, 64])
        row = rng.choice([f"lane * {rng.choice([1, 3, 5, 7])} % {rows}", f"lane // {rng.choice([2, 4, 8])} % {rows}", f"lane % {rng.choice([2, 4])}"])
        column = rng.choice(["0", f"lane // {rng.choice([2, 4, 8])} % 4", f"lane % {rng.choice([2, 4, 8])}", f"lane * {rng.choice([1, 3])} % 8"])
        array = f'shared "s" {{ dtype = "f32", shape = {{ {rows}, 32 }}, layout = "{rng.choice(["row", "row+4", "row^2,2,3", "row^3,2,3"])}" }},'
        access = f"{row}, {column} * {width}" + rng.choice(["", "", " + lane // 9 * 8"])
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "k.lua").write_text(
                'kernel "k" {\n output "y" { dtype = "f32", shape = { 32 } }, reference "none",\n'
                f' implementation "i" {{ template "k.cu", grid {{ 1 }}, block {{ 32 }}, {array} }},\n}}\n')
            pathlib.Path(folder, "k.cu").write_text("__global__ void k(float *y) { y[0] = s(0, 0); }\n")
            for found in layout(cugen, "k.lua", "--array", "s", "--access", access, "--bytes", str(4 * width), folder=folder):
                found["bytes_of_element"] = 4
                lanes = [[eval(index, {"lane": lane}) for index in access.split(", ")] for lane in range(32)]
                if found["accesses"] and found["accesses"][0]["lanes"]:
                    made = line(f"vector-{number}", found, found["accesses"][0], lanes)
                    yield made
                    yield store(made)


def store(made):
    """The same access as a store: 32 lanes of 4 bytes, 16 of 8 or 8 of 16 at once, as base/warp.c has it for `cugen check`."""
    name, _, width, _, *offsets = made.split()
    together, passes = min(32, 128 // int(width)), 0
    for first in range(0, 32, together):
        banks = {}
        for offset in map(int, offsets[first:first + together]):
            for word in range(offset // 4, (offset + int(width)) // 4) if offset >= 0 else ():
                banks.setdefault(word % 32, set()).add(word)
        passes += max(map(len, banks.values()), default=0)
    return " ".join([name, "S", width, str(passes), *offsets])


SIZES = {"f64": 8, "i64": 8, "u64": 8, "f32": 4, "tf32": 4, "i32": 4, "u32": 4, "f16": 2, "bf16": 2, "i16": 2, "u16": 2}


def drawn(cugen):
    sys.argv[1:] = [cugen]
    tests = module(ROOT / "tests/cpu/layouts.py")
    for seed in range(tests.BATCHES):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            arrays = [tests.Array(rng, n) for n in range(tests.ARRAYS)]
            tests.write(folder, arrays)
            for a in arrays:
                for found in layout(cugen, "k.lua", "--array", a.name, "--access", a.access, folder=folder):
                    found["bytes_of_element"] = SIZES.get(found["dtype"], 1)
                    if found["accesses"][0]["lanes"]:
                        yield line(f"drawn-{seed}-{a.name}", found, found["accesses"][0], a.lanes())


def shipped(cugen):
    for config, settings in SHIPPED:
        sets = [word for setting in settings for word in ("--set", setting)]
        listed = subprocess.run([cugen, "space", config, *sets, "--device", "model:H200", "--json", "-q"], capture_output=True, text=True, check=True)
        for implementation in json.loads(listed.stdout)["implementations"]:
            name = implementation["name"]
            for form, width in (("row", 0), ("col", 0), ("row", 8), ("col", 8), ("row", 16), ("col", 16), ("ldmatrix", 0)):
                more = ["--bytes", str(width)] if width else []
                for array in layout(cugen, config, *sets, "--variant", name, "--access", form, *more):
                    if not array["offsets"] or not array["accesses"] or not array["accesses"][0]["lanes"]:
                        continue
                    access = array["accesses"][0]
                    array["bytes_of_element"] = SIZES.get(array["dtype"], 1)
                    made = line("-".join([config, *settings, name, array["name"]]), array, access,
                                walk(array["shape"], form, access["bytes"] // array["bytes_of_element"]))
                    if made:
                        yield made


def count(path):
    cases = [text.split() for text in pathlib.Path(path).read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(folder) / "cases"
        given.write_text("".join(" ".join([c[1], c[2], *c[4:]]) + "\n" for c in cases))
        program = f"{folder}/layout_counts"
        subprocess.run(["nvcc", "-O2", "-arch=native", "-o", program, ROOT / "tools/bench/layout_counts.cu"], check=True)
        ran = subprocess.run(["ncu", "--csv", "--clock-control", "none", "--metrics", ",".join(sorted(set(METRICS.values()))), program, given],
                             capture_output=True, text=True, check=False)
    text = ran.stdout[ran.stdout.find('"ID"'):]
    counted = {}
    for row in csv.DictReader(io.StringIO(text)):
        counted[int(row["ID"]), row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    wrong = 0
    for i, case in enumerate(cases):
        got = counted.get((i, METRICS[case[1]]))
        if got != float(case[3]):
            wrong += 1
            print(f"{case[0]} {case[1]} of {case[2]} bytes: cugen layout counts {case[3]}, the GPU {got}")
    of = {form: sum(c[1] == form for c in cases) for form in "sSgm"}
    print(f"{len(cases) - wrong} of {len(cases)} accesses agree: {of['s']} loads and {of['S']} stores of shared memory, {of['m']} ldmatrix, "
          f"{of['g']} loads of global memory")


if __name__ == "__main__":
    if sys.argv[1] == "cases":
        cugen_path = str(pathlib.Path(sys.argv[2]).resolve())
        each = {made.split(" ", 1)[1]: made for made in [*drawn(cugen_path), *vectors(cugen_path), *shipped(cugen_path)] if made}
        print("\n".join(each.values()))
    else:
        count(sys.argv[2])
