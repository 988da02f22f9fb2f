"""How fast operators are to be, and whether they are.

A target is a ratio, or a time, that the worst of its shapes is held against. Ratios are of kernels on a GPU, of calls
on the CPU.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .measured import OURS, Row, Table

Value = Callable[[Row], float | None]
NORMS = ("rms_norm", "layer_norm")
GATED = ("silu_mul", "gelu_mul")
QUANTIZING = ("quantize_per_token", "rms_norm_quantize")
FULL = ("wide", "odd")
EVERYWHERE = ("wide", "odd", "few", "decode")


@dataclass(frozen=True)
class Target:
    """`value` of each row is at least `limit`, or at most with `most`. `what` and `unit` say it in words."""

    operators: tuple[str, ...]
    kind: str
    what: str
    limit: float
    value: Value
    groups: tuple[str, ...] = ("wide",)
    widths: tuple[int, int] = (0, 1 << 40)
    most: bool = False
    unit: str = ""

    @property
    def wanted(self) -> str:
        return f"{'<=' if self.most else '>='} {self.limit:g}{self.unit and ' ' + self.unit}"


@dataclass(frozen=True)
class Verdict:
    """What one operator's worst shape is; `missed` by how much, in parts of the limit, and 0 where it is met."""

    target: Target
    operator: str
    worst: float
    row: Row
    missed: float

    @property
    def met(self) -> bool:
        return self.missed == 0

    @property
    def peer(self) -> str:
        """Who is the best peer at the worst shape, of a target that is about it."""
        best = self.row.best() if self.target.value is _best else None
        return best[1] if best else ""


def verdicts(table: Table, targets: Iterable[Target]) -> list[Verdict]:
    """Of each operator of each target that was measured."""
    found = []
    for target in targets:
        for operator in target.operators or table.operators:
            low, high = target.widths
            rows = [row for row in table.of([operator], target.kind, target.groups) if low <= row.n <= high]
            values = [(value, row) for row in rows if (value := target.value(row)) is not None]
            if values:
                worst, at = (max if target.most else min)(values, key=lambda pair: pair[0])
                missed = (worst - target.limit if target.most else target.limit - worst) / target.limit
                found.append(Verdict(target, operator, worst, at, max(0.0, missed)))
    return found


def _share(row: Row) -> float | None:
    return row.share()


def _kernel(row: Row) -> float | None:
    return row.time(OURS)


def _best(row: Row) -> float | None:
    found = row.best()
    return None if found is None else found[0]


def _over(peer: str, metric: str = "kernel") -> Value:
    return lambda row: row.against(peer, metric)


def _others(row: Row) -> float | None:
    """The fastest peer but QuACK."""
    return min(
        (ratio for peer in row.entries if peer != "QuACK" and (ratio := row.against(peer)) is not None), default=None
    )


def _more_host(row: Row) -> float | None:
    """Microseconds of the host more than ATen."""
    ours, aten = row.time(OURS, "host"), row.time("ATen", "host")
    return None if ours is None or aten is None else ours - aten


def _ceiling(operators: tuple[str, ...], kind: str, shares: tuple[float, float, float, float]) -> list[Target]:
    ranges = ((64, 256), (257, 1023), (1024, 16384), (16385, 65536))
    names = ("N 64 to 256", "N 512", "N 1,024 to 16,384", "N 32,768 and 65,536")
    return [
        Target(operators, kind, f"of the ceiling, {name}", share, _share, widths=widths)
        for name, widths, share in zip(names, ranges, shares, strict=True)
    ]


def _flat(operators: tuple[str, ...], kind: str, share: float) -> list[Target]:
    return [Target(operators, kind, "of the ceiling, any N", share, _share)]


def _peer(
    operators: tuple[str, ...], kind: str, name: str, value: Value, least: float, where: str = ""
) -> list[Target]:
    groups = EVERYWHERE if where == "everywhere" else FULL
    return [Target(operators, kind, f"{name}{where and ', ' + where}", least, value, groups)]


