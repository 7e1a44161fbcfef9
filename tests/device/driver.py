"""The CUDA driver of a machine with a card, through its C interface: as much of it as measuring needs.

It stands for no part of the product. Functions and numbers are those of `cuda.h` of the driver interface 11.0; the
versioned names are what that header maps the plain ones to. Nothing here has run on a card so far.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

SUCCESS, NO_DEVICE = 0, 100
MAJOR, MINOR = 75, 76
"""Attributes of a device: the two numbers of its compute capability."""


class DriverError(Exception):
    """A call that the driver refused, by its name and number."""


class NoCard(Exception):
    """Why there is no card to measure."""


class Driver:
    """One context on the first card. Close it when done."""

    def __init__(self) -> None:
        try:
            self._library: Any = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise NoCard("no device: libcuda.so.1 is not here") from None
        if self._library.cuInit(0) != SUCCESS:
            raise NoCard("no device: the driver does not start")
        device = ctypes.c_int()
        if self._library.cuDeviceGet(ctypes.byref(device), 0) != SUCCESS:
            raise NoCard("no device: the driver knows no card")
        self.device = device
        self._context = ctypes.c_void_p()
        self._call("cuCtxCreate_v2", ctypes.byref(self._context), 0, device)

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != SUCCESS:
            raise DriverError(f"{name} answers {status}")

    def close(self) -> None:
        self._call("cuCtxDestroy_v2", self._context)

    @property
    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, len(text), self.device)
        return text.value.decode()

    @property
    def capability(self) -> tuple[int, int]:
        """8 and 6 for sm_86."""
        found = []
        for attribute in (MAJOR, MINOR):
            value = ctypes.c_int()
            self._call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self.device)
            found.append(value.value)
        return found[0], found[1]

    @property
    def version(self) -> int:
        """1000 times the major and 10 times the minor number of the interface that the driver has."""
        value = ctypes.c_int()
        self._call("cuDriverGetVersion", ctypes.byref(value))
        return value.value

    def module(self, text: str) -> Any:
        """PTX, translated by the driver for its card."""
        module = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), text.encode() + b"\0")
        return module

    def function(self, module: Any, name: str) -> Any:
        function = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def write(self, address: int, data: bytes) -> None:
        place = ctypes.c_uint64(address)
        self._call("cuMemcpyHtoD_v2", place, ctypes.c_char_p(data), ctypes.c_size_t(len(data)))

    def read(self, address: int, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        self._call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def launch(self, function: Any, blocks: int, threads: int, addresses: Sequence[int]) -> None:
        """Launches in one dimension and waits for the end."""
        values = [ctypes.c_uint64(address) for address in addresses]
        places = (ctypes.c_void_p * len(values))(
            *(ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values)
        )
        grid = (blocks, 1, 1, threads, 1, 1)
        self._call("cuLaunchKernel", function, *grid, 0, None, places, None)
        self._call("cuCtxSynchronize")
