"""Trains one small language model four times: with PyTorch's RMSNorm and with my_ops', eager and compiled.

The model is a decoder-only transformer over bytes; the text is Python's own reference manual, which every Python
carries. All four runs start from the same weights and see the same batches, so their loss curves have to agree, and
the script fails when they do not. They advance together, step by step, so that their times are taken under the same
load of the machine.

    make demo                        on the CPU, about two minutes
    make demo ARGS="--device cuda"   on a GPU; see --help for size, steps and dtype

With --parallel, under torchrun, it trains once, with my_ops, over several processes; see parallel.py.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import shutil
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from pydoc_data.topics import topics
from typing import NoReturn

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import my_ops

EPS = 1e-6
RMSNormFunction = Callable[[Tensor, Tensor], Tensor]

# How far the curves of F.rms_norm and my_ops.rms_norm may be apart, in nats. They compute the same function and differ
# in rounding only, but each update feeds the next, so rounding errors grow with the steps. How fast is seen where only
# PyTorch is at work: its own eager and compiled runs are about 3e-6 apart after 120 steps in float32. Ten times that
# distance is allowed, and never less than this floor. A weight that gets no gradient costs 1e-2 in float32, an eps of
# 1e-3 costs 0.3; bfloat16 rounds so coarsely that it would hide the former.
FLOOR = {torch.float32: 1e-4, torch.bfloat16: 1e-2}


def torch_rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return F.rms_norm(x, weight.shape, weight, EPS)


def my_ops_rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return my_ops.rms_norm(x, weight, EPS)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.function: RMSNormFunction = torch_rms_norm

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, self.weight)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions: turns each pair (x[i], x[i + d/2]) by an angle that grows with the position."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        hidden = 8 * width // 3 // 32 * 32
        self.size = width // heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        qkv = self.qkv(self.norm1(x)).unflatten(-1, (-1, 3, self.size)).transpose(1, 2)  # head by head
        q, k, v = qkv.unbind(dim=3)
        y = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class LanguageModel(nn.Module):
    cos: Tensor
    sin: Tensor

    def __init__(self, width: int, heads: int, layers: int, context: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(256, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, 256, bias=False)
        pairs = width // heads // 2
        angles = torch.outer(torch.arange(context), 10_000.0 ** (-torch.arange(pairs) / pairs))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        nn.init.normal_(self.embed.weight, std=0.02)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@dataclass
class Run:
    name: str
    model: nn.Module
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    validation: float = math.nan

    @property
    def step_ms(self) -> float:
        """Median time of a step; the first two compile and warm up."""
        return 1e3 * statistics.median(self.seconds[2:])


def batches(text: Tensor, context: int, batch: int, count: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """`count` batches of random windows: the bytes, and the byte that follows each."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(text) - context, (count, batch, 1), generator=generator)
    windows = text[starts + torch.arange(context + 1)]
    return [(w[:, :-1], w[:, 1:]) for w in windows.unbind()]


def timed_step(run: Run, tokens: Tensor, targets: Tensor) -> None:
    def now() -> float:
        if tokens.is_cuda:
            torch.cuda.synchronize()
        return time.perf_counter()

    start = now()
    loss = run.model(tokens, targets)
    loss.backward()
    run.optimizer.step()
    run.optimizer.zero_grad(set_to_none=True)
    run.seconds.append(now() - start)
    run.losses.append(loss.item())


def progress(step: int, steps: int, text: str) -> None:
    """A bar on a terminal; a line for every tenth elsewhere."""
    if sys.stderr.isatty():
        done = 30 * step // steps
        end = "\n" if step == steps else ""
        print(f"\r[{'#' * done}{'.' * (30 - done)}] {step}/{steps} {text:<60}", end=end, file=sys.stderr, flush=True)
    elif step == steps or step % max(1, steps // 10) == 0:
        print(f"step {step}/{steps} {text}", file=sys.stderr, flush=True)


def compile_backend(device: str) -> str:
    """The default compiler writes C++ on the CPU; without a compiler for it, the graph is captured and run as it is."""
    has_compiler = any(shutil.which(name) for name in ("c++", "g++", "clang++"))
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    if device != "cpu" or (has_compiler and has_headers):
        return "inductor"
    print("No C++ compiler or no Python.h: compiled runs use the backend aot_eager", file=sys.stderr)
    return "aot_eager"


def manual() -> Tensor:
    """Python's reference manual, in bytes."""
    return torch.frombuffer(bytearray("\n".join(topics.values()).encode()), dtype=torch.uint8).long()


def new_model(args: argparse.Namespace) -> LanguageModel:
    """The weights from which every run starts."""
    torch.manual_seed(0)
    return LanguageModel(args.width, args.heads, args.layers, args.context).to(getattr(torch, args.dtype))


def train_parallel(args: argparse.Namespace) -> NoReturn:
    import parallel  # here, because most of PyTorch's distributed part comes with it

    model = new_model(args)
    for module in model.modules():
        if isinstance(module, RMSNorm):
            module.function = my_ops_rms_norm
    text = manual()
    training = batches(text, args.context, args.batch, args.steps, seed=1)
    parallel.run(model, training, args, FLOOR[getattr(torch, args.dtype)])


def train(args: argparse.Namespace) -> list[Run]:
    text = manual()
    split = len(text) * 9 // 10
    training = batches(text[:split], args.context, args.batch, args.steps, seed=1)
    validation = batches(text[split:], args.context, args.batch, 8, seed=2)

    start = new_model(args).to(args.device)
    if args.load:
        import checkpoint  # here, because most of PyTorch's distributed part comes with it

        try:
            checkpoint.load(args.load, start, None, alone=True)
        except checkpoint.CheckpointError as error:
            sys.exit(str(error))
    parameters = sum(p.numel() for p in start.parameters())
    print(f"{parameters:,} parameters, {len(text):,} bytes of text, {args.dtype} on {args.device}", file=sys.stderr)

    backend = compile_backend(args.device)
    runs = []
    for kind in ("eager", "compiled"):
        for name, function in (("F.rms_norm", torch_rms_norm), ("my_ops.rms_norm", my_ops_rms_norm)):
            model = copy.deepcopy(start)
            for module in model.modules():
                if isinstance(module, RMSNorm):
                    module.function = function
            optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), weight_decay=0.1)
            if kind == "compiled":
                model.compile(fullgraph=True, backend=backend)
            runs.append(Run(f"{name}, {kind}", model, optimizer))

    for step, batch in enumerate(training):
        tokens, targets = (t.to(args.device) for t in batch)
        warmup_and_decay = min(1.0, (step + 1) / 20) * (0.55 + 0.45 * math.cos(math.pi * step / args.steps))
        for run in runs:
            for group in run.optimizer.param_groups:
                group["lr"] = args.lr * warmup_and_decay
            timed_step(run, tokens, targets)
        progress(step + 1, args.steps, "loss " + " ".join(f"{run.losses[-1]:.4f}" for run in runs))

    for run in runs:
        with torch.no_grad():
            losses = [run.model(tokens.to(args.device), targets.to(args.device)) for tokens, targets in validation]
        run.validation = torch.stack(losses).mean().item()
    return runs


