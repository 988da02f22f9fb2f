"""Every operator of ops.yaml, forward and backward, in bfloat16, beside ATen, torch.compile, Liger and QuACK on a GPU.

Each peer runs in processes of its own, at the fastest entry that its interface has; one that is not installed, or has
no such operator, is left out with a note. First all processes prepare side by side: compile, run, and compare outputs
and gradients with float64. Then they are timed, shape by shape and one process at a time, so that what is compared is
measured within seconds: kernels by graph replay, and calls as they are felt, with the host's part (timed.py). Inputs
rotate over eight times the L2 cache, and everybody's outputs come from PyTorch's allocator.

- Shapes: 24 an operator (shapes.py); torch.compile at six of them.
- Bytes: from ops.yaml, each input read and each output written once (traffic.py). Ceilings of as many bytes, `copy_`
  or `torch.add`, are timed in turns with our own kernels.
- Results are merged into a file per machine (store.py): several short runs make one table.

With --device cpu: large inputs on two threads beside memcpy (cpu.py).
"""

import datetime
import os
import re
import time
from functools import partial
from pathlib import Path
from typing import Any

from .. import machine
from ..cuda_cases import COMPILED, OURS
from ..figures import Result
from ..options import CACHE, Options
from ..performance import store
from ..progress import Progress
from . import shapes, traffic
from .cases import CASES
from .cases.peers import COMPILES, PEERS, has, installed
from .peer import Peer, Plan, closing, prepare_all
from .shapes import Named
from .timed import CEILING
from .traffic import Traffic

PREPARING = 0.55  # of the budget; what is not ready by then is left out
LONGEST = 60.0  # seconds for one shape of one peer
SAVING = 20.0  # seconds between two writes of the results
BESIDE = ("kernel", "felt", "host")


def measure(options: Options) -> Result:
    if options.device == "cuda" or options.dry_run:
        return Run(options).measure()
    from . import cpu

    run = cpu.Run(options, operators_of(options))
    run.measure()
    path, stamp = results(options)
    store.merge_into(path, store.stored(stamp, run.entries))
    return Result(notes=[*run.notes, f"{len(run.entries)} entries merged into {os.path.relpath(path)}"])


def operators_of(options: Options) -> list[str]:
    """The operators that a run is about."""
    return [name for name in CASES if not options.selection.operators or name in options.selection.operators]


def results(options: Options) -> tuple[Path, dict[str, Any]]:
    """The results file of this machine, and what to write there of this run."""
    here = machine.describe()
    path = (options.selection.output or store.FOLDER) / f"{machine.slug(here)}.json"
    command = re.sub(r" --output[= ]\S+", "", machine.command())  # a place on that machine
    return path, {**here, "command": command, "date": datetime.date.today().isoformat()}