GPU: list[Target] = [
    *_ceiling(NORMS, "forward", (0.96, 0.97, 0.97, 0.96)),
    *_peer(NORMS, "forward", "the best peer over ours", _best, 0.97, "everywhere"),
    *_peer(NORMS, "forward", "ATen over ours", _over("ATen"), 1.15),
    *_ceiling(NORMS, "backward", (0.86, 0.88, 0.90, 0.86)),
    *_peer(NORMS, "backward", "ATen over ours", _over("ATen"), 1.9),
    *_peer(NORMS, "backward", "QuACK over ours", _over("QuACK"), 1.1, "everywhere"),
    *_ceiling(("add_rms_norm",), "forward", (0.90, 0.92, 0.95, 0.92)),
    *_peer(("add_rms_norm",), "forward", "the best peer over ours", _best, 1.0, "everywhere"),
    *_flat(GATED, "forward", 0.95),
    *_flat(GATED, "backward", 0.92),
    *_peer(GATED, "forward", "the best peer over ours", _best, 1.0, "everywhere"),
    *_peer(GATED, "backward", "the best peer over ours", _best, 1.0, "everywhere"),
    *_flat(("rope",), "forward", 0.92),
    *_flat(("rope",), "backward", 0.92),
    *_peer(("rope",), "forward", "the best peer over ours", _best, 1.0, "everywhere"),
    *_peer(("rope",), "forward", "ATen over ours", _over("ATen"), 4.0),
    *_flat(("softmax",), "forward", 0.93),
    *_flat(("softmax",), "backward", 0.88),
    *_peer(("softmax",), "forward", "compile over ours", _over("compile"), 1.3),
    *_peer(("softmax",), "forward", "QuACK over ours", _over("QuACK"), 1.0, "everywhere"),
    *_peer(("softmax",), "backward", "QuACK over ours", _over("QuACK"), 1.0, "everywhere"),
    *_flat(("cross_entropy_gradient_",), "forward", 0.92),
    *_peer(("cross_entropy_gradient_",), "forward", "QuACK over ours", _over("QuACK"), 1.0, "everywhere"),
    *_peer(("cross_entropy_gradient_",), "forward", "the best other than QuACK over ours", _others, 2.0),
    *_flat(QUANTIZING, "forward", 0.88),
    *_peer(QUANTIZING, "forward", "compile over ours", _over("compile"), 1.2),
    *_peer((), "forward", "no bad shape: the best peer over ours", _best, 0.95, "everywhere"),
    *_peer((), "backward", "no bad shape: the best peer over ours", _best, 0.95, "everywhere"),
]
for _operators, _kind, _limit in (
    (("rms_norm",), "forward", 1.9),
    (("rms_norm",), "backward", 4.5),
    (("add_rms_norm",), "forward", 2.3),
    (("silu_mul",), "forward", 1.9),
):
    GPU.append(Target(_operators, _kind, "one to 64 rows", _limit, _kernel, ("decode",), most=True, unit="us"))
# where ATen, too, is one launch forward
for _kind, _limit in (("forward", 1.5), ("backward", 8.0)):
    _what = "host time of a call more than ATen's"
    GPU.append(
        Target(("square", *NORMS, "softmax"), _kind, _what, _limit, _more_host, ("decode",), most=True, unit="us")
    )

LARGE = ("large",)
CPU: list[Target] = [
    Target((), "forward", "of memcpy", 0.85, _share, LARGE),
    Target((), "backward", "of memcpy", 0.85, _share, LARGE),
    Target(("layer_norm",), "forward", "ATen over ours", 1.0, _over("ATen", "felt"), LARGE),
    Target(("rms_norm",), "forward", "ATen over ours", 3.0, _over("ATen", "felt"), LARGE),
    Target((), "forward", "compile over ours", 1.0, _over("compile", "felt"), LARGE),
    Target((), "backward", "compile over ours", 1.0, _over("compile", "felt"), LARGE),
]
OF_DEVICE = {"cuda": GPU, "cpu": CPU}
