"""One use of an operator: its operands, its result, and how a rule ends."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.record import record
from alpha.base.span import Span
from alpha.check import errors_types
from alpha.check.broadcasting import Operand, broadcast, is_settled, same_element
from alpha.check.context import Context, scalar
from alpha.core.types import Tensor, Type
from alpha.diagnostics.diagnostic import Diagnostic, Label


@record(frozen=False)
class Use:
    """One use of an operator. A rule answers False to wait."""

    cx: Context
    sign: str
    span: Span
    left: Operand
    right: Operand
    result: Type
    exponent: int | None = None

    def heads(self) -> tuple[Type, Type]:
        return self.cx.solver.head(self.left.type), self.cx.solver.head(self.right.type)

    def gives(self, type_: Type) -> bool:
        self.cx.unify(self.result, type_, self.span)
        return True

    def refused(self) -> bool:
        return self.gives(self.cx.faulty(self.span).type)

    def refuse(self, diagnostic: Diagnostic) -> bool:
        return self.gives(self.cx.refuse(self.span, diagnostic).type)

    def undefined(self, allowed: str, *, one: bool = False) -> bool:
        show = self.cx.show
        labels = tuple(
            Label(o.span, f"this is `{show(o.type)}`")
            for o in ((self.left,) if one else (self.left, self.right))
        )
        right = None if one else show(self.right.type)
        return self.refuse(
            errors_types.operator(
                self.span, self.sign, show(self.left.type), right, allowed, labels
            )
        )

    def equal(self, left: Operand, right: Type) -> bool:
        return self.cx.unify(left.type, right, left.span)

    def elementwise(
        self, operands: tuple[Operand, ...], dtypes: frozenset[Dtype], indexes: bool, bools: bool
    ) -> bool:
        """All operands are tensors, or literals that become scalars of their dtype."""
        cx = self.cx
        tensors = [o for o in operands if isinstance(cx.solver.head(o.type), Tensor)]
        if not all(
            is_settled(cx, t) for o in tensors if isinstance(t := cx.solver.head(o.type), Tensor)
        ):
            return False
        element = same_element(cx, tensors, self.span)
        if element is None:
            return self.refused()
        for operand in operands:
            if operand not in tensors and not cx.unify(operand.type, scalar(element), operand.span):
                return self.refused()
        cx.require_dtype(element, dtypes, indexes, self.sign, self.span)
        shape = broadcast(cx, operands, self.span)
        if shape is None:
            return self.refused()
        return self.gives(Tensor(Dtype.BOOL if bools else element, shape))
