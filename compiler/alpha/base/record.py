"""Slotted records that cost little to declare.

`@record` is `@dataclass(frozen=True, slots=True)` without the code that `dataclasses` writes and compiles for each
class. That takes over a millisecond a class, so the node classes of a tree alone took longer to import than a system
to check; importing `dataclasses` itself, which imports `inspect`, takes longer than a short command. Here the methods
are closures over the names of the fields. `match`, pickling, `__post_init__`, type checkers and the functions of
`dataclasses` work as with a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")
_MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
_set = object.__setattr__
_OFTEN = 100
"""A class that is made this often gets an `__init__` compiled for it, which by then is worth its cost."""


class Field:
    """What is known of one field. It has the attributes that `dataclasses` looks for."""

    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr", "type")

    def __init__(
        self, default: Any, factory: Any, init: bool, repr: bool, compare: bool, kw_only: Any
    ) -> None:
        self.name, self.type = "", ""
        self.default, self.default_factory = default, factory
        self.init, self.repr, self.compare, self.kw_only = init, repr, compare, kw_only

    @property
    def _field_type(self) -> object:
        import dataclasses  # only its own functions ask, so it is loaded then

        return dataclasses._FIELD  # type: ignore[attr-defined]


@overload
def field(
    *, default: _T, init: bool = True, repr: bool = True, compare: bool = True, kw_only: bool = ...
) -> _T: ...
@overload
def field(
    *,
    default_factory: Callable[[], _T],
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    kw_only: bool = ...,
) -> _T: ...
@overload
def field(
    *, init: bool = True, repr: bool = True, compare: bool = True, kw_only: bool = ...
) -> Any: ...
def field(
    *,
    default: Any = _MISSING,
    default_factory: Any = _MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    kw_only: Any = _MISSING,
) -> Any:
    """The declaration of a field that is not plain: the arguments mean what they mean to `dataclasses.field`."""
    return Field(default, default_factory, init, repr, compare, kw_only)


def fields(cls_or_record: object) -> tuple[Field, ...]:
    """The fields of a record or of its class, in the order of their declaration, inherited ones first."""
    return tuple(cls_or_record.__dataclass_fields__.values())  # type: ignore[attr-defined]


def is_record(value: object) -> bool:
    return hasattr(value, "__dataclass_fields__")


def replace(record: _T, **changes: Any) -> _T:
    """A record with other values in some fields; the others keep theirs, but for those that are computed."""
    for field in fields(record):
        if field.init:
            changes.setdefault(field.name, getattr(record, field.name))
    return type(record)(**changes)


@overload
def record(cls: type[_T], /) -> type[_T]: ...
@overload
def record(
    *, frozen: bool = True, kw_only: bool = False, eq: bool = True, weakref: bool = False
) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: type[Any] | None = None,
    /,
    *,
    frozen: bool = True,
    kw_only: bool = False,
    eq: bool = True,
    weakref: bool = False,
) -> Any:
    """Makes a class with annotated fields a record.

    Fields of `kw_only` records are given by name. Records without `eq` compare by identity. Those that are not `frozen`
    can be assigned to and have no hash, unless they compare by identity. `weakref` allows weak references.
    """
    if cls is None:
        return lambda declared: _made(declared, frozen, kw_only, eq, weakref)
    return _made(cls, frozen, kw_only, eq, weakref)


def _made(cls: type[Any], frozen: bool, kw_only: bool, eq: bool, weakref: bool) -> type[Any]:
    inherited: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= getattr(base, "__dataclass_fields__", {})
    own = _own_fields(cls, kw_only)
    fields = inherited | own
    members = {
        name: value
        for name, value in vars(cls).items()
        if name not in own and name not in ("__dict__", "__weakref__")
    }
    methods: dict[str, Any] = {
        "__init__": _init(cls.__name__, fields, hasattr(cls, "__post_init__")),
        "__repr__": _repr([name for name, field in fields.items() if field.repr]),
    }
    if eq:
        compared = [name for name, field in fields.items() if field.compare]
        methods |= {"__eq__": _eq(compared), "__hash__": _hash(compared) if frozen else None}
    if frozen:
        methods |= {"__setattr__": _no_set, "__delattr__": _no_delete}
    made: type[Any] = type(cls)(  # type: ignore[misc]
        cls.__name__,
        cls.__bases__,
        methods
        | members
        | {
            "__slots__": (
                *(name for name in own if name not in inherited),
                *(["__weakref__"] if weakref else []),
            ),
            "__dataclass_fields__": fields,
            "__match_args__": tuple(
                name for name, field in fields.items() if field.init and not field.kw_only
            ),
            "__getstate__": _state([*fields]),
            "__setstate__": _restore,
        },
    )
    return made


def _own_fields(cls: type[Any], kw_only: bool) -> dict[str, Field]:
    own: dict[str, Field] = {}
    for name, annotation in cls.__annotations__.items():
        if str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = vars(cls).get(name, _MISSING)
        if isinstance(default, Field):
            own[name] = default
        elif hasattr(default, "default_factory"):
            raise TypeError(f"`{name}` of `{cls.__name__}` is declared by another `field`")
        else:
            own[name] = Field(default, _MISSING, True, True, True, _MISSING)
        own[name].name, own[name].type = name, annotation
        if own[name].kw_only is _MISSING:
            own[name].kw_only = kw_only
    return own


def _init(cls_name: str, fields: dict[str, Any], then: bool) -> Callable[..., None]:
    settable = {name: field for name, field in fields.items() if field.init}
    placed = tuple(name for name, field in settable.items() if not field.kw_only)
    most, count = len(placed), len(fields)

    calls = 0

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        nonlocal calls
        calls += 1
        if calls == _OFTEN and type(self).__dict__.get("__init__") is __init__:
            type.__setattr__(type(self), "__init__", _compiled(type(self), settable, then))
        for name, value in zip(placed, values, strict=False):
            _set(self, name, value)
        for name, value in named.items():
            _set(self, name, value)
        given = len(values)
        if given + len(named) != count or given > most:
            _complete(self, placed[:given], given, named)
        if then:
            self.__post_init__()

    def _complete(self: Any, before: tuple[str, ...], given: int, named: dict[str, Any]) -> None:
        if given > most:
            raise TypeError(f"{cls_name} takes {most} values by place, not {given}")
        for name in named:
            if name not in settable or name in before:
                raise TypeError(f"{cls_name} does not take `{name}` by name here")
        for name, field in fields.items():
            if name in named or name in before:
                continue
            if field.default is not _MISSING:
                _set(self, name, field.default)
            elif field.default_factory is not _MISSING:
                _set(self, name, field.default_factory())
            elif field.init:
                raise TypeError(f"{cls_name} needs `{name}`")

    return __init__


def _compiled(cls: type[Any], settable: dict[str, Any], then: bool) -> Callable[..., None]:
    """The `__init__` that `dataclasses` would have written, for a class that is made often: twice as fast."""
    scope: dict[str, Any] = {}
    placed: list[str] = ["self"]
    named: list[str] = []
    lines: list[str] = []
    for name, field in cls.__dataclass_fields__.items():
        scope[f"set_{name}"] = getattr(cls, name).__set__
        value = name
        if field.default is not _MISSING:
            scope[f"default_{name}"] = field.default
            value = f"{name}=default_{name}"
        elif field.default_factory is not _MISSING:
            scope |= {f"factory_{name}": field.default_factory, "MISSING": _MISSING}
            value = f"{name}=MISSING"
        if field.init:
            (named if field.kw_only else placed).append(value)
        given = name if field.init else f"default_{name}"
        if field.default_factory is not _MISSING:
            made = f"factory_{name}()"
            given = f"{made} if {name} is MISSING else {name}" if field.init else made
        elif not field.init and field.default is _MISSING:
            continue
        lines.append(f" set_{name}(self, {given})")
    lines += [" self.__post_init__()"] if then else [] if lines else [" pass"]
    star = ["*"] if named else []
    exec(f"def __init__({', '.join([*placed, *star, *named])}):\n" + "\n".join(lines), scope)
    made_init: Callable[..., None] = scope["__init__"]
    return made_init


def _eq(compared: list[str]) -> Callable[[Any, object], Any]:
    values = _values(compared)

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash(compared: list[str]) -> Callable[[Any], int]:
    values = _values(compared)

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _values(names: list[str]) -> Callable[[Any], Any]:
    """What gets the values of these fields: a tuple, or the value itself if there is one field."""
    return attrgetter(*names) if names else lambda record: ()


def _repr(shown: list[str]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:  # noqa: N807
        inside = ", ".join([f"{name}={getattr(self, name)!r}" for name in shown])
        return f"{self.__class__.__qualname__}({inside})"

    return __repr__


def _no_set(self: Any, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_delete(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(names: list[str]) -> Callable[[Any], Any]:
    """What a record is pickled as: the tuple of its fields."""
    values = _values(names)
    if len(names) == 1:
        return lambda record: (values(record),)
    return lambda record: values(record)


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        _set(self, name, value)
