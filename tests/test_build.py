"""The build of a small project: what an edit compiles, what survives a killed build, what a wrong nvcc is told."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conformance.build import ROOT, SHARED
from tests.process import PACKAGE, output

SPEC = """namespace: small
devices: [cpu]
ops:
  square:
    doc: Called like an operator of the library.
    types: {T: [float32, float64]}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
    parallel: n
    differentiable: false
  other:
    types: {T: [float32]}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
    parallel: n
    differentiable: false
"""
BODY = """static void {op}(const {op}_args *a, int64_t begin, int64_t end) {{
    for (int64_t i = begin; i < end; i++) {{
        store(a->y + i, {factor} * load(a->x + i));
    }}
}}
"""
ENVIRONMENT = {
    **os.environ,
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "CFLAGS": "-Werror",
    "SMALL_CUDA": "OFF",
}


def _write(project: Path, op: str, factor: int) -> None:
    (project / "csrc" / f"{op}.c").write_text(BODY.format(op=op, factor=factor))


def _start(project: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, cwd=project, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip


def _run(project: Path, *command: str) -> str:
    process = _start(project, *command)
    text = process.communicate()[0]
    assert process.returncode == 0, text
    return text


def _build(project: Path) -> str:
    return _run(project, "sh", "cmake/dev_build.sh")


def _factor(project: Path, op: str = "square") -> str:
    """What the operator multiplies by, in a process of its own."""
    return output(f"import torch, small; print(int(small.{op}(torch.ones(1))))", packages=project / "generated")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # In a folder whose name is no regular expression, no word of a shell and not in ASCII.
    project = tmp_path_factory.mktemp("build") / "c++ (1) & it's $HOME für #2"
    for name in SHARED:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(ROOT / name)
    (project / "ops.yaml").write_text(SPEC)
    _write(project, "square", 3)
    _write(project, "other", 5)
    _run(project, sys.executable, "-m", "codegen", "generate")
    _build(project)
    return project


@pytest.mark.parametrize("mode", ["RTLD_LOCAL", "RTLD_GLOBAL"])
@pytest.mark.parametrize("names", [("my_ops", "small"), ("small", "my_ops")])
def test_side_by_side(built: Path, names: tuple[str, str], mode: str) -> None:
    """Two packages with an operator of one name, in both orders, also where each sees the symbols of the other."""
    folders = {"my_ops": PACKAGE, "small": built / "generated" / "small"}
    loads = [f"ctypes.CDLL({str(folders[name] / f'{name}.so')!r}, ctypes.{mode})" for name in names]
    text = f"""
        import ctypes, torch
        {"; ".join(loads)}
        import {", ".join(names)}
        x = torch.full((1,), 4.0)
        for operators in (my_ops, small, torch.ops.my_ops, torch.ops.small):
            print(int(operators.square(x)))
        from tests.harness import shims
        for operators in (my_ops, small):
            print(int(shims.function(operators.__name__, getattr(torch.ops, operators.__name__).square.default)(x)))
        both = small.aoti.c_shims(beside=my_ops.aoti.c_shims())
        assert torch.ops.my_ops.square.default in both and torch.ops.small.other.default in both
        assert torch.ops.small.square.default not in both  # PyTorch would call it by the same name
    """
    assert output(text, packages=built / "generated").split() == ["16", "12"] * 3


def test_few_symbols_are_seen(built: Path) -> None:
    """Of everything in the library, each with its namespace, so that nothing of it takes the place of another's."""
    listed = _run(built, "nm", "-D", "--defined-only", "generated/small/small.so")
    assert [line.split()[2] for line in listed.splitlines()] == [
        "aoti_torch_small_other",
        "aoti_torch_small_square",
        "small_check_values",
        "small_direct_library",
        "small_find_shim",
        "small_load_error",
        "small_shim_error",
    ]


def test_editors_are_told_what_is_compiled(built: Path) -> None:
    [found] = (built / "build").rglob("compile_commands.json")
    files = {Path(command["file"]).name for command in json.loads(found.read_text())}
    assert {"square.c", "shims.c", "tensor.c"} < files
    assert f"CompilationDatabase: {found.parent.relative_to(built)}\n" in (ROOT / ".clangd").read_text()


