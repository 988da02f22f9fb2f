"""Loads my_ops.so, and holds what the operators of this package share.

Nothing here touches CUDA. Whatever goes wrong is one ImportError, which says what is wrong and what to do.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import re
import sys
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from itertools import chain
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

try:
    import torch
except ModuleNotFoundError as error:
    raise ImportError(f"my_ops needs PyTorch 2.10 or newer ({error}): pip install 'torch>=2.10'") from None

_FOLDER = Path(__file__).resolve().parent
_LIBRARY = _FOLDER / "my_ops.so"
_OPERATORS = (
    "my_ops::adamw_step",
    "my_ops::add_rms_norm",
    "my_ops::add_rms_norm_",
    "my_ops::add_rms_norm_backward",
    "my_ops::cross_entropy",
    "my_ops::cross_entropy_backward",
    "my_ops::cross_entropy_gradient_",
    "my_ops::gather_rows",
    "my_ops::gelu_mul",
    "my_ops::gelu_mul_backward",
    "my_ops::gelu_mul_backward_backward",
    "my_ops::global_norm",
    "my_ops::layer_norm",
    "my_ops::layer_norm_backward",
    "my_ops::quantize_per_token",
    "my_ops::rms_norm",
    "my_ops::rms_norm_backward",
    "my_ops::rms_norm_quantize",
    "my_ops::rope",
    "my_ops::rope_",
    "my_ops::rope_backward",
    "my_ops::silu_mul",
    "my_ops::silu_mul_backward",
    "my_ops::silu_mul_backward_backward",
    "my_ops::softmax",
    "my_ops::softmax_backward",
    "my_ops::softmax_triton",
    "my_ops::softmax_triton_backward",
    "my_ops::square",
    "my_ops::square_backward",
)


def _check_torch() -> None:
    version = re.match(r"(\d+)\.(\d+)", torch.__version__)
    if version is None or (int(version[1]), int(version[2])) < (2, 10):
        raise ImportError(f"my_ops needs PyTorch 2.10 or newer, not {torch.__version__}: pip install 'torch>=2.10'")


def _load() -> Callable[[bool], bool]:
    """Loads the library, which the second time in a process does nothing; what turns its checking mode on and off."""
    if not _LIBRARY.exists():
        raise ImportError(f"{_LIBRARY} is missing: build it with `make build`, or pip install the package")
    try:
        library = ctypes.CDLL(str(_LIBRARY))
        problem, checking = library.my_ops_load_error, library.my_ops_check_values
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"{error}: the library does not fit this machine or PyTorch {torch.__version__}; "
            "build it again with `make build`, or pip install the package again"
        ) from None
    problem.restype = ctypes.c_char_p
    text = problem()
    if text is not None:
        raise ImportError(_registered_twice() or text.decode(errors="replace"))
    missing = [operator for operator in _OPERATORS if not torch._C._dispatch_has_kernel(operator)]
    if missing:
        raise ImportError(f"{_LIBRARY} is older than the package: it has no {missing[0]}; run `make build`")
    checking.argtypes, checking.restype = [ctypes.c_bool], ctypes.c_bool
    return checking


def _registered_twice() -> str:
    """What to say when another file defined the operators first; nothing if none did."""
    for operator in _OPERATORS:
        if not torch._C._dispatch_has_kernel(operator):
            continue
        found = re.search(r"registered at (.+):\d+", torch._C._dispatch_dump(operator))
        if found is not None and found[1] != str(_LIBRARY):
            return (
                f"{_LIBRARY} was not loaded: the operators of my_ops are already registered by {found[1]}; "
                "import only one of the two in a process, or give one of them another `namespace:`"
            )
    return ""


def _tag_compile_cache() -> None:
    """Makes the caches of torch.compile depend on the Python code of this package.

    They keep compiled backward graphs on disk, under keys that do not see an operator's gradient or fake kernel: after
    these changed, the next process would run the old ones without a word.
    """
    from torch.compiler import config

    digest = hashlib.sha256()
    for path in sorted(_FOLDER.rglob("*.py")):
        digest.update(path.read_bytes())
    others = re.sub(r"\|my_ops:[0-9a-f]*", "", config.cache_key_tag)
    config.cache_key_tag = f"{others}|my_ops:{digest.hexdigest()[:16]}"


_check_torch()
_set_checking = _load()
_tag_compile_cache()

# ---------------------------------------------------------------- for callers


def check_values(enabled: bool = True) -> Checking:
    """Has calls check rules on elements (`values:`) of tensors on a GPU, as they do on the CPU.

    Such a call waits for the GPU, and cannot be captured into a CUDA graph. As the context of a `with` statement it is
    about the calls inside, and otherwise about all calls of the process from then on.
    MY_OPS_CHECK_VALUES=1 in the environment turns it on from the start.
    """
    return Checking(_set_checking(enabled))


class Checking:
    """What ends a `with check_values():`."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _set_checking(self._before)