def distance(a: Run, b: Run) -> float:
    """Largest distance of two loss curves; a loss that is no number is infinitely far from any."""
    pairs = zip([*a.losses, a.validation], [*b.losses, b.validation], strict=True)
    return max(abs(x - y) if math.isfinite(x - y) else math.inf for x, y in pairs)


def report(runs: list[Run], args: argparse.Namespace) -> bool:
    torch_eager, my_eager, torch_compiled, my_compiled = runs
    print(f"\n{'run':<28}{'train loss':>11}{'validation':>11}{'max difference':>16}{'ms/step':>9}{'first step':>12}")
    for run in runs:
        print(
            f"{run.name:<28}{statistics.mean(run.losses[-10:]):>11.4f}{run.validation:>11.4f}"
            f"{distance(torch_eager, run):>16.1e}{run.step_ms:>9.1f}{run.seconds[0]:>10.1f} s"
        )
    rounding = distance(torch_eager, torch_compiled)
    tolerance = max(FLOOR[getattr(torch, args.dtype)], 10 * rounding)
    worst = max(distance(torch_eager, my_eager), distance(torch_compiled, my_compiled))
    agree = worst <= tolerance

    out = Path(args.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "settings": {**vars(args), "torch": torch.__version__, "threads": torch.get_num_threads()},
        "max_difference": worst,
        "max_difference_within_torch": rounding,
        "tolerance": tolerance,
        "runs": [{"name": r.name, "ms_per_step": r.step_ms, "first_step_s": r.seconds[0], "validation": r.validation,
                  "losses": r.losses} for r in runs],
    }  # fmt: skip
    out.with_suffix(".json").write_text(json.dumps(result, indent=1))
    draw(runs, out.with_suffix(".png"))
    print(f"Curves in {out.with_suffix('.png')}, numbers in {out.with_suffix('.json')}.")

    verb = "agree" if agree else "DISAGREE"
    print(
        f"The curves of F.rms_norm and my_ops.rms_norm {verb}: {worst:.1e} apart at most, {tolerance:.1e} allowed"
        f" (PyTorch's own eager and compiled runs: {rounding:.1e})."
    )
    return agree


def draw(runs: list[Run], path: Path) -> None:
    import matplotlib  # here, so that --help and a failing import of my_ops do not wait for it

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (curves, times) = pyplot.subplots(1, 2, figsize=(11, 4), width_ratios=(2, 1), layout="constrained")
    # Curves that agree hide each other: the first is drawn widest, so that each leaves a rim.
    for run, width in zip(runs, (8, 5.5, 3, 1), strict=True):
        curves.plot(run.losses, label=f"{run.name} (validation {run.validation:.4f})", linewidth=width)
    curves.set(xlabel="step", ylabel="loss (nats per byte)", title="Training loss")
    curves.legend()
    bars = times.barh([run.name for run in runs], [run.step_ms for run in runs], color=[f"C{i}" for i in range(4)])
    times.bar_label(bars, fmt="%.1f", padding=3)
    times.set(xlabel="ms", title="Time per step (median)")
    times.invert_yaxis()
    times.margins(x=0.25)
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:1, ...")
    parser.add_argument("--dtype", default="float32", choices=[str(d).partition(".")[2] for d in FLOOR])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--out", default="build/train_lm", help="where the picture and the numbers go, without suffix")
    parser.add_argument("--parallel", choices=("fsdp", "tensor", "sequence"), help="under torchrun; see parallel.py")
    parser.add_argument("--save", metavar="DIR", help="with --parallel: keep the trained weights and the optimizer")
    parser.add_argument("--load", metavar="DIR", help="begin with what --save has kept, under any layout")
    args = parser.parse_args()
    if args.save and not args.parallel:
        parser.error("--save goes with --parallel")
    if args.steps < 3 or min(args.batch, args.context, args.heads, args.layers) < 1 or args.width % (2 * args.heads):
        parser.error("at least 3 steps, sizes of at least 1, and a width that is a multiple of twice the heads")
    if args.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error(f"--device {args.device}: this PyTorch ({torch.__version__}) sees no GPU")
    if args.parallel:
        train_parallel(args)
    return 0 if report(train(args), args) else 1


if __name__ == "__main__":
    sys.exit(main())
