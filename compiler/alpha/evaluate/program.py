"""The checked program, indexed by symbol for evaluation."""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.record import record
from alpha.core.term import (
    Definition,
    Learner,
    Model,
    Module,
    Optimizer,
    Pairing,
    Policy,
    Profile,
    Program,
    RecordType,
    VariantType,
)

Declaration = Definition | Model | Optimizer | Learner | Policy | Profile | Pairing

BUILTIN_ARITIES = {"Some": 1, "Ok": 1, "Err": 1, "None": 0, "True": 0, "False": 0}
"""Number of arguments of each constructor that no module declares."""


@record
class Index:
    """Declarations by symbol, types by name, and the module each symbol stands in."""

    modules: Mapping[str, Module]
    declarations: Mapping[str, Declaration]
    types: Mapping[str, RecordType | VariantType]
    arities: Mapping[str, int]
    home: Mapping[str, str]

    @staticmethod
    def of(program: Program | Index) -> Index:
        if isinstance(program, Index):
            return program
        declarations: dict[str, Declaration] = {}
        types: dict[str, RecordType | VariantType] = {}
        arities = dict(BUILTIN_ARITIES)
        home: dict[str, str] = {}
        for module in program.modules:
            groups: tuple[tuple[Declaration, ...], ...] = (
                module.definitions,
                module.models,
                module.optimizers,
                module.learners,
                module.policies,
                module.profiles,
                module.pairings,
            )
            for group in groups:
                for declaration in group:
                    declarations[declaration.symbol] = declaration
                    home[declaration.symbol] = module.name
            for declared in module.types:
                types[declared.name] = declared
                if isinstance(declared, VariantType):
                    for constructor, arguments in declared.variants:
                        arities[constructor] = len(arguments)
        return Index({m.name: m for m in program.modules}, declarations, types, arities, home)

    def arity(self, constructor: str) -> int:
        """Number of arguments of a constructor; built-in ones are known by name."""
        return self.arities[constructor]

    def model(self, symbol: str) -> Model:
        found = self.declarations[symbol]
        assert isinstance(found, Model), symbol
        return found

    def optimizer(self, symbol: str) -> Optimizer:
        found = self.declarations[symbol]
        assert isinstance(found, Optimizer), symbol
        return found

    def learner(self, symbol: str) -> Learner:
        found = self.declarations[symbol]
        assert isinstance(found, Learner), symbol
        return found

    def policy(self, symbol: str) -> Policy:
        found = self.declarations[symbol]
        assert isinstance(found, Policy), symbol
        return found

    def record(self, name: str) -> RecordType:
        found = self.types[name]
        assert isinstance(found, RecordType), name
        return found
