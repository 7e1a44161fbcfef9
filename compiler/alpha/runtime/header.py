"""The C header of a library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

import alpha
from alpha.runtime.interface import ABI, Array, Interface, identifier

_TYPES = {
    "f64": "double",
    "f32": "float",
    "bf16": "uint16_t",
    "f16": "uint16_t",
    "i64": "int64_t",
    "i32": "int32_t",
    "u32": "uint32_t",
    "u8": "uint8_t",
    "bool": "uint8_t",
}
_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
    wchar_t while xor xor_eq
"""
_KEYWORDS = frozenset(_WORDS.split())


def header_text(interface: Interface) -> str:
    """`NAME.h`, for C99 and C++11 and what came after them."""
    name = interface.name
    upper = name.upper()
    return "\n".join(
        [
            f"/* The system {interface.system} as a library. Written by alpha {alpha.__version__}.",
            " *",
            " * Calls give 0, or 2 for a call that is wrong, or 5 for one that could not be done; NAME_error says why.",
            " * What was refused changed nothing, but for a step whose loss is not finite. One thread at a time may",
            " * use a handle, and threads may use several handles at once. Arrays are row-major. */",
            f"#ifndef {upper}_H",
            f"#define {upper}_H",
            "",
            "#include <stdint.h>",
            "",
            *_macros(interface, upper),
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            "/* The parameters, the optimizer's slots and all other memory of one run. */",
            f"typedef struct {name} {name};",
            "",
            *_batch(interface),
            "",
            f"extern const int32_t {name}_ABI; /* equal to {upper}_ABI where header and library belong together */",
            "",
            "/* The bytes of a handle. It needs no others. */",
            f"int64_t {name}_bytes(void);",
            "/* A run before step 1, in memory of so many bytes at a multiple of 64; NULL: the library maps it. */",
            f"int {name}_open({name} **out, void *arena);",
            "/* One training step. The loss is that of the batch before the update; NULL: it is not wanted. */",
            f"int {name}_step({name} *handle, const struct {name}_batch *batch, float *loss);",
            f"/* {upper}_METRICS numbers for one batch. */",
            f"int {name}_evaluate({name} *handle, const struct {name}_batch *batch, float *metrics);",
            *_predict(interface, upper),
            f"int {name}_predict({name} *handle, const void *in, void *out);",
            "/* A checkpoint of the program or of this library. One of another run evaluates and predicts only. */",
            f"int {name}_load({name} *handle, const char *path);",
            "/* The bytes that the program writes after the same steps, whole under their name or not there. */",
            f"int {name}_save({name} *handle, const char *path);",
            "/* Why the last call of the handle was refused, else an empty text; it stands until the next call. */",
            f"const char *{name}_error(const {name} *handle);",
            f"void {name}_close({name} *handle);",
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
            "",
        ]
    )


def _macros(interface: Interface, upper: str) -> Iterator[str]:
    """Sizes count elements."""
    yield f"#define {upper}_ABI {ABI}"
    yield f"#define {upper}_BATCH {interface.batch[0].shape[0]} /* examples */"
    for macro, array in zip(_macro_names(interface), interface.batch, strict=True):
        yield f"#define {upper}_BATCH_{macro} {prod(array.shape)} /* {_shape(array)} */"
    named = f" /* {', '.join(map(identifier, interface.metrics))} */" if interface.metrics else ""
    yield f"#define {upper}_METRICS {len(interface.metrics)}{named}"
    for name, end in (("IN", interface.input), ("OUT", interface.output)):
        if end is not None:
            yield f"#define {upper}_PREDICT_{name} {prod(end.shape)} /* {_shape(end)} */"


def _macro_names(interface: Interface) -> list[str]:
    return _unique(identifier(array.name).upper() for array in interface.batch)


def _batch(interface: Interface) -> Iterator[str]:
    yield f"struct {interface.name}_batch {{"
    members = _unique(member_name(array.name) for array in interface.batch)
    for member, array in zip(members, interface.batch, strict=True):
        calls = [
            call
            for call, read in (("step", interface.step), ("evaluate", interface.evaluate))
            if array.name in read
        ]
        unread = "" if len(calls) == 2 else f"; read by {' and '.join(calls) or 'no call'}"
        yield f"    const {_TYPES[array.dtype]} *{member}; /* {_shape(array)}{unread} */"
    yield "};"


def member_name(name: str) -> str:
    """The name of a field in the struct."""
    word = identifier(name)
    return f"{word}_" if word in _KEYWORDS else word


def _predict(interface: Interface, upper: str) -> Iterator[str]:
    if interface.input is None or interface.output is None:
        yield "/* The system has no predict: 2. */"
    else:
        given, made = (_TYPES[array.dtype] for array in (interface.input, interface.output))
        yield f"/* From {upper}_PREDICT_IN values ({given}) to {upper}_PREDICT_OUT ({made}). */"


def _shape(array: Array) -> str:
    bound = f", each in 0 ... {array.bound - 1}" if array.bound else ""
    bits = {"bf16": ", the bits of a bfloat16", "f16": ", the bits of a half"}.get(array.dtype, "")
    return f"{' x '.join(map(str, array.shape))}{bound}{bits}"


def _unique(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        while name in found:
            name += "_"
        found.append(name)
    return found