def test_nothing_to_do(built: Path) -> None:
    """Under a second, of processor time, since machines are shared."""
    library = built / "generated" / "small" / "small.so"
    before, made = resource.getrusage(resource.RUSAGE_CHILDREN), library.stat().st_mtime_ns
    assert "Building" not in _build(built)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1
    assert library.stat().st_mtime_ns == made


def test_one_body_is_one_unit_for_each_dtype(built: Path) -> None:
    _write(built, "square", 7)
    compiled = re.findall(r"Building C object \S*/(\w+)\.c\.o", _build(built))
    assert {name.split("__")[0] for name in compiled} == {"square"}
    assert len({name.split("__")[1] for name in compiled}) == len({*compiled}) == 2, compiled
    assert (_factor(built), _factor(built, "other")) == ("7", "5")


def test_an_undeclared_function_is_an_error_where_it_is_called(built: Path) -> None:
    """Also where warnings are not errors: the command of the build, without that."""
    [folder] = {path.parent for path in (built / "build").rglob(".ninja_log") if "CMakeFiles" not in path.parts}
    commands = _run(folder, "ninja", "-t", "commands").splitlines()
    [command] = [one.replace(" -Werror ", " ") for one in commands if re.search(r" -c .*square__float64__\w+\.c", one)]
    body = built / "csrc" / "square.c"
    before = body.read_text()
    assert subprocess.run(command, shell=True, cwd=folder, check=False).returncode == 0
    wrong = {"halved": before.replace("7 *", "halved(7) *").replace("3 *", "halved(3) *")}
    wrong["square"] = before.replace("void square(", "void squared(")
    for name, text in wrong.items():
        body.write_text(text)
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        body.write_text(before)
        assert done.returncode != 0
        assert re.search(f"error: .*{name}", done.stderr), done.stderr
    assert "/* csrc/square.c defines it */" in done.stderr


def test_killed_and_twice_at_once(built: Path) -> None:
    """A killed build leaves the library as it was, and the next ones, two at once, finish it."""
    before = _factor(built)
    for seconds, factor in ((0.1, 8), (0.6, 9)):
        _write(built, "square", factor)
        process = _start(built, "sh", "cmake/dev_build.sh")
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert _factor(built) in (before, "8", "9")
    both = [_start(built, "sh", "cmake/dev_build.sh") for _ in range(2)]
    texts = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], texts
    assert _factor(built) == "9"


def test_a_renamed_operator_leaves_nothing(built: Path) -> None:
    spec = (built / "ops.yaml").read_text()
    (built / "ops.yaml").write_text(spec.replace("  other:", "  others:"))
    (built / "csrc" / "other.c").unlink()
    _write(built, "others", 6)
    _run(built, sys.executable, "-m", "codegen", "generate")
    written = [path for folder in ("generated", "docs") for path in (built / folder).rglob("*")]
    assert len([path for path in written if "others" in path.name]) > 5
    left = [path for path in written if re.match(r"(test_)?other[._]", path.name) and path.suffix != ".pyc"]
    assert left == []
    _build(built)
    assert _factor(built, "others") == "6"
    text = "import torch, small; print(hasattr(torch.ops.small, 'other'))"
    assert output(text, packages=built / "generated") == "False"


def test_modules_written_by_hand(built: Path) -> None:
    """Folders of python/ are modules of the package, and an edit counts at once; what is removed there goes."""
    written = built / "python" / "extra"
    written.mkdir(parents=True)
    (written / "__init__.py").write_text("from small import square as squared\n")
    _build(built)
    text = "import torch, small, small.extra; print(small.extra.squared is small.square)"
    assert output(text, packages=built / "generated") == "True"
    (written / "__init__.py").write_text("squared = None\n")
    assert output(text, packages=built / "generated") == "False"
    shutil.rmtree(built / "python")
    _build(built)
    assert not (built / "generated" / "small" / "extra").is_symlink()


def test_doctor() -> None:
    """On the machine that runs the tests, in a project that has just been built: nothing stops a build."""
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "doctor"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    states = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines()}
    assert [*states][:5] == ["python", "spec", "compiler", "cmake", "ninja"]
    built = ("spec", "compiler", "cmake", "ninja", "torch", "library", "namespace")
    assert {name: states[name] for name in built} == dict.fromkeys(built, "ok"), done.stdout


# ---- nvcc

NVCC = """#!/bin/sh
case "$*" in
*--version*) echo "Cuda compilation tools, release {version}, V{version}.1" ;;
*--list-gpu-arch*) printf 'compute_80\\ncompute_90\\n' ;;
*) echo "error: unsupported GNU version! gcc versions later than 12 are not supported" >&2; exit 1 ;;
esac
"""


