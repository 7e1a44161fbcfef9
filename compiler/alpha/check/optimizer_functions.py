"""Functions of an optimizer that its update uses: local definitions, with signatures if they are written."""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.record import record
from alpha.check import errors_names
from alpha.check.context import Context
from alpha.check.cycles import circle, in_order, is_circle
from alpha.check.definitions import check_signed, enter_signature, read_signature
from alpha.check.entries import LocalFunction, Variable
from alpha.check.expressions import Made, let_
from alpha.check.module_scope import Work
from alpha.check.references import mentioned, surely_mentioned
from alpha.core import term
from alpha.core.types import Scheme
from alpha.diagnostics.diagnostic import Label
from alpha.syntax import tree


@record
class Helpers:
    """The definitions of an optimizer besides `update`, and the signatures of some of them."""

    work: Work
    defines: Mapping[str, tree.Define]
    signatures: Mapping[str, tree.Signature]

    def check(self, cx: Context) -> list[Made]:
        """Checks each after those that it uses, and puts it in scope."""
        graph = {
            name: [other for other in mentioned(define.body) if other in self.defines]
            for name, define in self.defines.items()
        }
        made: list[Made] = []
        surely = {
            name: [other for other in surely_mentioned(define) if other in self.defines]
            for name, define in self.defines.items()
        }
        for component in in_order(graph, surely):
            if is_circle(component, surely):
                path = circle(component, surely)
                places = [self.defines[name].name.span for name in path]
                labels = tuple(Label(place, "part of the circle") for place in places[1:])
                reported = cx.report(errors_names.recursion(places[0], path, labels))
                for name, place in zip(path, places, strict=True):
                    cx.locals = {**cx.locals, name: Variable(cx.solver.poisoned(reported), place)}
                continue
            (name,) = component
            define = self.defines[name]
            if name in self.signatures:
                made.append(self._signed(cx, define, self.signatures[name]))
            elif define.parameters:
                function = tree.LetFn(define.name, define.parameters, define.body, span=define.span)
                made.append(let_(cx, function))
            else:
                bound = tree.PVar(name, span=define.name.span)
                made.append(let_(cx, tree.Let(bound, None, define.body, span=define.span)))
        return made

    def _signed(self, cx: Context, define: tree.Define, node: tree.Signature) -> Made:
        """A definition against its signature. A name of the optimizer's, such as its shape, is the same one in it."""
        name, place = define.name.text, define.name.span
        cx.claim(name, place)
        signed = read_signature(self.work, node)
        outer = cx.locals, cx.variables, cx.solver.where
        held = cx.variables.kinds
        own = tuple([each for each in signed.scheme.variables if held.get(each[0]) is not each[1]])
        cx.variables = cx.variables.copy(open=True)
        enter_signature(cx, signed)
        found = check_signed(cx, self.work, define, signed)
        cx.settle()
        cx.locals, cx.variables, cx.solver.where = outer
        if not own:
            cx.locals = {**cx.locals, name: Variable(signed.scheme.type, place)}
            return define.span, term.Bind(name, signed.scheme.type), name, found
        binder = LocalFunction(Scheme(own, signed.scheme.type), place, signed.where)
        cx.locals = {**cx.locals, name: binder}
        return define.span, binder, name, found
