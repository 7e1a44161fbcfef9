"""One function of LLVM IR: the statements of a kernel, or of several that are launched together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from alpha.codegen.debug import DebugInfo
from alpha.codegen.values import (
    ARITHMETIC,
    BINARY,
    FLOATS,
    INTRINSICS,
    TREE_HALVES,
    compared,
    constant,
    conversion,
    spelled,
    stored,
    suffix,
)
from alpha.kernel.node import (
    LANES,
    Atom,
    Barrier,
    Compute,
    Constant,
    If,
    Kernel,
    Load,
    Loop,
    Row,
    Scalar,
    SharedLoad,
    SharedStore,
    Shuffle,
    Statement,
    Store,
    ValueType,
    Variable,
)


class Function:
    """The text of one kernel, or of several that are launched together.

    `shared` has the functions that do the work of kernels, by the symbol of the kernel; others stand in the text.
    """

    def __init__(
        self,
        symbol: str,
        kernels: Sequence[Kernel],
        declarations: dict[str, None],
        debug: DebugInfo,
        shared: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.symbol = symbol
        self.shared = shared
        self.kernels = kernels
        self.kernel = kernels[0]
        self.declarations = declarations
        self.debug = debug
        self.prefix = ""
        self.lines: list[str] = []
        self.names: dict[Variable, str] = {}
        self.serial = 0
        self.label = "entry"
        span = next((kernel.span for kernel in kernels if kernel.span), None)
        self.scope = debug.function(symbol, span) if span else None
        self.location = debug.location(self.scope, span) if span and self.scope else ""

    def text(self) -> str:
        arguments = "i64 %part, i64 %parts"
        if len(self.kernels) == 1:
            self._kernel(self.kernel)
        else:
            arguments = "i64 %first, i64 %stop"
            self._each()
        attachment = f" !dbg !{self.scope}" if self.scope is not None else ""
        return self._defined(f"ptr %arena, {arguments}", attachment)

    def shared_text(self) -> str:
        """The kernel as a function of the addresses of its buffers."""
        self.location = ""
        self._block(self.kernel.body)
        buffers = range(len(self.kernel.buffers))
        return self._defined(", ".join(f"ptr {self._buffer(number)}" for number in buffers), "")

    def _defined(self, parameters: str, attachment: str) -> str:
        self._line("ret void")
        body = "\n".join(self.lines)
        head = f'define hidden void @"{self.symbol}"({parameters}) #0{attachment}'
        return f"{head} {{\nentry:\n{body}\n}}\n"

    def _each(self) -> None:
        """Enters at kernel number `first` and leaves before number `stop`."""
        own = self.location
        cases = " ".join(f"i64 {n}, label %kernel{n}" for n in range(len(self.kernels)))
        self._line(f"switch i64 %first, label %end [ {cases} ]")
        for number, kernel in enumerate(self.kernels):
            self._open(f"kernel{number}")
            self.kernel, self.prefix = kernel, f"k{number}."
            if kernel.span and self.scope is not None:
                self.location = self.debug.inlined(kernel.symbol, kernel.span, own)
            self._kernel(kernel)
            self.location = own
            following = f"%kernel{number + 1}" if kernel is not self.kernels[-1] else "%end"
            more = self._value(f"icmp ugt i64 %stop, {number + 1}")
            self._line(f"br i1 {more}, label {following}, label %end")
        self._open("end")

    def _kernel(self, kernel: Kernel) -> None:
        if kernel.grid is not None:
            raise ValueError(f"`{kernel.symbol}` is for a device")
        for number, buffer in enumerate(kernel.buffers):
            if buffer.offset is None:
                raise ValueError(f"`{buffer.name}` has no place in the arena")
            name = self._buffer(number)
            base = "%arena"
            for row in buffer.rows:
                base = self._moved(base, row, buffer.scalar.size)
            self._line(f"{name} = getelementptr i8, ptr {base}, i64 {buffer.offset}")
        function = self.shared.get(kernel.symbol)
        if function is None:
            self._block(kernel.body)
            return
        names = [self._buffer(number) for number in range(len(kernel.buffers))]
        self._line(f'call void @"{function}"({", ".join(f"ptr {name}" for name in names)})')

    def _moved(self, base: str, row: Row, size: int) -> str:
        """An address as many rows further on as the index of the loop says."""
        if row.offset is None:
            raise ValueError(f"`{row.cell}` has no place in the arena")
        cell = self._value(f"getelementptr i8, ptr %arena, i64 {row.offset}")
        index = self._value(f"load i32, ptr {cell}, align 4")
        wide = self._value(f"zext i32 {index} to i64")
        distance = self._value(f"mul i64 {wide}, {row.stride * size}")
        return self._value(f"getelementptr i8, ptr {base}, i64 {distance}")

    def _buffer(self, number: int) -> str:
        return f"%{self.prefix}b{number}"

    # Writing.

    def _line(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}{self.location}")

    def _value(self, instruction: str) -> str:
        """A new name for what the instruction gives."""
        name = f"%t{self.serial}"
        self.serial += 1
        self._line(f"{name} = {instruction}")
        return name

    def _open(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def _labels(self, *stems: str) -> list[str]:
        self.serial += 1
        return [f"{stem}{self.serial}" for stem in stems]

    def _atom(self, atom: Atom) -> str:
        return constant(atom) if isinstance(atom, Constant) else self.names[atom]

    def _typed(self, atom: Atom) -> str:
        return f"{spelled(atom.type)} {self._atom(atom)}"

    def _call(self, name: str, result: ValueType, *operands: tuple[ValueType, str]) -> str:
        """A call of an intrinsic, which is declared once a module."""
        types = ", ".join(spelled(type_) for type_, _ in operands)
        self.declarations[f"declare {spelled(result)} @{name}({types})"] = None
        arguments = ", ".join(f"{spelled(type_)} {value}" for type_, value in operands)
        return self._value(f"call {spelled(result)} @{name}({arguments})")

    # Statements.

    def _block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Compute(result=result):
                    self.names[result] = self._compute(statement)
                case Load(result=result):
                    self.names[result] = self._load(statement)
                case Store():
                    self._store(statement)
                case Loop():
                    self._loop(statement)
                case If():
                    self._if(statement)
                case SharedLoad() | SharedStore() | Barrier() | Shuffle():
                    raise AssertionError("the verifier refuses it without a grid")
                case _:
                    assert_never(statement)

    def _address(self, buffer: int, index: str) -> str:
        one = stored(ValueType(self.kernel.buffers[buffer].scalar))
        return self._value(f"getelementptr {one}, ptr {self._buffer(buffer)}, i64 {index}")

    def _load(self, statement: Load) -> str:
        type_ = statement.result.type
        if statement.index.type.lanes == 1:
            memory = stored(type_)
            address = self._address(statement.buffer, self._atom(statement.index))
            value = self._value(f"load {memory}, ptr {address}, align {type_.scalar.size}")
        else:
            memory, value = stored(type_), "poison"
            one = stored(ValueType(type_.scalar))
            for lane in range(LANES):
                index = self._value(f"extractelement {self._typed(statement.index)}, i64 {lane}")
                address = self._address(statement.buffer, index)
                item = self._value(f"load {one}, ptr {address}, align {type_.scalar.size}")
                value = self._value(f"insertelement {memory} {value}, {one} {item}, i64 {lane}")
        if type_.scalar is Scalar.BOOL:
            value = self._value(f"trunc {memory} {value} to {spelled(type_)}")
        return value

    def _store(self, statement: Store) -> None:
        type_ = statement.value.type
        value = self._atom(statement.value)
        if type_.scalar is Scalar.BOOL:
            value = self._value(f"zext {spelled(type_)} {value} to {stored(type_)}")
        address = self._address(statement.buffer, self._atom(statement.index))
        self._line(f"store {stored(type_)} {value}, ptr {address}, align {type_.scalar.size}")

    def _bounds(self, loop: Loop) -> tuple[str, str]:
        """A parallel loop of n turns runs from n * part / parts to n * (part + 1) / parts."""
        if not loop.parallel:
            return str(loop.start), str(loop.stop)
        ends: list[str] = []
        following = self._value("add i64 %part, 1")
        for part in ("%part", following):
            product = self._value(f"mul i64 {part}, {loop.stop}")
            ends.append(self._value(f"udiv i64 {product}, %parts"))
        return ends[0], ends[1]

    def _loop(self, loop: Loop) -> None:
        """Serial loops have at least one turn; a part of a parallel loop may have none."""
        start, stop = self._bounds(loop)
        before = self.label
        head, body, done = self._labels("head", "body", "done")
        self._line(f"br label %{head}")
        self._open(head)
        index = self.names[loop.index] = f"%i{self.serial}"
        nexts: list[tuple[int, str]] = []

        def phi(name: str, type_: str, initial: str) -> None:
            # The second operand is known only when the body is written.
            nexts.append((len(self.lines), f"{name} = phi {type_} [ {initial}, %{before} ]"))
            self.lines.append("")

        phi(index, "i64", start)
        for place, item in enumerate(loop.carried):
            name = f"%c{self.serial}.{place}"
            self.names[item.inside] = self.names[item.result] = name
            phi(name, spelled(item.inside.type), self._atom(item.initial))
        more = self._value(f"icmp ult i64 {index}, {stop}")
        self._line(f"br i1 {more}, label %{body}, label %{done}")
        self._open(body)
        self._block(loop.body)
        following = self._value(f"add i64 {index}, {loop.step}")
        values = [following, *(self._atom(item.next) for item in loop.carried)]
        for (place, text), value in zip(nexts, values, strict=True):
            self.lines[place] = f"  {text}, [ {value}, %{self.label} ]{self.location}"
        self._line(f"br label %{head}")
        self._open(done)

    def _if(self, statement: If) -> None:
        then, done = self._labels("then", "done")
        self._line(f"br i1 {self._atom(statement.condition)}, label %{then}, label %{done}")
        self._open(then)
        self._block(statement.body)
        self._line(f"br label %{done}")
        self._open(done)

    # Operators.

    def _compute(self, statement: Compute) -> str:
        operator, operands, type_ = statement.operator, statement.operands, statement.result.type
        first = operands[0]
        in_floats = type_.scalar in FLOATS
        if operator in ARITHMETIC:
            word = ARITHMETIC[operator][0 if in_floats else 1]
            return self._value(f"{word} {self._typed(first)}, {self._atom(operands[1])}")
        if operator in BINARY:
            return self._value(
                f"{BINARY[operator]} {self._typed(first)}, {self._atom(operands[1])}"
            )
        if operator in INTRINSICS and in_floats:
            name = f"llvm.{INTRINSICS[operator]}.{suffix(type_)}"
            return self._call(name, type_, *((atom.type, self._atom(atom)) for atom in operands))
        if operator in ("maximum", "minimum"):
            return self._integer_extreme(operator, first, operands[1])
        if operator in ("quotient", "remainder"):
            word = "div" if operator == "quotient" else "rem"
            sign = "s" if type_.scalar.is_signed else "u"
            return self._value(f"{sign}{word} {self._typed(first)}, {self._atom(operands[1])}")
        if operator == "shiftRight":
            word = "ashr" if type_.scalar.is_signed else "lshr"
            return self._value(f"{word} {self._typed(first)}, {self._atom(operands[1])}")
        if operator.startswith("tree"):
            return self._tree(operator, first)
        return self._other(operator, operands, type_)

    def _other(self, operator: str, operands: Sequence[Atom], type_: ValueType) -> str:
        first = operands[0]
        match operator:
            case "neg":
                return self._value(f"fneg {self._typed(first)}")
            case "isNan":
                return self._value(f"fcmp uno {self._typed(first)}, {self._atom(first)}")
            case "select":
                chosen, otherwise = operands[1:]
                return self._value(
                    f"select {self._typed(first)}, {self._typed(chosen)}, {self._typed(otherwise)}"
                )
            case "bits":
                return self._value(f"bitcast {self._typed(first)} to {spelled(type_)}")
            case "convert":
                return self._convert(first, type_)
            case "splat":
                one = self._value(
                    f"insertelement {spelled(type_)} poison, {self._typed(first)}, i64 0"
                )
                return self._value(
                    f"shufflevector {spelled(type_)} {one}, {spelled(type_)} poison,"
                    f" <{LANES} x i32> zeroinitializer"
                )
            case "extract":
                return self._value(
                    f"extractelement {self._typed(first)}, {self._typed(operands[1])}"
                )
            case "mulHigh":
                return self._multiply_high(first, operands[1])
            case _:
                word = compared(operator, first.type)
                return self._value(f"{word} {self._typed(first)}, {self._atom(operands[1])}")

    def _convert(self, value: Atom, type_: ValueType) -> str:
        word = conversion(value.type.scalar, type_.scalar)
        if word.startswith("@"):
            name = f"llvm.{word[1:]}.{suffix(type_)}.{suffix(value.type)}"
            return self._call(name, type_, (value.type, self._atom(value)))
        return self._value(f"{word} {self._typed(value)} to {spelled(type_)}")

    def _multiply_high(self, a: Atom, b: Atom) -> str:
        wide = spelled(ValueType(Scalar.U64, a.type.lanes))
        shift = constant(Constant(32, ValueType(Scalar.U64, a.type.lanes)))
        left = self._value(f"zext {self._typed(a)} to {wide}")
        right = self._value(f"zext {self._typed(b)} to {wide}")
        product = self._value(f"mul {wide} {left}, {right}")
        upper = self._value(f"lshr {wide} {product}, {shift}")
        return self._value(f"trunc {wide} {upper} to {spelled(a.type)}")

    def _integer_extreme(self, operator: str, a: Atom, b: Atom) -> str:
        word = compared("greater" if operator == "maximum" else "less", a.type)
        wins = self._value(f"{word} {self._typed(a)}, {self._atom(b)}")
        flags = spelled(ValueType(Scalar.BOOL, a.type.lanes))
        return self._value(f"select {flags} {wins}, {self._typed(a)}, {self._typed(b)}")

    def _tree(self, operator: str, value: Atom) -> str:
        """For h = 8, 4, 2, 1: lane j = lane j op lane j+h, on vectors of h lanes that end as one."""
        scalar = value.type.scalar
        current, width = self._atom(value), LANES
        for half in TREE_HALVES:
            whole = spelled(ValueType(scalar, width))
            parts: list[str] = []
            for first in (0, half):
                picked = ", ".join(f"i32 {first + lane}" for lane in range(half))
                parts.append(
                    self._value(
                        f"shufflevector {whole} {current}, {whole} poison, <{half} x i32> <{picked}>"
                    )
                )
            current = self._joined(operator, ValueType(scalar, half), parts[0], parts[1])
            width = half
        return self._value(f"extractelement <1 x {spelled(ValueType(scalar))}> {current}, i64 0")

    def _joined(self, operator: str, type_: ValueType, a: str, b: str) -> str:
        # A vector of one lane is spelled as one here, unlike any value of a kernel.
        spelt = f"<{type_.lanes} x {spelled(ValueType(type_.scalar))}>"
        floats = type_.scalar in FLOATS
        if operator == "treeAdd":
            return self._value(f"{'fadd' if floats else 'add'} {spelt} {a}, {b}")
        word = "maximum" if operator == "treeMaximum" else "minimum"
        if floats:
            name = f"llvm.{word}.v{type_.lanes}{suffix(ValueType(type_.scalar))}"
            self.declarations[f"declare {spelt} @{name}({spelt}, {spelt})"] = None
            return self._value(f"call {spelt} @{name}({spelt} {a}, {spelt} {b})")
        flags = f"<{type_.lanes} x i1>"
        compare = compared("greater" if word == "maximum" else "less", type_)
        wins = self._value(f"{compare} {spelt} {a}, {b}")
        return self._value(f"select {flags} {wins}, {spelt} {a}, {spelt} {b}")
