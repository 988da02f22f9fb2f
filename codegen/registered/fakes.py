"""What a fake kernel says of shapes and dtypes, as texts of a spec: dims that are always equal share a name, and a rank
that may grow is a star.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Any, TypeAlias

from codegen.frozen import dataclass
from codegen.registered.facts import TODO, Contract, Entry
from codegen.registered.trial import LENGTH, SIZE, Answer, Dtypes, Ranks, Size, Trial
from codegen.types import DTYPES, GROUPS

Symbols: TypeAlias = tuple[Size, ...]

_EXPRESSION = re.compile(r"[\w\s()+*/-]+")
_SYMBOL = re.compile(r"\bs\d+\b")
_DIMS = (*"nmkhbdclp", *(f"n{i}" for i in range(2, 40)))
_MAX_PLACES = 2000
_GROW = 2  # dims more, so that a star is no plain dim


def ask(overload: Any, arguments: Sequence[Entry]) -> tuple[Contract | None, str]:
    """The contract; or none, and what the last call said."""
    trial = Trial(overload, arguments)
    found = trial.find()
    return (None, trial.said) if found is None else (_Reading(trial, *found).contract(), "")


@dataclass(frozen=True)
class _Grown:
    """An answer for tensors some of which have dims more, and where: for each tensor, the place of its star or None."""

    answer: Answer
    places: tuple[int | None, ...]


class _Reading:
    """What the answers mean."""

    def __init__(self, trial: Trial, ranks: Ranks, dtypes: Dtypes, answer: Answer) -> None:
        self.trial, self.ranks, self.dtypes, self.answer = trial, ranks, dtypes, answer
        self.names: dict[Size, str] = {}  # of symbols
        self.stars: dict[Symbols, str] = {}
        self.taken = {one.name for one in trial.arguments} | {"T", "I", "M"}
        self.notes: list[str] = []

    def contract(self) -> Contract:
        grown = self.grown()
        inputs = self.inputs(grown)
        outputs = self.outputs(grown)
        types, of_inputs, of_outputs = self.variables()
        asked = zip(self.trial.asked, of_inputs, inputs, strict=True)
        given = zip(of_outputs, outputs, strict=True)
        return Contract(
            types,
            {one.name: f"{dtype}[{shape}]" for one, dtype, shape in asked},
            [f"{dtype}[{shape}]" for dtype, shape in given],
            self.notes,
        )

    # -------------------------------------------------------- stars

    def grown(self) -> _Grown:
        """The answer from which shapes are read: with every star that there is, or with none."""
        groups = self.groups()
        while groups:
            more = tuple(_GROW * any(i in group for group in groups) for i in range(len(self.ranks)))
            answer = self.trial.call(_sum(self.ranks, more), self.dtypes)
            for places in self.places(more) if answer is not None else ():
                if answer is not None and self.fit(answer, places, groups):
                    return _Grown(answer, places)
            groups = groups[:-1]
        answer = self.trial.call(self.ranks, self.dtypes) or self.answer
        return _Grown(answer, (None,) * len(self.ranks))

    def groups(self) -> list[tuple[int, ...]]:
        """Tensors whose ranks grow together, by as many dims as one likes."""
        found: list[tuple[int, ...]] = []
        for group in _subsets(len(self.ranks), self.ranks):
            if any(set(group) & set(other) for other in found):
                continue
            steps = [tuple(step * (i in group) for i in range(len(self.ranks))) for step in (1, _GROW)]
            if all(self.trial.call(_sum(self.ranks, step), self.dtypes) is not None for step in steps):
                found.append(group)
        return found

    def places(self, more: Ranks) -> Iterator[tuple[int | None, ...]]:
        """Where stars may stand, in front first."""
        ranks = zip(self.ranks, more, strict=True)
        yield from islice(product(*(range(rank + 1) if grows else (None,) for rank, grows in ranks)), _MAX_PLACES)

    def fit(self, answer: Answer, places: Sequence[int | None], groups: Sequence[Sequence[int]]) -> bool:
        """Whether the plain dims are equal to each other as they were without stars, and stars of a group are equal."""
        plain = [_plain(sizes, place) for sizes, place in zip(answer.inputs, places, strict=True)]
        if _pattern(plain) != _pattern(self.answer.inputs):
            return False
        return all(len({_star(answer.inputs[i], places[i]) for i in group}) == 1 for group in groups)

    # -------------------------------------------------------- shapes

    def inputs(self, grown: _Grown) -> list[str]:
        """The shapes of the tensors, without brackets."""
        for name, symbol in grown.answer.sizes.items():
            self.names.setdefault(symbol, name)
        texts = []
        for one, sizes, place in zip(self.trial.asked, grown.answer.inputs, grown.places, strict=True):
            plain = _plain(sizes, place)
            entries = [""] * len(plain)
            for i in reversed(range(len(plain))):  # the last one is called n, as usual
                entries[i] = self.dim(plain[i])
            if place is not None:
                star = _star(sizes, place)
                if star not in self.stars:
                    self.stars[star] = (
                        self.free("rows", "batch", "outer") if plain else self.free("shape", f"{one.name}_shape")
                    )
                entries.insert(place, f"*{self.stars[star]}")
            texts.append(", ".join(entries))
        return texts

    def dim(self, size: Size) -> str:
        """The name of a plain dim. A number may be what every size was in that call, and says nothing then."""
        if not _SYMBOL.fullmatch(size):
            return self.free(*_DIMS) if size == str(SIZE) else size
        if size not in self.names:
            self.names[size] = self.free(*_DIMS)
        return self.names[size]

    def free(self, *names: str) -> str:
        numbered = (f"{names[0]}{i}" for i in range(2, 100))
        name = next(one for one in (*names, *numbered) if one not in self.taken)
        self.taken.add(name)
        return name

    def outputs(self, grown: _Grown) -> list[str]:
        """The shapes of what is returned, without brackets; TODO where they cannot be told."""
        texts = [TODO if sizes is None else self.output(sizes) for sizes in grown.answer.outputs]
        ranks = tuple(map(len, grown.answer.inputs))
        for other in (self.trial.call(ranks, self.dtypes, integer=2), self.trial.call(ranks, self.dtypes, flag=True)):
            if other is None:
                continue
            if not _same_outputs(grown.answer, other):
                self.notes.append("shapes of outputs depend on arguments that are no tensors")
                return [TODO for _ in texts]
        return texts

    def output(self, sizes: Symbols) -> str:
        entries: list[str] = []
        at = 0
        while at < len(sizes):
            text, star = self.size(sizes[at]), sizes[at : at + _GROW]
            if not text and star not in self.stars:
                return TODO
            entries.append(text or f"*{self.stars[star]}")
            at += 1 if text else _GROW
        return TODO if sum(entry.startswith("*") for entry in entries) > 1 else ", ".join(entries)

    def size(self, size: Size) -> str:
        """One size of an output, "" where it cannot be told."""
        lists = [one for one in self.trial.asked if one.is_list]
        if size == str(LENGTH) and lists:
            return f"len({lists[0].name})"
        if size == str(SIZE) or not _EXPRESSION.fullmatch(size):
            return ""
        for star, name in self.stars.items():
            for product_of in ("*".join(star), "*".join(reversed(star))):
                size = re.sub(rf"(?<![\w*]){re.escape(product_of)}(?![\w*])", name, size)
        size = _SYMBOL.sub(lambda found: self.names.get(found[0], found[0]), size)
        known = {*self.names.values(), *self.stars.values()}
        return size if known.issuperset(re.findall(r"[A-Za-z_]\w*", size)) else ""

    # -------------------------------------------------------- dtypes

    def variables(self) -> tuple[dict[str, str], list[str], list[str]]:
        """`types:`, and the dtypes of the tensors and of what is returned."""
        base = "float32" if "float32" in self.dtypes else self.dtypes[0] if self.dtypes else ""
        main = [i for i, dtype in enumerate(self.dtypes) if dtype == base]
        rest = [i for i in range(len(self.dtypes)) if i not in main]
        types: dict[str, str] = {}
        found = list(self.dtypes)
        seen: dict[str, Dtypes] = {}
        if main:
            wide = self.accumulated(main)
            answers = {dtype: self.trial.call(self.ranks, self.with_dtype(main, dtype, wide)) for dtype in DTYPES}
            seen = {dtype: answer.dtypes for dtype, answer in answers.items() if answer is not None}
            types |= self.variable("T", [i for i in main if i not in wide], [*seen], found)
            for i in wide:
                found[i] = "acc(T)"
        if rest:
            taken = [one for one in DTYPES if self.trial.call(self.ranks, self.with_dtype(rest, one)) is not None]
            types |= self.variable("I", rest, taken, found)
        returned = [self.output_dtype(i, types, seen) for i in range(len(self.answer.outputs))]
        if "bool" in (*found, *returned):  # bool[...] would be a list of bools
            types["M"] = "bool"
            found, returned = (["M" if dtype == "bool" else dtype for dtype in dtypes] for dtypes in (found, returned))
        return types, found, returned

    def accumulated(self, main: Sequence[int]) -> Sequence[int]:
        """The tensors that have to be of the accumulation dtype: those that stay float32 where others are bfloat16."""
        if (
            self.dtypes[main[0]] != "float32"
            or self.trial.call(self.ranks, self.with_dtype(main, "bfloat16")) is not None
        ):
            return ()
        for size in range(1, min(len(main), 4)):
            for wide in combinations(reversed(main), size):
                if self.trial.call(self.ranks, self.with_dtype(main, "bfloat16", wide)) is not None:
                    with_float64 = self.trial.call(self.ranks, self.with_dtype(main, "float64", wide))
                    return wide if with_float64 is not None else ()
        return ()

    def with_dtype(self, places: Sequence[int], dtype: str, wide: Sequence[int] = ()) -> Dtypes:
        """The dtypes with these ones changed; `wide` are those of the accumulation dtype."""
        acc = DTYPES[dtype].acc
        return tuple(acc if i in wide else dtype if i in places else kept for i, kept in enumerate(self.dtypes))

    def variable(self, name: str, places: Sequence[int], taken: Sequence[str], found: list[str]) -> dict[str, str]:
        """The entry of `types:`, if any; `found` gets the dtypes of these tensors."""
        base = self.dtypes[places[0]]
        group = next((group for group, dtypes in GROUPS.items() if set(dtypes) == set(taken)), "")
        listed = ", ".join(self.trial.asked[i].name for i in places)
        floats = [dtype for dtype, info in DTYPES.items() if info.category in ("floating", "float8")]
        if [*taken] == floats:  # it asked is_floating_point()
            self.notes.append(f"the fake kernel takes float8 of {listed}, too")
            group, taken = "floating", GROUPS["floating"]
        if len(taken) == len(DTYPES):  # a kernel that looks at no dtype
            self.notes.append(f"the fake kernel takes any dtype of {listed}")
            group, taken = "floating", GROUPS["floating"]
        if name == "I" and base != "bool":
            group, taken = "", [dtype for dtype in taken if dtype in ("int32", "int64")]
        if len(taken) < 2:
            for i in places:
                found[i] = base
            return {}
        for i in places:
            found[i] = name
        return {name: group or f"[{', '.join(taken)}]"}

    def output_dtype(self, i: int, types: Mapping[str, str], seen: Mapping[str, tuple[str, ...]]) -> str:
        """T, acc(T) or a dtype; TODO for what is none of them."""
        listed = types.get("T", "")
        wanted = GROUPS.get(listed) or listed.strip("[]").split(", ")
        pairs = {dtype: dtypes[i] for dtype, dtypes in seen.items() if dtype in wanted}
        if not self.answer.dtypes[i]:  # it was not there
            return "T"
        if "T" not in types or not pairs:
            return self.answer.dtypes[i]
        if all(dtype == given for dtype, given in pairs.items()):
            return "T"
        if len(set(pairs.values())) == 1:
            return next(iter(pairs.values()))
        return "acc(T)" if all(DTYPES[dtype].acc == given for dtype, given in pairs.items()) else TODO


def _sum(ranks: Ranks, more: Sequence[int]) -> Ranks:
    return tuple(rank + step for rank, step in zip(ranks, more, strict=True))


def _subsets(count: int, ranks: Ranks) -> Iterator[tuple[int, ...]]:
    """Sets of tensors, small ones first; of many tensors only some."""
    if count <= 6:
        for size in range(1, count + 1):
            yield from combinations(range(count), size)
        return
    yield from ((i,) for i in range(count))
    for rank in sorted(set(ranks)):
        yield tuple(i for i in range(count) if ranks[i] == rank)
    yield tuple(range(count))


def _plain(sizes: Symbols, place: int | None) -> Symbols:
    return sizes if place is None else sizes[:place] + sizes[place + _GROW :]


def _star(sizes: Symbols, place: int | None) -> Symbols:
    return () if place is None else sizes[place : place + _GROW]


def _same_outputs(one: Answer, other: Answer) -> bool:
    """Whether outputs that are there in both have the same sizes, in terms of those of the inputs."""
    dims = [zip(*pair, strict=True) for pair in zip(one.inputs, other.inputs, strict=True)]
    names = {before: after for pairs in dims for before, after in pairs}
    names |= {before: other.sizes[name] for name, before in one.sizes.items()}

    def renamed(size: Size) -> Size:
        return _SYMBOL.sub(lambda found: names.get(found[0], ""), size)

    return all(
        before is None or after is None or tuple(map(renamed, before)) == after
        for before, after in zip(one.outputs, other.outputs, strict=True)
    )


def _pattern(shapes: Sequence[Symbols]) -> list[list[str]]:
    """Shapes with their symbols numbered in the order in which they come, so that two answers can be compared."""
    numbers: dict[str, str] = {}

    def number(size: Size) -> str:
        return _SYMBOL.sub(lambda found: numbers.setdefault(found[0], f"#{len(numbers)}"), size)

    return [[number(size) for size in shape] for shape in shapes]
