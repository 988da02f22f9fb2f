"""C shims as boxed kernels, for driver.c: functions that take their arguments off the stack, without a step that can
fail, call the shim as a compiled model does, and raise what it says.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.contract import ScalarType, TensorType
from codegen.lower.schema import DispatchedOperator, dispatched
from codegen.lower.shims import has_shim, shims_view
from codegen.model import Library, Operator


def adaptors(library: Library) -> str:
    """For each operator that has a shim one of them, and fake_find_shim, which finds it by the operator's name."""
    view = shims_view(library)
    prototypes = {shim.symbol: " ".join(shim.parameters).removesuffix(" {") for shim in view.shims}
    symbols = {overload.row[0]: overload.symbol for overload in view.overloads}
    lines = [f"AOTITorchError {symbol}({parameters};" for symbol, parameters in prototypes.items()]
    lines += [f"const char *{library.namespace}_shim_error(void);"]
    names = []
    for op in library.operators:
        for entry in dispatched(op):
            if has_shim(op, entry):
                symbol = symbols[f'"{entry.name}"']
                names.append((entry.name, f"fake_{symbol}"))
                lines += _adaptor(library, op, entry, symbol)
    lines += ["BoxedKernel *fake_find_shim(const char *name);", "BoxedKernel *fake_find_shim(const char *name) {"]
    lines += [f'    if (strcmp(name, "{name}") == 0) {{ return {function}; }}' for name, function in names]
    return "\n".join([*lines, "    (void)name;", "    return NULL;", "}", ""])


def _kinds(op: Operator, entry: DispatchedOperator) -> Iterator[tuple[str, bool, bool, bool]]:
    """Of each argument: what it is, whether it is optional, a list, and whether its elements are."""
    for argument in op.arguments:
        kind = argument.type
        if isinstance(kind, TensorType):
            yield "tensor", kind.optional, kind.is_list, kind.element_optional
        else:
            assert isinstance(kind, ScalarType)
            yield kind.kind, kind.optional, kind.is_list, False
    if op.grad_mask:
        yield "bool", False, True, False
    if entry.variant is not None and entry.variant.kind == "out":
        for _ in entry.variant.writes:
            yield "tensor", False, False, False


_TYPES = {"tensor": "AtenTensorHandle", "float": "double", "int": "int64_t", "size": "int64_t", "bool": "int32_t"}
_TYPES |= {"dtype": "int32_t", "choice": "const char *"}


def _adaptor(library: Library, op: Operator, entry: DispatchedOperator, symbol: str) -> list[str]:
    take, release, passed, made = [], [], [], ""
    for i, (kind, optional, is_list, element_optional) in enumerate(_kinds(op, entry)):
        own = _TYPES[kind]
        own = f"{own} const *" if element_optional else own
        slot = f"v{i}"
        take.append(f"    StableIValue {slot} = stack[{i}];")
        if optional:
            take.append(f"    StableIValue *const box{i} = (StableIValue *)(uintptr_t){slot};")
            take.append(f"    {slot} = box{i} != NULL ? *box{i} : 0;")
            release.append(f"    _ZdlPv(box{i});")
        if is_list:
            made += "b" if element_optional else "t" if kind == "tensor" else "n"
            given = f"box{i} != NULL" if optional else "true"
            take.append(f"    int64_t count{i} = 0;")
            values = f"fake_list_values({slot}, {given}, {int(kind == 'bool')}, &count{i})"
            take.append(f"    {own} const *const values{i} = {values};")
            passed += [f"box{i} != NULL ? &values{i} : NULL" if optional else f"values{i}", f"count{i}"]
            release.append(f"    fake_list_end({slot}, {given}, values{i});")
            continue
        if kind == "choice":
            take.append(f"    const char *const one{i} = fake_text({slot});")
            release.append(f"    fake_text_end({slot});")
        else:
            take.append(f"    {own} one{i};")
            take.append(f"    memcpy(&one{i}, &{slot}, sizeof one{i});")
        if kind == "tensor":
            release.append(f"    fake_tensor_end({slot});")
        passed.append(f"box{i} != NULL ? &one{i} : NULL" if optional else f"one{i}")
    outputs = () if entry.variant is not None else op.outputs if entry.saved else op.public_outputs
    passed += [f"(AtenTensorHandle *)&stack[{i}]" for i in range(len(outputs))]
    name = f"fake_{symbol}"
    return [
        f"static void {name}(StableIValue *stack, uint64_t count, uint64_t outputs) {{",
        "    (void)count;",
        "    (void)outputs;",
        *take,
        f'    fake_made_lists("{made}");',
        f"    const AOTITorchError code = {symbol}({', '.join(passed)});",
        '    fake_made_lists("");',
        *release,
        "    if (code != 0) {",
        f'        aoti_torch_check(false, "", "", 0, {library.namespace}_shim_error());',
        "    }",
        "}",
    ]
