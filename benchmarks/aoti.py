"""Host time per operator in a model that AOTInductor has compiled, through its proxy and the dispatcher, and through C
shims.

The model is a chain of 32 rms_norms, float32 [4, 16]; the time is that of a call of the model by 32, so that what the
call itself takes is shared out. From Python, where the proxy's calls go through the package's kernels for autograd;
from Python that has the library alone; and from a C++ program without Python. With --device cuda, the same on the GPU:
host time, since calls are issued without waiting.
"""

import subprocess
import sys
from pathlib import Path

import torch

from .call import SHAPE, _settled
from .figures import Figure, Result, compared, microseconds, plain, scaled
from .options import CACHE, PACKAGE, Options, child_environment
from .progress import Progress
from .timing import interleave, per_call

LENGTH = 32
AT_MOST = 0.769  # a factor of 1.3
PROGRAM = Path(__file__).parent / "peers" / "aoti_chain.cpp"
PROXY, SHIMS = "proxy", "C shims"
CALLS = 400  # of a model in a repeat of a program
# The C++ program in Python.
ALONE = """
import sys, time, torch, torch._inductor.codecache
library, device, calls, repeats, *paths = sys.argv[1:]
torch.ops.load_library(library)
x = torch.randn(4, 16, device=device)
models = [torch._inductor.aoti_load_package(path) for path in paths]

def seconds(model):
    start = time.perf_counter()
    for _ in range(int(calls)):
        model(x)
    return (time.perf_counter() - start) / int(calls)

for repeat in range(-1, int(repeats)):
    found = {model: seconds(model) for model in (models if repeat % 2 else models[::-1])}
    if repeat >= 0:
        print(*(found[model] for model in models))
"""


class Chain(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        import my_ops

        for _ in range(LENGTH):
            x = my_ops.rms_norm(x)
        return x


def measure(options: Options) -> Result:
    result, repeats = Result(), options.repeats(31, 7)
    program = compiled()
    devices = ["cpu", "cuda"] if options.device == "cuda" else ["cpu"]
    progress = Progress("aoti", (repeats + 1) * len(devices))
    for device in devices:
        title = "CUDA, " if device == "cuda" else ""
        packages = {name: package(device, name == SHIMS) for name in (PROXY, SHIMS)}
        x = torch.randn(SHAPE, device=device)
        models = {name: torch._inductor.aoti_load_package(str(path)) for name, path in packages.items()}
        assert torch.equal(models[PROXY](x), models[SHIMS](x))
        candidates = {name: _settled(per_call("call(x)", {"call": model, "x": x}), x) for name, model in models.items()}
        result.figures += figures(f"{title}from Python", interleave(candidates, repeats, progress))
        alone = from_program([sys.executable, "-c", ALONE], device, repeats, packages)
        result.figures += figures(f"{title}from Python, the library alone", alone)
        result.figures += figures(f"{title}from C++", from_program([str(program)], device, repeats, packages))
        progress.step("programs")
    progress.close()
    return result


def figures(title: str, times: dict[str, list[float]]) -> list[Figure]:
    """Per operator."""
    values = {name: scaled(microseconds(one), lambda value: value / LENGTH) for name, one in times.items()}
    shims = compared(f"{title}, {SHIMS}", "us", values[SHIMS], PROXY, values[PROXY], at_most=AT_MOST)
    return [plain(f"{title}, {PROXY}", "us", values[PROXY]), shims]


def package(device: str, shims: bool) -> Path:
    """The chain, compiled."""
    import my_ops

    path = CACHE / f"chain-{torch.__version__}-{device}-{'shims' if shims else 'proxy'}.pt2"
    path.parent.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        program = torch.export.export(Chain(), (torch.randn(SHAPE, device=device),))
        mapping = my_ops.aoti.c_shims("rms_norm") if shims else {}
        configs = {"aot_inductor.custom_ops_to_c_shims": mapping}
        torch._inductor.aoti_compile_and_package(program, package_path=str(path), inductor_configs=configs)
    return path


def compiled() -> Path:
    """The program in C++."""
    made = CACHE / f"aoti_chain-{torch.__version__}"
    if made.exists() and made.stat().st_mtime > PROGRAM.stat().st_mtime:
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    root = Path(torch.__file__).parent
    libraries = ["-ltorch_cuda", "-lc10_cuda"] if torch.version.cuda else []
    subprocess.run(
        [
            "c++", "-std=c++20", "-O2", str(PROGRAM), "-o", str(made),
            f"-I{root / 'include'}", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
            f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu",
            *libraries, "-lc10", "-ldl",
        ],
        check=True,
    )  # fmt: skip
    return made


def from_program(program: list[str], device: str, repeats: int, packages: dict[str, Path]) -> dict[str, list[float]]:
    """Seconds per call of each model."""
    library = PACKAGE / "my_ops" / "my_ops.so"
    command = [*program, str(library), device, str(CALLS), str(repeats), *map(str, packages.values())]
    done = subprocess.run(command, env=child_environment(), capture_output=True, text=True, check=True)
    rows = [[float(value) for value in line.split()] for line in done.stdout.splitlines()]
    return {name: [row[i] for row in rows] for i, name in enumerate(packages)}
