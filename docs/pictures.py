"""Draws the pictures of the book and of the README, as SVG on standard output.

    WEFT=target/debug/weft python3 docs/pictures.py NAME

What is drawn is asked of `weft`: layouts are read by `weft layout`, and the wavefronts that a picture shows,
which are counted here word by word, must be those of `weft conflicts`, or nothing is drawn.
A picture has its own ground, for light and for dark pages, and black text on every coloured cell.
"""

import json
import math
import os
import subprocess
import sys
from html import escape

BANKS = 32
SHAPE = "16x32"
STORE = "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 16, dim1: 32]"
LOAD = "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]"

STYLE = """
.weft{color-scheme:light dark}
.weft text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-size:13px;fill:#1f2328}
.weft .in{font-size:10px;fill:#000;text-anchor:middle;font-variant-numeric:tabular-nums}
.weft .small{font-size:11px}.weft .big{font-size:15px;font-weight:600}.weft .mid{text-anchor:middle}.weft .end{text-anchor:end}
.weft .page{fill:#fff}.weft .frame{fill:none;stroke:#1f2328;stroke-width:1.5}
.weft .ring{fill:none;stroke:#000;stroke-width:2}.weft .dot{fill:#000}
.weft .empty{fill:#eef1f4}.weft .line{stroke:#59636e;fill:none;stroke-width:1.25}
.weft .one{fill:#7fb2ff}.weft .fold{fill:#ffb454}.weft .good{fill:#1a7f37}.weft .bad{fill:#b3261e}
@media (prefers-color-scheme:dark){.weft text{fill:#f0f6fc}.weft .in{fill:#000}.weft .page{fill:#0d1117}
.weft .frame{stroke:#f0f6fc}.weft .empty{fill:#21262d}.weft .line{stroke:#9198a1}.weft .good{fill:#56d364}.weft .bad{fill:#ff9b92}}
"""