# ---------------------------------------------------------------- for the modules of the operators


class _Compiler:
    """In the place of torch.compiler, should a later PyTorch keep its flag elsewhere."""

    @property
    def _is_compiling_flag(self) -> bool:
        return torch.compiler.is_compiling()


# torch.compiler.is_compiling() in two parts, which take a third of its time: Dynamo knows the function, anything else
# that traces sets the flag.
is_dynamo_compiling = torch.compiler.is_dynamo_compiling
# A mode, such as one that makes a graph to be run later, sees the public operator, which has a gradient.
count_modes = torch._C._len_torch_dispatch_stack
# So does what has a __torch_function__, or a mode of that kind: a graph of torch.fx is made of what they are shown.
has_torch_function = torch.overrides.has_torch_function_variadic
compiler = torch.compiler if hasattr(torch.compiler, "_is_compiling_flag") else _Compiler()
is_grad_enabled = torch.is_grad_enabled
is_tracing = torch._C._is_tracing
is_transformed = torch._C._are_functorch_transforms_active
any_requires_grad = torch._C._any_requires_grad
after_autograd = torch._C._after_autograd_keyset
after_in_place = torch._C._after_ADInplaceOrView_keyset
after_backend_select = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)
after_views = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.Conjugate)  # and Negative, which comes before
after_vmap_mode = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.FuncTorchVmapMode)
forward_ad = torch.autograd.forward_ad
is_autocast_enabled = torch._C._is_any_autocast_enabled
_autocast_dtypes = (torch.float32, torch.float16, torch.bfloat16)
_autocast_keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU) | torch._C.DispatchKeySet(
    torch._C.DispatchKey.AutocastCUDA
)
_deprecated: set[str] = set()  # of which a call has said so


def kernels(operator: str) -> torch.library.Library:
    """Through this an operator registers its Python kernels. They live as long as the process; when its module is run
    again, the new ones take the place of the old ones.
    """
    kept: dict[str, torch.library.Library] = vars(torch.ops.my_ops).setdefault("_python_kernels", {})
    if operator in kept:
        kept.pop(operator)._destroy()
    kept[operator] = torch.library.Library("my_ops", "IMPL")
    return kept[operator]


def direct_apply(function: type[torch.autograd.Function]) -> Callable[..., Any]:
    """`function.apply` where no torch.func transform is active: without binding arguments to its signature, which costs
    more than the rest of a call.
    """
    return super(torch.autograd.Function, function).apply  # type: ignore[misc]


_refused = re.compile(r"Expected a value of type '(.+?)' for argument '(\w+)' but instead found type '(.+?)'\.")


def several(one: Any) -> Sequence[Any]:
    """What is in a list, or the one thing that is none."""
    return one if isinstance(one, (list, tuple)) else (one,)


