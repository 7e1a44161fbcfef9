"""A set of subset sources as one LLVM module in text form."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from alpha.base.record import field, record
from alpha.runtime.subset.context import FunctionContext, Output
from alpha.runtime.subset.debug import DebugInfo
from alpha.runtime.subset.errors import SubsetError
from alpha.runtime.subset.handles import DEFAULTS, SIZE, Handles, defaults_ir, handles_of
from alpha.runtime.subset.scope import Function, Scope, Table, Variable
from alpha.runtime.subset.statements import body
from alpha.runtime.subset.types import Value

_ATTRIBUTES = (
    'nounwind optsize "no-builtins" "frame-pointer"="all" "probe-stack"="inline-asm"'
    ' "no-jump-tables"="true"'
)
"""No tables of addresses in place of comparisons: they would be relocated.
`optsize`: no padding before loops and nothing duplicated, which is smaller, and no slower that can be measured.
No `uwtable`: nothing unwinds at run time, so the unwind tables are debugging information, not loaded."""


@record
class SubsetSource:
    """`name` is the file name that error messages and debuggers show."""

    name: str
    text: str


@record
class Settings:
    """What the build fixes: the triple, the processor every function must run on, constants and tables.

    `apart` names sources whose functions and texts get sections of their own, `.text.NAME` and `.rodata.NAME`, so that
    a linker can leave them out. `ir` is LLVM IR text that stands in the module as it is, for functions declared
    `extern` in the sources. With `library` the variables live in blocks that callers hand in, as `handles.py` says.
    """

    triple: str
    processor: str
    producer: str
    constants: Mapping[str, int]
    tables: Mapping[str, Table]
    ir: str = ""
    apart: frozenset[str] = frozenset()
    defined_in_ir: frozenset[str] = field(default_factory=frozenset)
    library: bool = False


@record
class CompiledModule:
    """`ir` is the module's text; `zeroed` the bytes of its zero-initialised storage, alignment included."""

    ir: str
    zeroed: int


def collect(sources: Sequence[SubsetSource], settings: Settings) -> Scope:
    scope = Scope(constants=dict(settings.constants), tables=dict(settings.tables))
    for source in sources:
        try:
            tree = ast.parse(source.text, source.name)
        except SyntaxError as error:
            place = ast.Pass(lineno=error.lineno or 0, col_offset=(error.offset or 1) - 1)
            raise SubsetError(source.name, place, error.msg) from None
        scope.collect(source.name, tree)
    return scope


def compile_module(sources: Sequence[SubsetSource], settings: Settings) -> CompiledModule:
    """Lowers all sources into one module. The result depends on nothing but the arguments."""
    scope = collect(sources, settings)
    handles = handles_of(scope) if settings.library else None
    external = {name for name, each in scope.functions.items() if "extern" in each.decorators}
    defined = settings.defined_in_ir
    if handles is not None:
        scope.constants[SIZE] = handles.size
        defined |= {DEFAULTS}
    output = Output(DebugInfo(settings.producer, sources[0].name), handles)
    functions = [
        _function(scope, output, function, settings)
        for function in scope.functions.values()
        if function.name not in defined
        and (handles is None or function.name in handles.reached | external)
    ]
    lines = [f'target triple = "{settings.triple}"']
    lines += [_variable(item) for item in _variables(scope, handles)]
    if handles is not None:
        lines.append(defaults_ir(scope, handles))
    lines += [_table(name, table) for name, table in scope.tables.items()]
    texts = _texts_apart(functions, settings)
    lines += [_string(text, symbol, texts) for text, symbol in output.strings.items()]
    lines += output.declarations
    lines += [settings.ir, *functions, *output.debug.text()]
    zeroed = sum(-(-v.size // 64) * 64 for v in scope.variables.values() if v.storage == "bytes")
    return CompiledModule("\n".join(lines) + "\n", zeroed)


def _function(scope: Scope, output: Output, function: Function, settings: Settings) -> str:
    result = function.result.llvm
    if "extern" in function.decorators:
        kinds = ", ".join(kind.llvm for _, kind in function.parameters)
        return f"declare hidden {result} @{function.name}({kinds}) nounwind"
    context = FunctionContext(scope, output, function)
    body(context)
    linkage = "hidden" if function.decorators & {"export", "entry"} else "internal"
    shown = ("noinline",) if settings.library else ("noinline", "noreturn")
    flags = "".join(f"{flag} " for flag in shown if flag in function.decorators)
    named = [Value(f"%{name}", kind) for name, kind in function.parameters]
    parameters = ", ".join(map(str, context.parameters(named)))
    name = function.file.removesuffix(".rt")
    section = f' section ".text.{name}"' if name in settings.apart else ""
    head = (
        f"define {linkage} {result} @{function.name}({parameters}) {flags}{_ATTRIBUTES} "
        f'"target-cpu"="{settings.processor}"{section} !dbg {context.subprogram} {{'
    )
    return "\n".join([head, "entry:", *context.blocks.lines, "}"])


def _variables(scope: Scope, handles: Handles | None) -> list[Variable]:
    """The variables that are symbols: in a library those of the linker alone."""
    found = list(scope.variables.values())
    return found if handles is None else [each for each in found if each.storage == "linker"]


def _variable(variable: Variable) -> str:
    name = variable.name
    if variable.storage == "linker":
        return f"@{name} = external hidden global i8"
    if variable.storage:
        section = ', section ".data.rel.ro"' if variable.storage == "relro" else ""
        size = variable.size
        return f"@{name} = internal global [{size} x i8] zeroinitializer{section}, align 64"
    kind = variable.type.llvm
    value = {"ptr": "null", "float": "0.0", "double": "0.0", "i1": "false"}.get(kind)
    return f"@{name} = internal global {kind} {value or variable.size}, align 16"


def _table(name: str, table: Table) -> str:
    elements = ", ".join(f"{table.type.llvm} {element}" for element in table.elements)
    size = f"[{len(table.elements)} x {table.type.llvm}]"
    return f"@{name} = internal constant {size} [{elements}], align 16"


def _texts_apart(functions: Sequence[str], settings: Settings) -> dict[str, str]:
    """The source that alone uses a text, for sources that stand apart."""
    users: dict[str, set[str]] = {}
    for function in functions:
        found = re.search(r' section "\.text\.(\w+)"', function.partition("\n")[0])
        for symbol in re.findall(r"@text\.\d+", function):
            users.setdefault(symbol, set()).add(found[1] if found else "")
    return {
        symbol: next(iter(names))
        for symbol, names in users.items()
        if len(names) == 1 and names <= settings.apart
    }


def _string(text: bytes, symbol: str, apart: Mapping[str, str]) -> str:
    section = f', section ".rodata.{apart[symbol]}"' if symbol in apart else ""
    content = "".join(f"\\{byte:02X}" for byte in text + b"\0")
    kind = f"[{len(text) + 1} x i8]"
    return f'{symbol} = private unnamed_addr constant {kind} c"{content}"{section}, align 1'