def weft(*arguments):
    """The answer of a command of `weft`."""
    command = [os.environ.get("WEFT", "weft"), *arguments, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


class Layout:
    """A layout as `weft` reads it: the image of each bit of each axis."""

    def __init__(self, text):
        self.text = text
        self.bases = weft("layout", text, "--shape", SHAPE, "--element", "f32")["bases"]

    def at(self, **place):
        """The row and column at a place: the exclusive-or of the images of its bits."""
        row = column = 0
        for axis, value in place.items():
            for bit, image in enumerate(self.bases[axis]):
                if value >> bit & 1:
                    row, column = row ^ image[0], column ^ image[1]
        return row, column


class Memory:
    """A memory of the 16 by 32 tile: its text for `weft`, and the word in which an element lies."""

    def __init__(self, name, formula, text, word=None):
        self.name, self.formula, self.text = name, formula, text
        self.title = formula if name in formula else f"{name}: {formula}"
        if word is None:
            layout = Layout(text)
            words = {layout.at(offset=offset): offset for offset in range(512)}
            word = lambda row, column: words[row, column]
        self.word = word

    def queues(self, layout, kind="load", register=0):
        """Which lanes wait at each bank, wavefront by wavefront, in one instruction."""
        asked = [{} for _ in range(BANKS)]
        for lane in range(32):
            word = self.word(*layout.at(register=register, lane=lane))
            asked[word % BANKS].setdefault(word, lane)
        queues = [list(words.values()) for words in asked]
        told = weft("conflicts", "--shape", SHAPE, "--element", "f32", "--kind", kind,
                    "--registers", layout.text, "--memory", self.text)
        if told["vector_bytes"] == 4:
            deepest = max(map(len, queues))
            if deepest * told["instructions"] != told["wavefronts"]:
                raise SystemExit(f"{self.name}: {deepest} wavefronts counted, {told} told")
        return queues


def folded(name, formula, *images):
    """Rows of 32 words whose row bits flip the column bits `images`."""
    rows = " ".join(f"({1 << bit},{image})" for bit, image in enumerate(images))
    text = f"[offset: (0,1) (0,2) (0,4) (0,8) (0,16) {rows}] -> [dim0: 16, dim1: 32]"
    return Memory(name, formula, text)


def padded(gap):
    text = f"#ttg.padded_shared<[32:+{gap}] {{order = [1, 0], shape = [16, 32]}}>"
    width = 32 + gap
    return Memory(f"rows of {width} words", f"{width}·m + n", text, lambda row, column: width * row + column)


MEMORIES = {
    "row_major": lambda: folded("row-major", "bank = n", 0, 0, 0, 0),
    "xor_m": lambda: folded("n ⊕ m", "bank = n ⊕ m", 1, 2, 4, 8),
    "xor_2m": lambda: folded("n ⊕ 2m", "bank = n ⊕ 2m", 2, 4, 8, 16),
    "rows_of_33": lambda: padded(1),
    "rows_of_34": lambda: padded(2),
}


def colour(index, count=BANKS):
    """Neighbours share a hue, and the odd one is darker; black text is legible on both."""
    lightness, chroma = ((0.82, 0.115), (0.64, 0.125))[index % 2]
    angle = 2 * math.pi * (index // 2) / (count / 2)
    a, b = chroma * math.cos(angle), chroma * math.sin(angle)
    cubes = [
        (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
        (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3,
    ]
    rows = ((4.0767416621, -3.3077115913, 0.2309699292), (-1.2684380046, 2.6097574011, -0.3413193965),
            (-0.0041960863, -0.7034186147, 1.7076147010))
    linear = [max(0.0, min(1.0, sum(x * y for x, y in zip(row, cubes)))) for row in rows]
    gamma = [12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055 for x in linear]
    return "#" + "".join(f"{round(255 * x):02x}" for x in gamma)


class Picture:
    """An SVG that grows as things are put on it."""

    def __init__(self, title, description):
        self.title, self.description, self.parts = title, description, []
        # Coloured cells lie beneath everything else; those of one colour are one path.
        self.cells = {}
        self.width = self.height = 0

    def grow(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def cell(self, x, y, width, height, fill):
        self.cells.setdefault(fill, []).append(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z")
        self.grow(x + width, y + height)

    def box(self, x, y, width, height, kind):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>')
        self.grow(x + width, y + height)

    def text(self, x, y, words, kind=""):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>')
        # Sans-serif letters are narrower than 0.56 of their size.
        if not {"in", "mid", "end"} & set(kind.split()):
            self.grow(x + len(words) * (8.2 if "big" in kind else 5.9 if "small" in kind else 7.2), y + 4)

    def ring(self, x, y, size):
        self.parts.append(f'<circle class="ring" cx="{x:g}" cy="{y:g}" r="{size:g}"/>')

    def dot(self, x, y, size):
        self.parts.append(f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{size:g}"/>')

    def line(self, *points):
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline class="line" points="{path}"/>')

    def __str__(self):
        width, height = math.ceil(self.width) + 16, math.ceil(self.height) + 16
        style = STYLE.replace("\n", "")
        cells = [f'<path fill="{fill}" d="{"".join(paths)}"/>' for fill, paths in self.cells.items()]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="weft" role="img" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}"><title>{escape(self.title)}</title>'
            f"<desc>{escape(self.description)}</desc><style>{style}</style>"
            f'<rect class="page" width="{width}" height="{height}"/>'
            + "\n".join([*cells, *self.parts]) + "</svg>"
        )


def tile(picture, x, y, memory, size, load=None, numbers=False, rows=16, step=0):
    """The tile, each element with the colour of its bank; what one load instruction asks is marked: a ring for
    lanes 0 to 15, a dot for the others."""
    for row in range(rows):
        for column in range(32):
            bank = memory.word(row, column) % BANKS
            left, top = x + size * column, y + size * row
            picture.cell(left, top, size, size, colour(bank))
            if numbers:
                picture.text(left + size / 2, top + size / 2 + 3.5, str(bank), "in")
    for lane in range(32 if load else 0):
        row, column = load.at(register=step, lane=lane)
        middle = x + size * (column + 0.5), y + size * (row + 0.5)
        picture.ring(*middle, size * 0.42 if numbers else size * 0.3) if lane < 16 else picture.dot(
            middle[0] + (size * 0.33 if numbers else 0), middle[1] - (size * 0.33 if numbers else 0),
            size * (0.13 if numbers else 0.22))
    picture.box(x, y, size * 32, size * rows, "frame")


def queue(picture, x, y, queues, size, high, lanes=False):
    """The banks from left to right and below each what it serves, a wavefront a row."""
    deepest = max(map(len, queues))
    for bank, waiting in enumerate(queues):
        for wavefront in range(deepest):
            left, top = x + size * bank, y + high * wavefront
            if wavefront < len(waiting):
                picture.cell(left, top, size, high, colour(bank))
                if lanes:
                    picture.text(left + size / 2, top + high / 2 + 3.5, str(waiting[wavefront]), "in")
            else:
                picture.box(left, top, size, high, "empty")
    picture.box(x, y, size * 32, high * deepest, "frame")
    return deepest


def wavefronts(count):
    return f"{count} wavefront" + ("" if count == 1 else "s")


def hero():
    """Three memories of one tile beside each other."""
    picture = Picture("One tile in three memories",
                      "A 16 by 32 tile of f32, each element coloured by its bank of shared memory, and below each tile "
                      "how the 32 banks serve one load instruction: 16, 2 and 1 wavefronts.")
    load, store = Layout(LOAD), Layout(STORE)
    size, x = 9, 16
    for name in ("row_major", "xor_m", "xor_2m"):
        memory = MEMORIES[name]()
        queues = memory.queues(load)
        memory.queues(store, "store")
        deepest = max(map(len, queues))
        picture.text(x, 32, memory.name, "big")
        tile(picture, x, 44, memory, size, load)
        picture.text(x, 214, f"one load: {wavefronts(deepest)}", "good" if deepest == 1 else "bad")
        queue(picture, x, 224, queues, size, size)
        x += 32 * size + 24
    picture.text(16, 394, "Colour: the bank. Ring and dot: what lanes 0 to 15 and 16 to 31 load in one instruction. Below: the banks, and the wavefronts it takes to serve them.", "small")
    return picture


def one_memory(name):
    memory = MEMORIES[name]()
    load = Layout(LOAD)
    queues = memory.queues(load)
    deepest = max(map(len, queues))
    idle = sum(1 for waiting in queues if not waiting)
    picture = Picture(f"The tile with {memory.formula}",
                      f"A 16 by 32 tile, each element with its bank. One load instruction takes {wavefronts(deepest)}; "
                      f"{idle} banks are idle.")
    picture.text(16, 30, memory.title, "big")
    tile(picture, 52, 46, memory, 20, load, numbers=True)
    for row in range(16):
        picture.text(44, 60 + 20 * row, f"row {row}", "small end")
    below = 46 + 20 * 16
    picture.text(52, below + 26, f"The banks 0 to 31 and the lanes that they serve: {wavefronts(deepest)}, {idle} banks idle",
                 "good" if deepest == 1 else "bad")
    queue(picture, 52, below + 36, queues, 20, 16, lanes=True)
    return picture


def staircase():
    """What exclusive-or does to a row, slot by slot."""
    picture = Picture("The staircase of n ⊕ m",
                      "The first eight rows; a cell is a slot of the row and shows which column lies there. "
                      "Row 1 swaps neighbours, row 2 pairs, row 4 fours.")
    memory = MEMORIES["xor_m"]()
    picture.text(16, 30, "Row m of the memory n ⊕ m: which column lies in which slot", "big")
    said = ["as it was", "⊕ 1: neighbours change places", "⊕ 2: pairs change places", "⊕ 3: both", "⊕ 4: fours change places",
            "⊕ 5", "⊕ 6", "⊕ 7: all three"]
    for row in range(8):
        column_at = {memory.word(row, column) % BANKS: column for column in range(32)}
        picture.text(52, 60 + 24 * row, f"row {row}", "end")
        for slot in range(16):
            left, top = 60 + 26 * slot, 44 + 24 * row
            picture.cell(left, top, 26, 22, colour(column_at[slot]))
            picture.text(left + 13, top + 15, str(column_at[slot]), "in")
        picture.text(60 + 26 * 16 + 12, 60 + 24 * row, said[row])
    return picture


def owners():
    """Which lane and register hold each element, in both layouts."""
    picture = Picture("Who holds what: the store and the load",
                      "The 16 by 32 tile twice. A colour is a lane, a number the register. In the store lane 9 owns "
                      "column 9; in the load it owns row 9 of every even column.")
    y = 16
    for name, text in (("The store: a lane for each column, a register for each row", STORE),
                       ("The load: a lane for each row of a pair of columns, a register for each pair", LOAD)):
        layout = Layout(text)
        picture.text(16, y + 14, name, "big")
        for lane in range(32):
            for register in range(16):
                row, column = layout.at(register=register, lane=lane)
                left, top = 16 + 20 * column, y + 26 + 16 * row
                picture.cell(left, top, 20, 16, colour(lane))
                picture.text(left + 10, top + 12, str(register), "in")
        for register in range(16):
            row, column = layout.at(register=register, lane=9)
            picture.box(16 + 20 * column + 1, y + 27 + 16 * row, 18, 14, "ring")
        picture.box(16, y + 26, 640, 256, "frame")
        y += 304
    picture.text(16, y + 6, "Colour: the lane. Number: the register. Framed: what lane 9 holds.", "small")
    return picture


def grid(picture, x, y, columns, rows, ones, kinds, cuts=()):
    """A matrix over F2: `ones` are (row, column) pairs, `kinds` says how each is filled."""
    size = 22
    for index, name in enumerate(columns):
        picture.text(x + size * (index + 0.5), y - 6, name, "small mid")
    for index, name in enumerate(rows):
        picture.text(x - 6, y + size * (index + 0.5) + 4, name, "small end")
    for row in range(len(rows)):
        for column in range(len(columns)):
            kind = kinds(row, column) if (row, column) in ones else "empty"
            picture.box(x + size * column + 1, y + size * row + 1, size - 2, size - 2, kind)
            if (row, column) in ones:
                picture.text(x + size * (column + 0.5), y + size * (row + 0.5) + 4, "1", "in")
    for cut in cuts:
        picture.line((x + size * cut, y - 18), (x + size * cut, y + size * len(rows)))
    picture.box(x, y, size * len(columns), size * len(rows), "frame")


SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
ELEMENT_BITS = [f"{axis}{bit}".translate(SUBSCRIPTS) for axis, count in (("n", 5), ("m", 4)) for bit in range(count)]


def ones_of(layout, axes):
    """The ones of a layout's matrix: the column bits of the tensor first, then the row bits."""
    images = [image for axis in axes for image in layout.bases[axis]]
    return {
        (bit if axis else bit + 5, place)
        for place, image in enumerate(images)
        for axis in (0, 1)
        for bit in range(5)
        if image[axis] >> bit & 1
    }


def accesses():
    """The matrices of the store and the load."""
    picture = Picture("The store and the load as matrices",
                      "Two matrices of nine rows, the bits of an element, and nine columns, four register bits and five "
                      "lane bits.")
    columns = [f"r{bit}".translate(SUBSCRIPTS) for bit in range(4)] + [f"t{bit}".translate(SUBSCRIPTS) for bit in range(5)]
    for x, name, text in ((16, "The store", STORE), (300, "The load", LOAD)):
        picture.text(x, 30, name, "big")
        grid(picture, x + 32, 68, columns, ELEMENT_BITS, ones_of(Layout(text), ("register", "lane")),
             lambda row, column: "one" if column > 3 else "fold", cuts=(4,))
    picture.text(16, 288, "A column is a bit of the register (r) or of the lane (t); its ones are the bits of the element that it flips.", "small")
    return picture


def matrices():
    """The matrices of the three memories."""
    picture = Picture("Three memories as matrices",
                      "Each has five bank bits, which are the identity onto the column bits, and four segment bits. "
                      "Unfolded a segment bit flips one row bit; folded it flips a column bit too.")
    columns = [f"b{bit}".translate(SUBSCRIPTS) for bit in range(5)] + [f"s{bit}".translate(SUBSCRIPTS) for bit in range(4)]
    x = 16
    for name in ("row_major", "xor_m", "xor_2m"):
        memory = MEMORIES[name]()
        picture.text(x, 30, memory.name, "big")
        grid(picture, x + 32, 68, columns, ELEMENT_BITS, ones_of(Layout(memory.text), ("offset",)),
             lambda row, column: "fold" if row < 5 <= column else "one", cuts=(5,))
        x += 264
    picture.text(16, 288, "Left of the line the bank bits, right of it the segment bits. Orange: what is folded in.", "small")
    return picture


def pairing():
    """The pairs of the construction, as `weft swizzle --trace` tells them."""
    trace = weft("swizzle", "--shape", SHAPE, "--element", "f32", "--store", STORE, "--load", LOAD, "--trace")["trace"]
    bit = lambda vector: "".join(
        name for name, on in zip(ELEMENT_BITS, [vector[1] >> b & 1 for b in range(5)] + [vector[0] >> b & 1 for b in range(4)]) if on)
    picture = Picture("The pairing",
                      "What both sides step along is left alone; each direction of the store alone is added to one of the "
                      "load alone, and the four sums are the segment bits.")
    picture.text(16, 30, "Directions of one access", "big")
    rows = (("the store's lanes", trace["store_phase"]), ("the load's lanes", trace["load_phase"]))
    shared = trace["shared"]
    for index, (name, vectors) in enumerate(rows):
        picture.text(16, 62 + 34 * index, name)
        for place, vector in enumerate(vectors):
            left = 150 + 56 * place
            picture.box(left, 44 + 34 * index, 48, 26, "fold" if vector in shared else "one")
            picture.text(left + 24, 62 + 34 * index, bit(vector), "in")
    picture.text(450, 62, "Orange: in both, left alone.")
    picture.text(16, 136, "A direction of the store alone with one of the load alone", "big")
    pairs = zip(trace["only_store"], trace["only_load"], trace["sums"], strict=True)
    for index, (mine, theirs, total) in enumerate(pairs):
        top = 150 + 34 * index
        for place, (words, kind) in enumerate(((bit(mine), "one"), ("⊕", None), (bit(theirs), "one"), ("=", None))):
            if kind:
                picture.box(150 + 56 * place, top, 48, 26, kind)
                picture.text(174 + 56 * place, top + 18, words, "in")
            else:
                picture.text(174 + 56 * place, top + 18, words, "mid")
        picture.box(374, top, 92, 26, "fold")
        picture.text(420, top + 18, bit(mine) + " ⊕ " + bit(theirs), "in")
        picture.text(480, top + 18, f"segment bit {index}")
        assert [a ^ b for a, b in zip(mine, theirs)] == list(total)
    return picture


def phases():
    """A load of 16 bytes a lane, served in four parts."""
    picture = Picture("One load of 16 bytes a lane, in four wavefronts",
                      "Lanes 0 to 7 are served first, then 8 to 15, 16 to 23, 24 to 31; each part has every bank once.")
    registers = "[register: (0,1) (0,2), lane: (0,4) (0,8) (0,16) (1,0) (2,0)] -> [dim0: 4, dim1: 32]"
    memory = "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0)] -> [dim0: 4, dim1: 32]"
    told = weft("conflicts", "--shape", "4x32", "--element", "f32", "--registers", registers, "--memory", memory)
    assert (told["vector_bytes"], told["wavefronts"], told["ideal"]) == (16, 4, 4), told
    picture.text(16, 30, "32 lanes load 16 bytes each: four parts, no conflict", "big")
    for part in range(4):
        picture.text(16, 62 + 26 * part, f"wavefront {part}")
        for bank in range(BANKS):
            left, top = 104 + 20 * bank, 46 + 26 * part
            picture.cell(left, top, 20, 22, colour(bank))
            picture.text(left + 10, top + 15, str(8 * part + bank // 4), "in")
    picture.text(104, 164, "The banks 0 to 31, and which lane each serves.", "small")
    return picture


PICTURES = {
    "hero": hero, "staircase": staircase, "owners": owners, "accesses": accesses, "matrices": matrices,
    "pairing": pairing, "phases": phases,
    **{name: lambda name=name: one_memory(name) for name in MEMORIES},
}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in PICTURES:
        raise SystemExit(f"usage: python3 docs/pictures.py {'|'.join(PICTURES)}")
    print(PICTURES[sys.argv[1]]())