def _got(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _no_tensor(name: str, kind: str, value: Any) -> str:
    """What is wrong with an argument that PyTorch's schema calls a tensor or a list of them, if anything is."""
    if value is None and kind.startswith("Optional["):
        return ""
    kind = kind.removeprefix("Optional[") if kind.startswith("Optional[List") else kind
    if not kind.startswith("List["):
        or_none = " or None" if kind.startswith("Optional[") else ""
        good = isinstance(value, torch.Tensor)
        return "" if good else f"{name}: expected a tensor{or_none}, got {_got(value)}"
    if not isinstance(value, (list, tuple)):
        return f"{name}: expected a list of tensors, got {_got(value)}"
    inside = kind.removeprefix("List[").rstrip("]") + ("]" if "Optional" in kind else "")
    return next(filter(None, (_no_tensor(f"{name}[{i}]", inside, one) for i, one in enumerate(value))), "")


def _has_batch(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and torch._C._functorch.is_batchedtensor(value)


def explain(error: Exception, operator: Any, *values: Any) -> None:
    """Something in a call has raised `error`. Where that is because of an argument of another kind, of which PyTorch
    speaks in terms of internal operators, this raises what is wrong with it.
    """
    name, texts = operator._schema.name, list[str]()
    for argument, value in zip(operator._schema.arguments, values, strict=True):
        if "Tensor" in str(argument.type):
            texts += filter(None, [_no_tensor(argument.name, str(argument.type), value)])
    refused = _refused.search(str(error))
    if refused is not None:
        arguments = operator._schema.arguments
        place = [argument.name for argument in arguments].index(refused[2])
        kind = "dtype" if str(arguments[place].real_type) == "ScalarType" else refused[1]
        value = values[place]
        # An int beyond 64 bits, or a text that is no Unicode.
        unfit = kind in {int: ("int", "float"), str: ("str",)}.get(type(value), ())
        got = f"{value!r:.40}, which PyTorch cannot pass on" if unfit else _got(value)
        texts.append(f"{refused[2]}: expected {kind}, got {got}")
    if "batched == nullptr" in str(error):
        for argument, value in zip(operator._schema.arguments, values, strict=True):
            if str(argument.type).startswith("Optional[List[") and any(map(_has_batch, value or ())):
                hint = "give another tensor a batch, too: expand one of those that have none"
                texts.append(f"{argument.name}: torch.vmap finds no batch in a list that may be None; {hint}")
    if texts:
        raise RuntimeError(f"{name}: {texts[0]}") from None


def zeros(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The gradient of an output that nothing was computed from."""
    return torch.zeros(shape, dtype=dtype, device=device)


def forms(outputs: Sequence[torch.Tensor | None], every: Callable[[], Any]) -> list[Any]:
    """Shape, dtype and device of outputs, also of those that were not wanted; `every` makes all of them."""
    made: Any = every() if any(one is None for one in outputs) else outputs
    return [(one.shape, one.dtype, one.device) for one in made]


def forms_of_wanted(outputs: Sequence[Any], grad_mask: Sequence[bool], every: Callable[[], Any]) -> list[Any]:
    """The same of gradients of which some are lists: of all that there could be, not only of those that were wanted."""
    found = list[Any]()
    for made in outputs if all(grad_mask) else every():
        of_each = [(one.shape, one.dtype, one.device) for one in (made if isinstance(made, list) else [made])]
        found.append(of_each if isinstance(made, list) else of_each[0])
    return found


def at_places(values: Sequence[Any], places: Sequence[int], count: int) -> list[Any]:
    """Values at their places among `count`; None at the others."""
    found: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found


def summed(gradient: torch.Tensor | None, form: tuple[torch.Size, torch.dtype] | None) -> torch.Tensor | None:
    """The gradient of an input that was broadcast has the sizes and the dtype that it came with."""
    return None if gradient is None or form is None else gradient.sum_to_size(form[0]).to(form[1])


def forms_of(tensors: Sequence[torch.Tensor | None] | None) -> list[tuple[torch.Size, torch.dtype] | None]:
    """What `summed` asks for of each tensor of a list; nothing of a list that is absent."""
    return [None if one is None else (one.shape, one.dtype) for one in tensors or ()]


def length(tensors: Sequence[Any] | None) -> int:
    """How many tensors a list has; -1 where there is no list."""
    return -1 if tensors is None else len(tensors)


def flat(results: Any) -> tuple[Any, ...]:
    """What an operator returns, in a row: autograd looks into no list."""
    several = results if isinstance(results, tuple) else (results,)
    return tuple(one for result in several for one in (result if isinstance(result, list) else (result,)))


def nested(values: Sequence[Any], form: Sequence[int | None]) -> tuple[Any, ...]:
    """The opposite: one value for each None in `form`, a list for each length, and None for the length of no list."""
    left, found = iter(values), list[Any]()
    for count in form:
        one = next(left) if count is None else [next(left) for _ in range(count)]
        found.append(None if count == -1 else one)
    return tuple(found)


def no_tensor(gradients: Sequence[torch.Tensor | None]) -> bool:
    """Whether autograd has a gradient of none of them."""
    return all(gradient is None for gradient in gradients)


def filled(gradients: Sequence[torch.Tensor | None], forms: Sequence[Any]) -> list[torch.Tensor]:
    """The gradients of a list, with zeros for those that autograd does not have."""
    return [zeros(*form) if one is None else one for one, form in zip(gradients, forms, strict=True)]


def placed(gradients: Sequence[torch.Tensor], wanted: Sequence[bool]) -> list[torch.Tensor | None]:
    """The gradients that were wanted, at the places of their tensors."""
    left = iter(gradients)
    return [next(left) if one else None for one in wanted]


Written = torch.Tensor | Sequence[torch.Tensor] | None
"""An argument that is written."""


def present(*tensors: Written) -> list[torch.Tensor]:
    """Those that were given, and those in lists."""
    found: list[torch.Tensor] = []
    for one in tensors:
        several = one if isinstance(one, (list, tuple)) else (one,)
        found += [tensor for tensor in several if isinstance(tensor, torch.Tensor)]  # else the schema refuses it
    return found


def count_writes(*tensors: Written) -> None:
    """Moves the version counters of what was written, so that autograd notices what it saved before."""
    given = chain.from_iterable(one if isinstance(one, (list, tuple)) else (one,) for one in tensors)
    torch.autograd.graph.increment_version([tensor for tensor in given if tensor is not None])  # if it has a version


def copy_each(written: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> None:
    """Copies the tensors of a list into those of another."""
    for one, result in zip(written, results, strict=True):
        one.copy_(result)


def clone_each(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Copies of the tensors of a list."""
    return [tensor.clone() for tensor in tensors]


version = attrgetter("_version")


def has_inference_tensor(given: Written) -> bool:
    """Whether there is one, which has no version: asking for that takes a third of the time of is_inference()."""
    try:
        deque(map(version, given if isinstance(given, (list, tuple)) else (given,)), maxlen=0)
    except (AttributeError, RuntimeError):  # or it is no tensor, but a list may lack some
        return any(tensor.is_inference() for tensor in present(given))
    return False


def check_writes(operator: str, **tensors: Written) -> None:
    """Refuses what PyTorch does not let its own operators write, before anything is written; refuse_views does the rest."""
    for name in _unseen.get(operator, ()):
        _refuse_view(operator, name, tensors[name])
    if torch.is_inference_mode_enabled():
        return
    for name, given in tensors.items():
        if has_inference_tensor(given):
            problem = "is an inference tensor, and is written in inference mode only; write to a clone of it"
            raise RuntimeError(f"my_ops::{operator}: {name}: {problem}")


def has_tangent(tensor: torch.Tensor) -> bool:
    """Whether forward-mode differentiation goes through it."""
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(tensor).tangent is not None


def check_recorded_writes(operator: str, *inputs: Written, **tensors: Written) -> None:
    """The same of a call that is recorded: autograd itself would look only after the write."""
    check_writes(operator, **tensors)
    if any(has_tangent(tensor) for tensor in present(*inputs)):
        raise RuntimeError(no_gradient(operator))
    for name, given in tensors.items() if torch.is_grad_enabled() else ():
        for tensor in present(given):
            _check_history(operator, name, tensor)


def check_copies(operator: str, results: Sequence[Written], **tensors: Written) -> None:
    """The same where autograd sees a copy of each of the results."""
    check_writes(operator, **tensors)
    for (name, given), result in zip(tensors.items(), results, strict=True) if torch.is_grad_enabled() else ():
        for tensor, one in zip(present(given), present(result), strict=True):
            if tensor.requires_grad or one.requires_grad:
                _check_history(operator, name, tensor)


def _check_history(operator: str, name: str, tensor: torch.Tensor) -> None:
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return  # traced
    problem, base = "", tensor._base if tensor._is_view() else None
    if tensor.is_leaf and tensor.requires_grad:
        problem = "a leaf Variable that requires grad"
    elif base is not None and base.is_leaf and base.requires_grad:
        problem = "a view of a leaf Variable that requires grad"
    elif base is not None:
        usual = torch._C._autograd.CreationMeta.DEFAULT
        if torch._C._autograd._get_creation_meta(tensor) != usual:
            problem = "a view that was made under no_grad, or together with other views,"
    if problem:
        text = f"{problem} is being used in an in-place operation; write to a clone of it, or under torch.no_grad()"
        raise RuntimeError(f"my_ops::{operator}: {name}: {text}")


def check_in_place(operator: str, *, has_batch: bool) -> None:
    """Under torch.func what a call writes would be seen by some of the levels only, but for those of torch.vmap where the
    operator has a `batch:`.
    """
    layers = torch._C._functorch.get_interpreter_stack() or ()
    if not has_batch or any(layer.key() != torch._C._functorch.TransformType.Vmap for layer in layers):
        but = " but torch.vmap" if has_batch else ""
        raise RuntimeError(f"my_ops::{operator}: writes in place, which torch.func transforms{but} do not support")


def refuse_traced(operator: str, *tensors: Written) -> None:
    """A compiled graph would lose the history of what was written: the error of its backward comes when it is built."""
    from torch._subclasses.fake_tensor import FakeTensor
    from torch._subclasses.functional_tensor import FunctionalTensor

    if any(isinstance(tensor, (FakeTensor, FunctionalTensor)) for tensor in present(*tensors)):
        raise RuntimeError(no_gradient(operator))


def refuse_recording(operator: str, **tensors: Written) -> None:
    """A gradient would not know of the write, nor would a tangent of forward mode."""
    for name, given in tensors.items():
        for tensor in present(given):
            if torch.is_grad_enabled() and tensor.requires_grad:
                raise RuntimeError(
                    f"my_ops::{operator}: {name}: requires grad and is written in place by an operator that is not "
                    "differentiable; call it under torch.no_grad(), or with a tensor that does not require grad"
                )
            if has_tangent(tensor):
                raise RuntimeError(
                    f"my_ops::{operator}: {name}: has a tangent and is written in place by an operator that is not "
                    "differentiable; call it with the primal of that tensor"
                )


def need_every_output(operator: str, lists: Sequence[str], **outputs: Written) -> None:
    """A caller says where all outputs go, or none; `lists` are those that are such."""
    missing = [name for name, given in outputs.items() if given is None]
    if missing:
        kind = "a list of tensors" if missing[0] in lists else "a tensor"
        raise RuntimeError(f"my_ops::{operator}: {missing[0]}: expected {kind}, as for the other outputs")


def _refuse_view(operator: str, name: str, given: Written) -> None:
    for tensor in present(given):
        if tensor.is_neg() or tensor.is_conj():
            method = "resolve_neg" if tensor.is_neg() else "resolve_conj"
            problem = f"is a view that negates or conjugates, and cannot be written; write to its {method}()"
            raise RuntimeError(f"my_ops::{operator}: {name}: {problem}")


_unseen: dict[str, list[str]] = {}
"""Lists that may be absent, by operator: PyTorch does not look into them for such views."""


def refuse_views(library: torch.library.Library, operator: str, *entries: Any) -> None:
    """Views that negate or conjugate are not written. PyTorch asks of each call whether a tensor of it is one: kernels at
    their keys cost other calls nothing. Those that are only read are resolved, as PyTorch's own kernels there do.
    """
    for entry in entries:
        written = [one for one in entry._schema.arguments if one.alias_info is not None and one.alias_info.is_write]
        _unseen[operator] = [one.name for one in written if str(one.type).startswith("Optional[List")]
        kernel = _view_kernel(operator, entry, [one.name for one in written])
        library.impl(entry, kernel, "Negative", with_keyset=True)
        library.impl(entry, kernel, "Conjugate", with_keyset=True)


def _view_kernel(operator: str, entry: Any, written: Sequence[str]) -> Callable[..., Any]:
    names = [argument.name for argument in entry._schema.arguments]

    def kernel(keyset: Any, *arguments: Any, **keywords: Any) -> Any:
        given = {**dict(zip(names, arguments, strict=False)), **keywords}
        for name in written:
            _refuse_view(operator, name, given.get(name))
        with torch.no_grad():
            resolved = {name: _resolved(value) for name, value in keywords.items()}
            return entry.redispatch(keyset & after_views, *map(_resolved, arguments), **resolved)

    return kernel


def _resolved(value: Any) -> Any:
    """An argument, without bits that negate or conjugate."""
    if isinstance(value, (list, tuple)):
        return [_resolved(one) for one in value]
    return value.resolve_conj().resolve_neg() if isinstance(value, torch.Tensor) else value


class _Watcher:
    """Lets others find modules; the import of one is noticed, which is more than that someone looks for it."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then, self._asking = name, then, False

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self._name or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                    self._then()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def when_imported(name: str, then: Callable[[], None]) -> None:
    """Calls `then` now, or when a module of PyTorch is imported that takes longer than all of this package."""
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _Watcher(name, then))


def add_tags(operator: Any, *names: str) -> None:
    """Tags that the library could not give: PyTorch before 2.12 does not take them from C. One that this version does
    not know means nothing to it.
    """
    tags = [getattr(torch.Tag, name) for name in names if hasattr(torch.Tag, name)]
    missing = [tag for tag in tags if tag not in operator.tags]
    if missing:
        operator._tags = [*operator.tags, *missing]
        operator._nondeterministic_seeded = torch.Tag.nondeterministic_seeded in operator.tags


_FLOP_COUNTER = "torch.utils.flop_counter"
_formulas: dict[Any, Callable[..., Any]] = {}


def _register_formulas() -> None:
    from torch.utils.flop_counter import flop_registry

    flop_registry.update(_formulas)


def count_flops(formula: Callable[..., Any], *operators: str) -> None:
    """Tells torch.utils.flop_counter how many operations a call has: of the operator, and of those that it becomes where
    gradients are recorded.
    """
    if not _formulas:
        when_imported(_FLOP_COUNTER, _register_formulas)
    for operator in operators:
        _formulas[getattr(torch.ops.my_ops, operator)] = formula
    if _FLOP_COUNTER in sys.modules:
        _register_formulas()


def elements(given: Sequence[Any]) -> int:
    """How many elements a call goes over that takes its tensors element by element: what they broadcast to, and so for
    the tensors of lists, place by place.
    """
    lists = [one for one in given if isinstance(one, (list, tuple)) and any(isinstance(t, torch.Tensor) for t in one)]
    plain = [one.shape for one in given if isinstance(one, torch.Tensor)]
    if not lists:
        return torch.broadcast_shapes(*plain).numel()
    places = [[t.shape for t in place if isinstance(t, torch.Tensor)] for place in zip(*lists, strict=False)]
    return sum(torch.broadcast_shapes(*plain, *place).numel() for place in places)


def nondeterministic(operator: str, entry: Any) -> Callable[..., Any]:
    """A kernel that runs in front of those of the devices, in inference mode and compiled graphs, too."""

    def kernel(keyset: Any, *arguments: Any, **keywords: Any) -> Any:
        if torch.are_deterministic_algorithms_enabled():
            text = (
                f"my_ops::{operator}: results can differ from run to run, and "
                "torch.use_deterministic_algorithms(True) is set"
            )
            if not torch.is_deterministic_algorithms_warn_only_enabled():
                raise RuntimeError(text)
            warnings.warn(text, stacklevel=2)
        return entry.redispatch(keyset & after_backend_select, *arguments, **keywords)

    return kernel


def drawing(operator: str, entry: Any) -> Callable[..., Any]:
    """A kernel that runs under torch.vmap, which calls an operator once for each part of a batch: each of them draws,
    and that is what `randomness="different"` says, of calls that see a part.
    """
    functorch = torch._C._functorch
    vmap_mode = torch._C.DispatchKeySet(torch._C.DispatchKey.FuncTorchVmapMode)

    def kernel(keyset: Any, *arguments: Any, **keywords: Any) -> Any:
        seen = set()
        for tensor in (*arguments, *keywords.values()):
            while isinstance(tensor, torch.Tensor) and functorch.maybe_get_level(tensor) > 0:
                if functorch.is_batchedtensor(tensor):
                    seen.add(functorch.maybe_get_level(tensor))
                tensor = functorch.get_unwrapped(tensor)
        for layer in functorch.get_interpreter_stack() or ():
            if layer.key() != functorch.TransformType.Vmap:
                continue
            allowed = functorch.CVmapInterpreterPtr(layer).randomness() == functorch.RandomnessType.Different
            if not allowed or layer.level() not in seen:
                text = 'draws random numbers: torch.vmap needs randomness="different", and a tensor that it takes apart'
                raise RuntimeError(f"my_ops::{operator}: {text}")
        with torch._C._ExcludeDispatchKeyGuard(vmap_mode):
            return entry.redispatch(keyset & after_vmap_mode, *arguments, **keywords)

    return kernel


def show_traced(library: torch.library.Library, internal: str, entry: Any) -> None:
    """torch.jit.trace sees the public operator `entry` where a wrapper calls an internal one: its graph is run later, and
    then has a gradient. PyTorch asks of each call whether it is traced: others it costs nothing.
    """
    library.impl(internal, lambda *arguments, **keywords: entry(*arguments, **keywords), "Tracer")


def warn_deprecated(operator: str, text: str) -> None:
    """Says so at the first call of a process."""
    if operator not in _deprecated:
        _deprecated.add(operator)
        warnings.warn(f"my_ops::{operator}: deprecated: {text}", FutureWarning, stacklevel=3)


def cast(policy: str, allowed: tuple[torch.dtype, ...], *given: Any) -> list[Any]:
    """Tensors, and lists of them, in the dtype that `autocast:` asks for; those that autocast does not touch, and all of
    them when the operator has no kernel of that dtype, as they are.
    """
    tensors = [t for one in given for t in (one if isinstance(one, (list, tuple)) else (one,))]
    eligible = [t.dtype for t in tensors if t is not None and t.dtype in _autocast_dtypes]
    if not eligible:
        return list(given)
    if policy == "float32":
        dtype = torch.float32
    elif policy == "lower":
        dtype = torch.get_autocast_dtype(next(t.device.type for t in tensors if t is not None))
    else:
        dtype = functools.reduce(torch.promote_types, eligible)
    if dtype not in allowed:
        return list(given)
    made = iter([t.to(dtype) if t is not None and t.dtype in _autocast_dtypes else t for t in tensors])
    return [[next(made) for _ in one] if isinstance(one, (list, tuple)) else next(made) for one in given]


def below_autocast() -> Any:
    """A context in which calls go past the Autocast keys."""
    return torch._C._ExcludeDispatchKeyGuard(_autocast_keys)


def refuse_transform(operator: str) -> NoReturn:
    """torch.func.grad and the like would lose the gradient of an operator that they meet in the dispatcher."""
    raise RuntimeError(
        f"my_ops::{operator}: torch.func transforms differentiate my_ops.{operator}, not "
        f"torch.ops.my_ops.{operator}, and only outside torch.compile"
    )


def no_gradient(operator: str) -> str:
    """What the backward of an operator without one says."""
    return (
        f"my_ops::{operator}: no gradient is declared; give it `backward: <operator>` or `differentiable: false` "
        "in ops.yaml"
    )


def refuse_saved(operator: str, name: str) -> NoReturn:
    """A second gradient needs that of a saved output, which is a function of the inputs."""
    raise RuntimeError(
        f"my_ops::{operator}: no gradient is declared for its saved output {name}, which this second gradient needs"
    )


def no_forward_derivative(operator: str) -> str:
    """What forward-mode differentiation says of an operator that it does not know."""
    return (
        f"my_ops::{operator}: forward-mode derivatives are not supported, but for real numbers, outside lists, by "
        "operators whose gradient is derived from `elementwise:`; use torch.func.vjp or torch.func.jacrev"
    )


Form = tuple[torch.Size, torch.dtype, torch.device]


def forms_of_results(results: Any) -> tuple[Form | None, ...]:
    """Shape, dtype and device of what an operator returns; None for what it was not asked for."""
    return tuple(None if one is None else (one.shape, one.dtype, one.device) for one in flat(results))


class _One(list[Any]):
    """torch.func goes into lists, but not into those of a kind of their own."""


def one(values: Any) -> Any:
    """A list of numbers among the arguments of a Function, which jvp under vmap counts as one (torch 2.10 to 2.14)."""
    return _One(values) if isinstance(values, (list, tuple)) else values


class _OneInput:
    """The context of a backward that forward mode runs: one input is differentiated, and nothing is summed to the
    sizes of what was broadcast.
    """

    def __init__(self, context: Any, wanted: Sequence[bool], form: Form) -> None:
        self._context, self.needs_input_grad, self._form = context, wanted, form

    def __getattr__(self, name: str) -> Any:
        return self._form if name.startswith("form_of_") else getattr(self._context, name)


def forward_derivative(operator: str, backward: Callable[..., Any], context: Any, tangents: Sequence[Any]) -> Any:
    """The tangents of the results. The Jacobian of a function of real numbers that works element by element is diagonal,
    so that `backward`, the product with its transpose, is the product with itself, an input and a result at a time.
    """
    given = [(place, tangent) for place, tangent in enumerate(tangents) if tangent is not None]
    forms: tuple[Form | None, ...] = context.forms_of_results
    dtypes = [tangent.dtype for _, tangent in given] + [form[1] for form in forms if form is not None]
    if any(dtype.is_complex for dtype in dtypes):
        raise RuntimeError(no_forward_derivative(operator))
    levels = [level.key() for level in torch._C._functorch.get_interpreter_stack() or ()]
    if levels.count(torch._C._functorch.TransformType.Jvp) > 1:  # in which a Function loses what comes from outside
        raise RuntimeError(
            f"my_ops::{operator}: forward mode over forward mode is not supported; use forward over reverse, "
            "as torch.func.hessian does"
        )
    results: list[torch.Tensor | None] = []
    for result, form in enumerate(forms):
        if form is None or not form[1].is_floating_point:
            results.append(None)
            continue
        total = None
        for place, tangent in given:
            upstream: list[torch.Tensor | None] = [None] * len(forms)
            upstream[result] = tangent.to(form[1]).expand(form[0])
            wanted = [one == place for one in range(len(tangents))]
            gradients = backward(_OneInput(context, wanted, form), *upstream)
            part = gradients[place] if isinstance(gradients, tuple) else gradients
            if part is not None:
                total = part.to(form[1]) if total is None else total + part.to(form[1])
        results.append(zeros(*form) if total is None else total)
    return results[0] if len(results) == 1 else tuple(results)