def _configure(project: Path, folder: Path, *settings: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """CMake on a machine of which it sees no other nvcc than a given one."""
    hidden = ";".join({*os.environ["PATH"].split(os.pathsep), "/usr/local/cuda/bin"} - {"/usr/bin", "/bin"})
    ninja, cc = (shutil.which(program, path=ENVIRONMENT["PATH"]) for program in ("ninja", "cc"))
    found = (f"-DCMAKE_IGNORE_PATH={hidden}", f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DCMAKE_C_COMPILER={cc}")
    return subprocess.run(
        ["cmake", "-S", project, "-B", folder / "build", "-G", "Ninja", *found, *settings],
        env={**ENVIRONMENT, "TORCH_CUDA_ARCH_LIST": "", "CUDA_HOME": "", "CUDA_PATH": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def _write_program(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("version", "environment", "expected"),
    [
        (
            "",
            {},
            "SMALL_CUDA is ON, and no nvcc was found: set CUDA_HOME or CUDACXX, or install one by `python -m pip "
            'install -e ".[cuda]"`.',
        ),
        ("", {"CUDACXX": "/nowhere/nvcc"}, "CUDACXX is /nowhere/nvcc, and there is no such program."),
        (
            "11.8",
            {},
            "small needs CUDA 12.0 or newer, and {nvcc} is version 11.8: set CUDA_HOME, or SMALL_CUDA=OFF.",
        ),
        (
            "12.4",
            {"TORCH_CUDA_ARCH_LIST": "9.0"},
            "{nvcc} 12.4 does not compile (error: unsupported GNU version! gcc versions later than 12 are not "
            "supported): set CUDAHOSTCXX to a C++ compiler that it accepts, or SMALL_CUDA=OFF.",
        ),
        (
            "12.4",
            {"TORCH_CUDA_ARCH_LIST": "12.0"},
            "{nvcc} 12.4 or small cannot build for compute capability 12.0: it knows 80, 90, and 80 is the oldest "
            "here.",
        ),
        (
            "12.4",
            {"TORCH_CUDA_ARCH_LIST": "newest"},
            'TORCH_CUDA_ARCH_LIST has "newest": expected entries such as 8.0, 9.0a, 9.0+PTX, Hopper or native.',
        ),
    ],
    ids=["missing", "misnamed", "old", "host compiler", "architecture", "list"],
)
def test_nvcc(built: Path, tmp_path: Path, version: str, environment: dict[str, str], expected: str) -> None:
    """One sentence that says what is wrong and what to do. Of two, CUDACXX is taken."""
    nvcc = tmp_path / "bin" / "nvcc"
    if version:
        _write_program(nvcc, NVCC.format(version=version))
        _write_program(tmp_path / "other" / "bin" / "nvcc", NVCC.format(version="12.9"))
        environment = {**environment, "CUDACXX": str(nvcc), "CUDA_HOME": str(tmp_path / "other")}
    done = _configure(built, tmp_path, **{"SMALL_CUDA": "ON", **environment})
    assert done.returncode != 0
    assert expected.format(nvcc=nvcc) in " ".join(done.stderr.split())


def test_a_path_that_nvcc_reads_otherwise(built: Path, tmp_path: Path) -> None:
    nvcc = _write_program(tmp_path / "bin" / "nvcc", NVCC.format(version="13.0"))
    done = _configure(built, tmp_path / "a, b", SMALL_CUDA="ON", CUDACXX=nvcc)
    expected = "nvcc cannot compile in a folder with a comma in its path: move it, or SMALL_CUDA=OFF."
    assert expected in " ".join(done.stderr.split())


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "OPS_PYTHON_PATH"])
def test_nvcc_of_python(built: Path, tmp_path: Path, variable: str) -> None:
    """That of PyPI, in the active environment or where setup.py says that packages are; any other one is before it."""
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    nvcc = _write_program(packages / "nvidia" / "cu13" / "bin" / "nvcc", NVCC.format(version="11.3"))
    where = {"VIRTUAL_ENV": str(tmp_path), "OPS_PYTHON_PATH": f"/nowhere{os.pathsep}{packages}"}[variable]
    environment = {"SMALL_CUDA": "ON", "VIRTUAL_ENV": "", variable: where}
    done = _configure(built, tmp_path, **environment)
    assert f"{nvcc} is version 11.3" in " ".join(done.stderr.split())
    _write_program(tmp_path / "toolkit" / "bin" / "nvcc", NVCC.format(version="11.2"))
    done = _configure(built, tmp_path / "other", **environment, CUDA_HOME=str(tmp_path / "toolkit"))
    assert "is version 11.2" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("native", "environment", "gpu", "cuda"),
    [
        ("ON", {}, "", False),
        ("ON", {}, "8.6", True),
        ("ON", {"TORCH_CUDA_ARCH_LIST": "9.0"}, "", True),
        ("ON", {"TORCH_CUDA_ARCH_LIST": "native"}, "", True),
        ("ON", {"SMALL_CUDA": "ON"}, "", True),
        ("OFF", {}, "", True),
    ],
    ids=["in place", "in place with a GPU", "list", "native", "demanded", "wheel"],
)
def test_nvcc_without_gpu(
    built: Path, tmp_path: Path, native: str, environment: dict[str, str], gpu: str, cuda: bool
) -> None:
    """A build in place leaves the CUDA part out where there is no GPU, and says so; anything that asks for it wins."""
    nvcc = _write_program(tmp_path / "bin" / "nvcc", NVCC.format(version="12.4"))
    _write_program(tmp_path / "bin" / "nvidia-smi", f"#!/bin/sh\necho {gpu}\n" if gpu else "#!/bin/sh\nexit 9\n")
    path = os.pathsep.join([str(tmp_path / "bin"), ENVIRONMENT["PATH"]])
    settings = {"CUDACXX": nvcc, "PATH": path, "SMALL_CUDA": "AUTO", **environment}
    done = _configure(built, tmp_path, f"-DOPS_NATIVE={native}", **settings)
    assert (done.returncode == 0) != cuda  # this nvcc compiles nothing
    said = "CUDA: no GPU here, only the CPU part is built; TORCH_CUDA_ARCH_LIST or SMALL_CUDA=ON build both"
    assert (said in done.stdout) != cuda


@pytest.mark.parametrize("active", [True, False])
def test_make_in_a_folder_of_any_name(tmp_path: Path, active: bool) -> None:
    """Make takes paths apart at spaces: neither the checkout nor its environment is handed to it as one."""
    project = tmp_path / "my project (1) ü"
    tools = project / (".venv" if not active else "its env") / "bin"
    tools.mkdir(parents=True)
    (project / "cmake").mkdir()
    shutil.copy(ROOT / "Makefile", project)
    (project / "requirements.txt").touch()
    (project / "cmake" / "dev_build.sh").write_text('echo "$CMAKE|$NINJA"')
    (tools / "python").write_text('#!/bin/sh\necho "$PYTHONPATH|$*"\n')
    (tools / "python").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "MAKEFLAGS")}
    environment |= {"VIRTUAL_ENV": str(tools.parent)} if active else {}

    def made() -> list[str]:
        command = ["make", "-s", "test"]
        done = subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True, text=True)
        return [line.strip() for line in done.stdout.splitlines()]

    expected = [
        f"{tools / 'cmake'}|{tools / 'ninja'}",
        f"{project / 'generated'}|-m pytest -n logical --maxprocesses 8",
    ]
    first = made()
    assert first[0] == f"Installing requirements.txt into {tools.parent}"
    assert first[2:] == expected
    assert made() == expected


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_a_mistake_in_a_body_is_told_a_few_times(tmp_path: Path) -> None:
    """Templates repeat it for each choice of dtypes, and nvcc for each instruction that follows."""
    lines = (ROOT / "cmake" / "cuda.cmake").read_text().splitlines()
    command = next(line for line in lines if "set(nvcc_command ${nvcc}" in line).partition("${nvcc}")[2].strip(" )")
    body = "template <typename T> __device__ T twice(T x) { return dubble(x); }\n"
    kernels = [f"__global__ void k{i}(double *x) {{ twice<int (*)[{i + 1}]>(nullptr); }}\n" for i in range(9)]
    (tmp_path / "body.cu").write_text(body + "".join(kernels))
    done = subprocess.run(
        ["nvcc", *command.split(), "body.cu"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    told = done.stdout + done.stderr
    assert done.returncode != 0
    assert 'body.cu(1): error: identifier "dubble" is undefined' in told
    assert told.count("is undefined") == 4
