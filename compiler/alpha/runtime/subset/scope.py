"""What the names of a module mean. One flat namespace holds the declarations of all sources of the runtime."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from alpha.base.record import field, record
from alpha.runtime.subset.errors import SubsetError
from alpha.runtime.subset.types import TYPES, Type

STORAGE = ("bytes", "relro", "linker")
DECORATORS = ("export", "entry", "extern", "noreturn", "noinline")


@record
class Variable:
    """A module variable of a scalar type with its initial value, or storage of `size` bytes (its name is a `ptr`).

    `storage` is "" for scalars, `bytes` for zeroed memory, `relro` for memory sealed at start, `linker` for a symbol
    defined by another object.
    """

    name: str
    type: Type
    storage: str
    size: int


@record
class Table:
    """Read-only elements handed in by the build, such as the powers of ten."""

    type: Type
    elements: Sequence[int]


@record
class Function:
    name: str
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    decorators: frozenset[str]
    file: str
    node: ast.FunctionDef


@record(frozen=False)
class Scope:
    constants: dict[str, int] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def knows(self, name: str) -> bool:
        return (
            name in self.constants
            or name in self.variables
            or name in self.tables
            or name in self.functions
            or name in TYPES
        )

    def collect(self, file: str, tree: ast.Module) -> None:
        """Declares every name of one source. A name declared twice, in any source, is an error."""
        for node in tree.body:
            match node:
                case ast.FunctionDef():
                    self._free(file, node, node.name)
                    self.functions[node.name] = _function(file, node)
                case ast.Assign(targets=[ast.Name(id=name)]):
                    self._free(file, node, name)
                    constant = self.fold(node.value)
                    if constant is None:
                        raise SubsetError(file, node, f"{name} needs a constant integer")
                    self.constants[name] = constant
                case ast.AnnAssign(target=ast.Name(id=name)):
                    self._free(file, node, name)
                    self.variables[name] = self._variable(file, node, name)
                case ast.Expr(value=ast.Constant(value=str())):
                    pass
                case _:
                    raise SubsetError(file, node, "a module holds constants, variables, functions")

    def fold(self, node: ast.expr) -> int | None:
        """The value of a constant integer expression, or None."""
        match node:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return self.constants.get(name)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Constant(value=bytes(text))]):
                return len(text)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.fold(operand)
                return None if inner is None else -inner
            case ast.BinOp(left=left, op=operator, right=right):
                a, b = self.fold(left), self.fold(right)
                return None if a is None or b is None else _fold_binary(operator, a, b)
            case _:
                return None

    def _free(self, file: str, node: ast.AST, name: str) -> None:
        if self.knows(name):
            raise SubsetError(file, node, f"{name} is declared twice")

    def _variable(self, file: str, node: ast.AnnAssign, name: str) -> Variable:
        match node.annotation:
            case ast.Subscript(value=ast.Name(id=storage), slice=size) if storage in STORAGE:
                count = self.fold(size)
                if count is None or node.value is not None:
                    raise SubsetError(file, node, f"{storage} needs a constant size and no value")
                return Variable(name, TYPES["ptr"], storage, count)
            case ast.Name(id="linker") if node.value is None:
                return Variable(name, TYPES["ptr"], "linker", 0)
            case ast.Name(id=kind) if kind in TYPES:
                value = 0 if node.value is None else self.fold(node.value)
                if value is None or (TYPES[kind].is_integer and not TYPES[kind].holds(value)):
                    raise SubsetError(file, node, f"{name} needs a constant that fits {kind}")
                if not TYPES[kind].is_integer and value != 0:
                    raise SubsetError(file, node, f"{name}: only integers start with a value")
                return Variable(name, TYPES[kind], "", value)
        raise SubsetError(file, node, "unknown type of a variable")


def type_of(file: str, node: ast.expr | None, place: ast.AST | None = None) -> Type:
    """The type that an annotation names. `place` is where to point if there is no annotation."""
    if isinstance(node, ast.Name) and node.id in TYPES:
        return TYPES[node.id]
    raise SubsetError(file, node or place, "a type is needed here")


def _function(file: str, node: ast.FunctionDef) -> Function:
    plain = node.args
    if plain.vararg or plain.kwarg or plain.kwonlyargs or plain.defaults or plain.posonlyargs:
        raise SubsetError(file, node, "only plain parameters")
    decorators = {item.id for item in node.decorator_list if isinstance(item, ast.Name)}
    if len(decorators) != len(node.decorator_list) or not decorators <= set(DECORATORS):
        raise SubsetError(file, node, f"decorators are {', '.join(DECORATORS)}")
    return Function(
        node.name,
        tuple((item.arg, type_of(file, item.annotation, item)) for item in plain.args),
        TYPES["void"] if node.returns is None else type_of(file, node.returns),
        frozenset(decorators),
        file,
        node,
    )


def _fold_binary(operator: ast.operator, a: int, b: int) -> int | None:
    match operator:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        # Python rounds down and the machine towards zero: only what is the same for both is folded
        case ast.FloorDiv() if a >= 0 and b > 0:
            return a // b
        case ast.Mod() if a >= 0 and b > 0:
            return a % b
        case ast.LShift():
            return a << b
        case ast.RShift():
            return a >> b
        case ast.BitOr():
            return a | b
        case ast.BitAnd():
            return a & b
        case ast.BitXor():
            return a ^ b
        case _:
            return None
