#!/usr/bin/env python3
"""layouts.py CUGEN: shared arrays by chance. Their offsets, in 'cugen layout' and in the emitted source, are those of a slow
definition here, which docs/layouts.md gives; what an access of a warp touches of them is counted by 'cugen layout' as
'cugen check' counts it when it runs, and as conflicts() has it in an expression."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

CUGEN = sys.argv[1]
BATCHES, ARRAYS = 14, 15
SIZES = {"u8": 1, "f16": 2, "f32": 4, "f64": 8}


class Layout:
    """A word, drawn: ORDER[/TILE[:ORDER]]...[+PAD][^B,M,S]."""

    def __init__(self, rng, rank, dtype):
        self.rank, self.size = rank, SIZES[dtype]
        self.orders = [rng.sample(range(rank), rank)]
        self.tiles, extent = [], [1] * rank
        for _ in range(rng.choice([0, 0, 1, 2])):
            extent = [e * rng.choice([1, 2, 4]) for e in extent]
            self.tiles.insert(0, list(extent))
            self.orders.append(rng.sample(range(rank), rank))
        self.pad = rng.choice([0, 0, 1, 4, 8])
        self.swizzle, self.bytes = None, 0
        kind = rng.randrange(4)
        if kind == 1:
            bits = rng.choice([1, 2, 3])
            self.swizzle = (bits, rng.choice([0, 1, 2, 3]), rng.choice([bits, bits + 1, bits + 2]))
        if kind == 2:
            self.bytes = rng.choice([32, 64, 128])
            self.swizzle = ({32: 1, 64: 2, 128: 3}[self.bytes], {1: 4, 2: 3, 4: 2, 8: 1}[self.size], 3)

    def word(self):
        def order(o, default):
            if o == list(range(self.rank)):
                return default
            return "col" if o == list(range(self.rank))[::-1] else "".join(map(str, o))

        word = order(self.orders[0], "row")
        for tile, inner in zip(self.tiles, self.orders[1:]):
            word += "/" + "x".join(map(str, tile)) + ("" if inner == list(range(self.rank)) else ":" + order(inner, ""))
        word += f"+{self.pad}" if self.pad else ""
        if self.bytes:
            return word + f"^{self.bytes}"
        return word + ("^%d,%d,%d" % self.swizzle if self.swizzle else "")

    def offset(self, shape, index):
        """By walking from the outermost tile to the innermost."""
        total, whole = 0, list(shape)
        inside = list(index)
        for level, order in enumerate(self.orders):
            tile = self.tiles[level] if level < len(self.tiles) else [1] * self.rank
            number = [-(-w // t) for w, t in zip(whole, tile)]
            place = 0
            for d in order:
                place = place * number[d] + inside[d] // tile[d]
            below = 1  # elements of one of these tiles, with the pads behind the innermost ones
            if level < len(self.tiles):
                below = self.span(level + 1, tile)
                total += place * below
            elif self.tiles or self.rank == 0:
                total += place
            else:  # without tiles the pad lies behind each line
                line = number[order[-1]]
                total += place // line * (line + self.pad) + place % line
            inside = [i % t for i, t in zip(inside, tile)]
            whole = tile
        if self.swizzle:
            bits, base, shift = self.swizzle
            total ^= ((total >> shift >> base) & ((1 << bits) - 1)) << base
        return total

    def span(self, level, shape):
        tile = self.tiles[level] if level < len(self.tiles) else None
        if tile is None:
            elements = 1
            for e in shape:
                elements *= e
            return elements + self.pad
        count = 1
        for e, t in zip(shape, tile):
            count *= -(-e // t)
        return count * self.span(level + 1, tile)


def run(arguments, **more):
    return subprocess.run(arguments, capture_output=True, text=True, **more)


def cugen(folder, *arguments, codes=(0,)):
    done = run([CUGEN, *arguments], cwd=folder)
    if done.returncode not in codes:
        sys.exit(f"cugen {' '.join(arguments)}: {done.returncode}\n{done.stderr}")
    return done.stdout


class Array:
    def __init__(self, rng, number):
        self.name, self.dtype = f"s{number}", rng.choice(list(SIZES))
        rank = rng.choice([1, 2, 2, 2, 3])
        most = {1: 300, 2: 20, 3: 6}[rank] if self.dtype != "f64" else {1: 150, 2: 12, 3: 5}[rank]
        self.shape = [rng.randint(1, most) for _ in range(rank)]
        self.layout = Layout(rng, rank, self.dtype)
        self.stages = rng.choice([1, 1, 3]) if SIZES[self.dtype] < 8 else 1
        steps = [rng.choice([f"lane % {e}", f"lane // 4 % {e}", f"lane * 3 % {e}", f"lane % 8 * 2 % {e}", "0"]) for e in self.shape]
        self.access = rng.choice(["row", "col" if rank > 1 else "row", ", ".join(steps), ", ".join(steps)])

    def lanes(self):
        """The indices of each lane."""
        out = []
        for lane in range(32):
            if self.access not in ("row", "col"):
                out.append([eval(e, {"lane": lane}) for e in self.access.split(",")])
                continue
            order = list(range(len(self.shape)))[::-1]
            if self.access == "col":
                order[0], order[1] = order[1], order[0]
            left, at = lane, [0] * len(self.shape)
            for d in order[:-1]:
                at[d], left = left % self.shape[d], left // self.shape[d]
            at[order[-1]] = left
            out.append(at)
        return out

    def declaration(self):
        stages = f", stages = {self.stages}" if self.stages > 1 else ""
        shape = ", ".join(map(str, self.shape))
        return f'shared "{self.name}" {{ dtype = "{self.dtype}", shape = {{ {shape} }}, layout = "{self.layout.word()}"{stages} }},'

    def reading(self):
        """The access of each lane, as a table of its indices. Lanes outside of the array do not read."""
        table = self.lanes()
        rows = "; ".join(
            "const int %s_%d[32] = {%s}" % (self.name, d, ", ".join(str(at[d]) for at in table))
            for d in range(len(self.shape)))
        inside = " && ".join(f"{self.name}_{d}[lane] < {e}" for d, e in enumerate(self.shape))
        at = ", ".join((["0"] if self.stages > 1 else []) + [f"{self.name}_{d}[lane]" for d in range(len(self.shape))])
        return f"  {rows};\n  if ({inside}) {{ volatile {TYPES[self.dtype]} *from = (volatile {TYPES[self.dtype]} *){self.name}.at({at}); sum += *from != 0; }}\n"


TYPES = {"u8": "unsigned char", "f16": "unsigned short", "f32": "float", "f64": "double"}


def write(folder, arrays, rules=()):
    with open(os.path.join(folder, "k.lua"), "w") as out:
        out.write('kernel "k" {\n  output "y" { dtype = "f32", shape = { 32 } }, reference "none",\n'
                  '  implementation "i" {\n    template "k.cu", grid { 1 }, block { 32 },\n    ')
        out.write("\n    ".join([a.declaration() for a in arrays] + list(rules)) + "\n  },\n}\n")
    with open(os.path.join(folder, "k.cu"), "w") as out:
        out.write("__global__ void k(float *y) {\n  const int lane = threadIdx.x;\n  float sum = 0;\n")
        for a in arrays:
            out.write(f"  for (int i = lane; i < (int)(sizeof {a.name}.data / sizeof({TYPES[a.dtype]})); i += 32) "
                      f"(({TYPES[a.dtype]} *){a.name}.data)[i] = 0;\n")
        out.write("  __syncthreads();\n" + "".join(a.reading() for a in arrays) + "  y[lane] = sum;\n}\n")


def emitted(folder, arrays):
    """The offsets that the emitted source computes, compiled as plain C++."""
    source = cugen(folder, "gen", "k.lua", "-q")
    structs = re.findall(r"^struct alignas.*?^};", source, re.S | re.M)
    program = "#include <stdio.h>\n#define __device__\ntypedef unsigned short __half;\n" \
        "static unsigned __cvta_generic_to_shared(const void *) { return 0; }\n" + "\n".join(structs) + "\n"
    program += "".join(f"{a.name}_array {a.name};\n" for a in arrays) + "int main() {\n"
    for a in arrays:
        names = [f"i{d}" for d in range(len(a.shape))]
        loops = "".join(f"for (int {n} = 0; {n} < {e}; {n}++) " for n, e in zip(names, a.shape))
        at = ", ".join((["0"] if a.stages > 1 else []) + names)
        program += f'  {loops}printf("%d ", (int)({a.name}.at({at}) - (decltype({a.name}.at({at}))){a.name}.data));\n  puts("");\n'
    with open(os.path.join(folder, "main.cpp"), "w") as out:
        out.write(program + "}\n")
    done = run(["c++", "-std=c++17", "-O0", "-o", "main", "main.cpp"], cwd=folder)
    if done.returncode:
        sys.exit(done.stderr)
    return [[int(n) for n in line.split()] for line in run(["./main"], cwd=folder).stdout.splitlines()]


def indices(shape):
    if not shape:
        return [[]]
    return [[i, *rest] for i in range(shape[0]) for rest in indices(shape[1:])]


def check(folder, arrays, seed):
    write(folder, arrays)
    found = {a["name"]: a for a in json.loads(cugen(folder, "layout", "k.lua", "--json", "-q"))["arrays"]}
    for a, got in zip(arrays, emitted(folder, arrays)):
        slow = [a.layout.offset(a.shape, at) for at in indices(a.shape)]
        what = f"seed {seed}: {a.declaration()}"
        assert len(set(slow)) == len(slow), f"{what}: two elements share an offset"
        assert found[a.name]["offsets"] == slow, f"{what}: cugen layout {found[a.name]['offsets']} {slow}"
        assert got == slow, f"{what}: the source {got} {slow}"
        assert max(slow) * a.layout.size < found[a.name]["bytes"], f"{what}: out of bounds"
    report = json.loads(cugen(folder, "check", "k.lua", "--json", "-q", codes=(0, 11)))
    assert not [f for f in report["findings"]], report["findings"]
    traffic = {t["array"]: t for t in report["traffic"] if t["access"] == "read"}
    rules = []
    for a in arrays:
        counted = json.loads(cugen(folder, "layout", "k.lua", "--array", a.name, "--access", a.access, "--json", "-q"))
        access, ran = counted["arrays"][0]["accesses"][0], traffic.get(a.name)
        assert (ran is not None) == (access["lanes"] > 0), f"seed {seed}: {a.declaration()} {a.access}: {access} {ran}"
        assert not ran or ran["requests"] == 1 and (access["passes"], access["least"]) == (ran["needed"], ran["ideal"]), \
            f"seed {seed}: {a.declaration()} {a.access}: {access} {ran}"
        ways = -(-access["passes"] // access["least"]) if access["lanes"] else 1
        rules.append(f'''where "conflicts('{a.name}', '{a.access}') == {ways}",''')
    write(folder, arrays, rules)
    cugen(folder, "gen", "k.lua", "-q")  # no variant is left if a rule is wrong


def main():
    for seed in range(BATCHES):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            check(folder, [Array(rng, n) for n in range(ARRAYS)], seed)
    print(f"{BATCHES * ARRAYS} layouts and accesses agree")


if __name__ == "__main__":
    main()