class Run:
    """One run: what it is to measure, and what it found."""

    def __init__(self, options: Options) -> None:
        self.start = time.monotonic()
        self.options = options
        self.wanted = options.selection
        self.device = "cpu" if options.dry_run else options.device
        self.repeats = 2 if options.dry_run else options.repeats(9, 5)
        self.result = Result()
        self.operators = operators_of(options)
        self.peers = [peer for peer in PEERS if peer == OURS or not self.wanted.peers or peer in self.wanted.peers]
        self.path, self.stamp = results(options)
        known = [store.read(path)["entries"] for path in {self.path, store.FOLDER / self.path.name}]
        self.have = {store.key(entry) for entries in known for entry in entries} if self.wanted.missing else set()
        self.entries: list[store.Entry] = []
        self.saved = 0.0

    def measure(self) -> Result:
        notes = self.result.notes
        notes += [f"{name}: no case in benchmarks/operators/cases" for name in traffic.operators() if name not in CASES]
        plans = self.plans()
        progress = Progress("prepare", sum(len(shapes) for _, plan in plans for shapes in plan.values()))
        log_path = (self.wanted.output or CACHE) / "operators.log"
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with open(log_path, "w") as log:
            starts = [partial(Peer, peer, plan, self.device, log) for peer, plan in plans]
            until = self.start + PREPARING * self.wanted.budget
            peers = prepare_all(starts, len(os.sched_getaffinity(0)), until, progress.steps)
            progress.close()
            with closing(peers):
                self.stamp["versions"] = {peer.name: peer.version for peer in peers if peer.version}
                self.time(peers)
        if len(peers) < len(plans):
            notes.append(f"{len(plans) - len(peers)} of {len(plans)} processes were not started: time was up")
        notes += self.left_out(peers)
        self.save()
        if not self.options.dry_run:
            notes.append(f"{len(self.entries)} entries merged into {os.path.relpath(self.path)}")
        notes.append(f"what the processes said is in {os.path.relpath(log_path)}")
        return self.result

    def plans(self) -> list[tuple[str, Plan]]:
        """A process for each peer, or for each of its operators where it compiles."""
        found: list[tuple[str, Plan]] = []
        for peer in self.peers:
            if not installed(peer):
                self.result.notes.append(f"{peer}: not installed here")
                continue
            plan = {name: named for name in self.operators if (named := self.shapes(peer, name))}
            if peer in COMPILES:
                found += [(peer, {name: named}) for name, named in plan.items()]
            elif plan:
                found.append((peer, plan))
        return found

    def shapes(self, peer: str, operator: str) -> list[Named]:
        """Where a peer is measured. What is most worth knowing comes first."""
        if not has(peer, operator):
            return []
        named = shapes.chosen(shapes.shapes_of(operator, self.options.dry_run), self.wanted.shapes)
        if peer == COMPILED:
            named = [one for one in named if one.name in shapes.COMPILED]
        if peer != OURS:
            named = [one for one in named if (operator, "forward", one.name, self.device, peer) not in self.have]
        return sorted(named, key=lambda one: one.name not in shapes.COMPILED)

    def time(self, peers: list[Peer]) -> None:
        """Every shape of every operator, all peers that are ready for it one after the other."""
        todo: dict[tuple[bool, str, str], tuple[Named, list[Peer]]] = {}
        for peer in sorted(peers, key=lambda peer: PEERS.index(peer.name)):
            for operator, plan in peer.plan.items():
                for named in plan:
                    if not peer.error and "distance" in peer.prepared.get((operator, named.name), {}):
                        place = named.name not in shapes.COMPILED, operator, named.name
                        todo.setdefault(place, (named, []))[1].append(peer)
        progress = Progress("operators", max(1, sum(len(ready) for _, ready in todo.values())))
        began, cells = time.monotonic(), 0
        spent: dict[str, list[float]] = {}
        for (_, operator, name), (named, ready) in sorted(todo.items(), key=lambda item: item[0][0]):
            each = (time.monotonic() - began) / max(cells, 1)
            if time.monotonic() - self.start + each * len(ready) > self.wanted.budget:
                self.result.notes.append(f"{operator} at {name}: left out, time is up")
                continue
            ours: dict[str, Any] = {}
            for peer in (one for one in ready if not one.error):
                start = time.monotonic()
                self.cell(peer, operator, named, ours)
                spent.setdefault(peer.name, []).append(time.monotonic() - start)
                cells += 1
                progress.steps(1, f"{operator} {name} {peer.name}")
            if time.monotonic() - self.saved > SAVING:
                self.save()
        progress.close()
        each = ", ".join(f"{name} {len(s)} x {sum(s) / len(s):.2f} s" for name, s in spent.items())
        self.result.notes.append(
            f"{began - self.start:.0f} s to prepare, {time.monotonic() - began:.0f} s to time: {each or 'nothing'}"
        )

    def cell(self, peer: Peer, operator: str, named: Named, ours: dict[str, Any]) -> None:
        """One peer at one shape; `ours` keeps what our own operator took there."""
        kinds = traffic_of(operator, named)
        works = [
            {"kind": kind, "moved": moved.total, "ceiling": moved.ceiling if peer.name == OURS else ""}
            for kind, moved in kinds.items()
        ]
        found = peer.time(operator, named.name, works, self.repeats, LONGEST).get("kinds", {})
        for kind, times in found.items():
            if "felt" not in times:
                self.result.notes.append(f"{peer.name}, {operator} {kind} at {named.name}: {times['note']}")
                continue
            entry = {
                "operator": operator, "kind": kind, "shape": named.name, "device": self.device, "peer": peer.name,
                "rows": named.shape.rows, "n": named.shape.n, "bytes": kinds[kind].total,
                "distance": peer.prepared[operator, named.name]["distance"], **times,
            }  # fmt: skip
            if CEILING in times:
                entry["against"] = kinds[kind].ceiling
            if peer.name == OURS:
                ours[kind] = {name: times[name][1] for name in BESIDE if name in times}
            elif kind in ours:
                entry["beside"] = ours[kind]
            self.entries.append(entry)

    def save(self) -> None:
        self.saved = time.monotonic()
        if self.entries and not self.options.dry_run:
            store.merge_into(self.path, store.stored(self.stamp, self.entries))

    def left_out(self, peers: list[Peer]) -> list[str]:
        """What could not be measured and why, each reason once for a peer and an operator."""
        found = [f"{peer.name}, {', '.join(peer.plan)}: {peer.error}" for peer in peers if peer.error]
        for entry in self.entries:
            if entry["peer"] == OURS and entry["distance"] > 1:
                found.append(f"{entry['operator']} at {entry['shape']}: {entry['distance']:.2g} times the limit away")
        for peer in peers:
            for operator, plan in peer.plan.items():
                reasons: dict[str, list[str]] = {}
                for named in plan:
                    error = peer.prepared.get((operator, named.name), {}).get("error", "")
                    if error:
                        reasons.setdefault(error, []).append(named.name)
                for error, names in reasons.items():
                    where = "everywhere" if len(names) == len(plan) else ", ".join(names)
                    found.append(f"{peer.name}, {operator}, {where}: {error}")
        return list(dict.fromkeys(found))


def traffic_of(operator: str, named: Named) -> dict[str, Traffic]:
    """The bytes of each kind of an operator, of tensors that are sizes only."""
    op = CASES[operator](named.shape, "meta")
    inputs = op.inputs()
    found = {"forward": traffic.forward(operator, inputs, op.scalars)}
    behind = traffic.backward(operator, inputs, op.scalars) if op.leaves else None
    return found if behind is None else {**found, "backward": behind}
