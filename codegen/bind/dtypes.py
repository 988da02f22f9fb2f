"""Which argument binds which dtype variable, and the rules on dtypes that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen.assignments import FirstDtype
from codegen.bind.arguments import scalars
from codegen.contract import Acc, Argument, Dtype, FixedDtype, TensorType, TypeVariable, Variable
from codegen.positions import each_of, first_given_of, first_of, list_of
from codegen.rules import AccDtypeRule, DtypeRule, PlainRule, Rule, SameDtypeRule, When, when, where_given
from codegen.types import DTYPES


def dtype_rules(types: Sequence[TypeVariable], arguments: Sequence[Argument], optional: frozenset[str]) -> list[Rule]:
    """Variables bind in order of the inputs, what is always given first; an accumulation dtype waits until its variable
    is bound.
    """
    variables = {variable.name: variable for variable in types}
    holders: dict[str, list[str]] = {name: [] for name in variables}
    named = {name for name, kind in scalars(arguments) if kind.variable}
    found: list[Rule] = []
    waiting: list[tuple[str, str]] = []
    order = {variable.name: place for place, variable in enumerate(types) if variable.listed}
    unbound_yet = [variable for variable in types if variable.allowed[0] in variables]
    for name, dtype in sorted(_dtypes(arguments), key=lambda item: _rank(item, order, optional)):
        place = _rank((name, dtype), order, optional)[0]
        while unbound_yet and order[unbound_yet[0].name] < place:
            found += _first_dtype(unbound_yet.pop(0), holders, optional)
        match dtype:
            case FixedDtype():
                found.append(where_given(DtypeRule(name, "", (dtype.name,)), name, optional))
            case Variable() if name.endswith("[_i]"):
                source = holders[dtype.name][0]  # its first tensor, if nothing before it
                source = first_given_of(list_of(name)) if source in optional else source
                found.append(where_given(SameDtypeRule(name, dtype.name, source), name, optional))
            case Variable():
                variable = variables[dtype.name]
                bound = holders[variable.name]
                if name.endswith(("[0]", "[_f]")) and bound and bound[0] not in optional:
                    continue  # each of the list is compared
                same = [SameDtypeRule(name, variable.name, source) for source in bound]
                first = DtypeRule(name, variable.name, variable.allowed, name in named)
                found += _by_holder(name, bound, [*same, first], optional)
                if not bound or bound[0] in optional:
                    bound.append(name)
            case Acc():
                bound = holders[dtype.variable]
                if bound and bound[0] not in optional:
                    found.append(where_given(AccDtypeRule(name, dtype.variable, bound[0]), name, optional))
                else:
                    waiting.append((name, dtype.variable))
    for variable in unbound_yet:
        found += _first_dtype(variable, holders, optional)
    for name, letter in waiting:
        # What no input binds takes its first dtype.
        unbound = DtypeRule(name, "", (DTYPES[variables[letter].dtypes[0]].acc,))
        bound = holders[letter]
        found += _by_holder(name, bound, [*(AccDtypeRule(name, letter, source) for source in bound), unbound], optional)
    return found


def _first_dtype(
    variable: TypeVariable, holders: Mapping[str, Sequence[str]], optional: frozenset[str]
) -> Iterator[Rule]:
    """What a variable is that no given argument binds, where its list begins with an earlier variable."""
    bound = holders[variable.name]
    if not bound or bound[0] in optional:
        yield When((), tuple(bound), FirstDtype(variable.name, variable.allowed[0]))


def _rank(item: tuple[str, Dtype], order: Mapping[str, int], optional: frozenset[str]) -> tuple[int, bool]:
    """Where an argument stands among those that bind dtypes: behind what its list of dtypes names, then as given."""
    name, dtype = item
    place = order.get(dtype.name, -1) if isinstance(dtype, Variable) else -1
    return place, name in optional or first_given_of(list_of(name)) in optional


def _dtypes(arguments: Sequence[Argument]) -> Iterator[tuple[str, Dtype]]:
    """The arguments that have a dtype, or name the one that a variable stands for."""
    for argument in arguments:
        if isinstance(argument.type, TensorType) and argument.type.is_list:
            if isinstance(argument.type.dtype, Variable):
                unsure = argument.type.may_lack_tensors
                yield (first_given_of if unsure else first_of)(argument.name), argument.type.dtype
            yield each_of(argument.name), argument.type.dtype
        elif isinstance(argument.type, TensorType):
            yield argument.name, argument.type.dtype
        elif argument.type.variable:
            yield argument.name, Variable(argument.type.variable)


def _by_holder(
    argument: str, holders: Sequence[str], rules: Sequence[PlainRule], optional: frozenset[str]
) -> Iterator[Rule]:
    """One rule for each argument that can have bound the variable, and a last one for where none did. An argument that
    is always given leaves no other case.
    """
    own = (argument,) if argument in optional else ()
    for i, rule in enumerate(rules):
        source = holders[i] if i < len(holders) else ""
        given = own if not source or source not in optional else (*own, source)
        absent = tuple(holders[:i])
        yield when(rule, argument, given, absent)
        if source and source not in optional:
            return
