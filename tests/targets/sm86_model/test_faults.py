"""Each fault is named with its place by a kernel that deserves it, and the same kernel mended runs clean."""

from __future__ import annotations

import numpy
import pytest

from checked.sm86 import Fault, FaultKind, Memory, Window, launch, parse
from checked.sm86.access import Access
from checked.sm86.lanes import Lanes, Violation
from checked.sm86.shared import Shared
from targets.sm86_model.kernel_text import entry, module, one
from targets.sm86_model.running import fault, run


def line_of(text: str, part: str) -> int:
    """The only line that holds a part, from 1."""
    found = [number for number, line in enumerate(text.split("\n"), 1) if part in line]
    assert len(found) == 1, part
    return found[0]


def element(parameter: int, register: str, index: str = "%r0", size: int = 4) -> list[str]:
    """Puts the address of an element into a register."""
    return [
        f"ld.param.u64 {register}, [b{parameter}]",
        f"mad.wide.s32 {register}, {index}, {size}, {register}",
    ]


THREAD = ["mov.u32 %r0, %tid.x"]
NUMBER = ["mov.u32 %r0, %tid.x", "mov.u32 %r1, %ctaid.x", "mad.lo.s32 %r0, %r1, 32, %r0"]


def words(count: int) -> bytes:
    return numpy.arange(count, dtype=numpy.uint32).tobytes()


# ---- global memory


def copied(count: int, guard: bool = True) -> str:
    """Copies `count` words, one a thread of two blocks."""
    skip = [f"setp.ge.u32 %p0, %r0, {count}", "@%p0 bra L1"] if guard else []
    body = [*NUMBER, *skip, *element(0, "%rd0"), *element(1, "%rd1"), "ld.global.b32 %r2, [%rd0]"]
    return one([*body, "st.global.b32 [%rd1], %r2", "L1:", "ret"], 2)


def test_a_load_out_of_bounds() -> None:
    found = fault(copied(50, guard=False), [words(50)], [200], blocks=2)
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert (found.kernel, found.block, found.thread) == ("k", 1, 18)
    assert found.line == line_of(copied(50, guard=False), "ld.global.b32")
    assert found.address is not None
    (data,), _ = run(copied(50), [words(50)], [200], blocks=2)
    assert data == words(50)


def test_an_address_before_the_window() -> None:
    body = [*THREAD, *element(0, "%rd0"), *element(1, "%rd1"), "ld.global.b32 %r2, [%rd0+-4]"]
    text = one([*body, "st.global.b32 [%rd1], %r2", "ret"], 2)
    found = fault(text, [words(32)], [128])
    assert (found.kind, found.thread) == (FaultKind.OUT_OF_BOUNDS, 0)
    run(text.replace("+-4", ""), [words(32)], [128])


def test_a_neighbouring_window_is_out_of_bounds_of_another_launch() -> None:
    memory = Memory(1)
    base = memory.allocate("arena", 512)
    memory.write(base, words(128))
    windows = [Window("a", base, 128), Window("c", base + 256, 128, written=True)]
    text = copied(64, guard=False)
    with pytest.raises(Fault) as raised:
        launch(parse(text), "k", blocks=2, memory=memory, windows=windows)
    assert raised.value.kind is FaultKind.OUT_OF_BOUNDS
    assert raised.value.address == base + 128
    launch(parse(text), "k", blocks=1, memory=memory, windows=windows)


@pytest.mark.parametrize(
    ("kind", "size", "by"), [("b32", 4, 2), ("v2.f32", 8, 4), ("v4.f32", 16, 8), ("b64", 8, 4)]
)
def test_a_misaligned_load(kind: str, size: int, by: int) -> None:
    registers = {
        "b32": "%r2",
        "v2.f32": "{%f0, %f1}",
        "v4.f32": "{%f0, %f1, %f2, %f3}",
        "b64": "%rd5",
    }[kind]
    body = [*THREAD, *element(0, "%rd0", size=size), *element(1, "%rd1", size=size)]
    body += [
        f"ld.global.{kind} {registers}, [%rd0+{by}]",
        f"st.global.{kind} [%rd1], {registers}",
        "ret",
    ]
    text = one(body, 2)
    found = fault(text, [words(160)], [32 * size])
    assert (found.kind, found.thread) == (FaultKind.MISALIGNED, 0)
    run(text.replace(f"+{by}]", "]"), [words(160)], [32 * size])


def test_a_misaligned_store_and_one_at_an_odd_multiple() -> None:
    body = [
        *THREAD,
        "shl.b32 %r1, %r0, 3",
        "ld.param.u64 %rd0, [b0]",
        "mad.wide.s32 %rd0, %r1, 1, %rd0",
    ]
    body += ["mov.f32 %f0, 0f00000000", "st.global.v4.f32 [%rd0], {%f0, %f0, %f0, %f0}", "ret"]
    found = fault(one(body), [], [1024])
    assert (found.kind, found.thread) == (FaultKind.MISALIGNED, 1)


def test_an_uninitialised_byte_of_global_memory() -> None:
    memory = Memory(2)
    source, target = memory.allocate("a", 128), memory.allocate("c", 128)
    memory.write(source, words(32))
    memory.forget(source + 41, 1)
    windows = [Window("a", source, 128), Window("c", target, 128, written=True)]
    with pytest.raises(Fault) as raised:
        launch(parse(copied(32)), "k", blocks=1, memory=memory, windows=windows)
    assert (raised.value.kind, raised.value.thread) == (FaultKind.UNINITIALISED_GLOBAL, 10)
    memory.write(source + 41, b"\0")
    launch(parse(copied(32)), "k", blocks=1, memory=memory, windows=windows)


def test_what_a_window_does_not_allow() -> None:
    memory = Memory(3)
    source, target = memory.allocate("a", 128), memory.allocate("c", 128)
    memory.write(source, words(32))
    memory.write(target, words(32))
    text = copied(32)

    def kinds(first: bool, second: bool) -> FaultKind | None:
        windows = [Window("a", source, 128, first), Window("c", target, 128, second)]
        try:
            launch(parse(text), "k", blocks=1, memory=memory, windows=windows)
        except Fault as found:
            return found.kind
        return None

    assert kinds(True, True) is FaultKind.FORBIDDEN  # a load of what is only written
    assert kinds(False, False) is FaultKind.FORBIDDEN  # a store to what is only read
    assert kinds(False, True) is None


def test_an_output_that_is_not_fully_written() -> None:
    found = fault(copied(31), [words(32)], [128], blocks=1)
    assert found.kind is FaultKind.NOT_WRITTEN
    assert found.address is not None and found.address % 128 == 124
    dropped = copied(32).replace("\tst.global.b32 [%rd1], %r2;\n", "")
    assert fault(dropped, [words(32)], [128]).kind is FaultKind.NOT_WRITTEN
    run(copied(32), [words(32)], [128])


def test_a_half_of_a_granule_is_missed() -> None:
    body = [*THREAD, *element(0, "%rd0"), "st.global.u16 [%rd0], %r0", "ret"]
    assert fault(one(body), [], [128]).kind is FaultKind.NOT_WRITTEN
    body = [*THREAD, *element(0, "%rd0", size=2), "st.global.u16 [%rd0], %r0", "ret"]
    run(one(body), [], [64])


def test_two_blocks_write_one_address() -> None:
    body = [*THREAD, *element(0, "%rd0"), "st.global.b32 [%rd0], %r0", "ret"]
    for batch in (1, 2):
        found = fault(one(body), [], [128], blocks=2, batch=batch)
        assert found.kind is FaultKind.GLOBAL_RACE
        assert "of block" in found.text
    run(one(body), [], [128])
    run(
        one([*NUMBER, *element(0, "%rd0"), "st.global.b32 [%rd0], %r0", "ret"]), [], [256], blocks=2
    )


def test_two_threads_write_one_address_at_once() -> None:
    body = [
        *THREAD,
        "and.b32 %r1, %r0, 15",
        *element(0, "%rd0", "%r1"),
        "st.global.b32 [%rd0], %r0",
        "ret",
    ]
    assert fault(one(body), [], [64]).kind is FaultKind.GLOBAL_RACE


def test_two_threads_share_a_byte_of_different_elements() -> None:
    """Even threads write four bytes, odd ones two in the middle of them."""
    body = [
        *THREAD,
        "and.b32 %r1, %r0, 1",
        "setp.eq.s32 %p0, %r1, 1",
        "shl.b32 %r2, %r0, 2",
        *element(0, "%rd0", "%r2", 1),
    ]
    text = one(
        [
            *body,
            "@%p0 bra L1",
            "st.global.b32 [%rd0], %r0",
            "bra L2",
            "L1:",
            "st.global.u16 [%rd0+-2], %r0",
            "L2:",
            "ret",
        ]
    )
    assert fault(text, [], [128]).kind is FaultKind.GLOBAL_RACE


def in_place(shift: int, partial: bool = False) -> Fault | None:
    """Each thread of two blocks adds one to an element `shift` after its own, in place."""
    body = [*NUMBER, *element(0, "%rd0"), *element(1, "%rd1")]
    body += [
        f"ld.global.b32 %r2, [%rd0{f'+{4 * shift}' if shift else ''}]",
        "add.s32 %r2, %r2, 1",
        "st.global.b32 [%rd1], %r2",
        "ret",
    ]
    memory = Memory(4)
    base = memory.allocate("a", 4 * 65)
    memory.write(base, words(65))
    read = Window("a", base, 4 * 65)
    windows = [read, Window("c", base, 4 * 64, written=True)]
    if partial:
        windows = [
            Window("a", base, 4 * 65, True, True),
            Window("b", memory.allocate("b", 4 * 64), 256, True),
        ]
    try:
        launch(parse(one(body, 2)), "k", blocks=2, memory=memory, windows=windows, batch=1)
    except Fault as found:
        return found
    if not partial:
        assert memory.read(base, 256) == (numpy.arange(64, dtype=numpy.uint32) + 1).tobytes()
    return None


def test_reading_what_another_thread_writes_in_place() -> None:
    found = in_place(1)
    assert found is not None and found.kind is FaultKind.GLOBAL_RACE
    assert in_place(0) is None
    assert in_place(0, partial=True) is None


def test_a_non_coherent_load_of_what_the_launch_writes() -> None:
    body = [
        *THREAD,
        *element(0, "%rd0"),
        "ld.global.nc.b32 %r1, [%rd0]",
        *element(1, "%rd1"),
        "st.global.b32 [%rd1], %r1",
        "ret",
    ]
    memory = Memory(4)
    base = memory.allocate("a", 128)
    memory.write(base, words(32))
    windows = [Window("a", base, 128), Window("c", base, 128, written=True)]
    with pytest.raises(Fault) as raised:
        launch(parse(one(body, 2)), "k", blocks=1, memory=memory, windows=windows)
    assert raised.value.kind is FaultKind.FORBIDDEN
    launch(parse(one(body, 2).replace(".nc", "")), "k", blocks=1, memory=memory, windows=windows)


def over_itself(body: list[str], threads: int = 32) -> Fault | None:
    """Runs a kernel of one block whose two windows, one read and one written, are the same words."""
    memory = Memory(6)
    base = memory.allocate("a", 4 * threads)
    memory.write(base, words(threads))
    windows = [Window("a", base, 4 * threads), Window("c", base, 4 * threads, written=True)]
    try:
        launch(parse(one(body, 2, threads)), "k", blocks=1, memory=memory, windows=windows)
    except Fault as found:
        return found
    return None


def test_reading_what_another_thread_wrote_before() -> None:
    """A barrier does not help: kernels carry nothing between threads through global memory."""
    body = [
        *THREAD,
        *element(0, "%rd0"),
        *element(1, "%rd1"),
        "st.global.b32 [%rd1], %r0",
        "bar.sync 0",
    ]
    neighbour = ["xor.b32 %r1, %r0, 1", *element(0, "%rd0", "%r1")]
    own = over_itself([*body, "ld.global.b32 %r2, [%rd0]", "ret"])
    assert own is None
    found = over_itself([*body, *neighbour, "ld.global.b32 %r2, [%rd0]", "ret"])
    assert found is not None and found.kind is FaultKind.GLOBAL_RACE
    assert found.text.startswith("a thread reads what was written, against thread 1 of block 0")


def test_writing_what_several_threads_read() -> None:
    """Each of the readers in turn: none may write what the others have read."""
    read = [*THREAD, "ld.param.u64 %rd0, [b0]", "ld.global.b32 %r2, [%rd0]", *element(1, "%rd1")]
    for writer in (0, 17, 31):
        write = [
            f"add.s32 %r3, %r0, {32 - writer}",
            "rem.u32 %r3, %r3, 32",
            *element(1, "%rd1", "%r3"),
        ]
        found = over_itself([*read, *write, "st.global.b32 [%rd1], %r2", "ret"])
        assert found is not None and found.kind is FaultKind.GLOBAL_RACE
        assert (found.thread, found.text[:29]) == (writer, "a thread writes what was read")


@pytest.mark.parametrize("skew", [4, 8, 12])
def test_a_window_that_begins_between_rows(skew: int) -> None:
    """What lies before it in the same 16 bytes is outside of it, and its last byte belongs to it."""
    memory = Memory(7)
    base = memory.allocate("a", 512)
    memory.write(base, words(128))
    source, target = base + skew, base + 256 + skew
    windows = [Window("a", source, 128), Window("c", target, 128, written=True)]
    text = copied(32)
    launch(parse(text), "k", blocks=1, memory=memory, windows=windows)
    assert memory.read(target, 128) == memory.read(source, 128)
    for old, new in (
        ("[%rd0]", "[%rd0+-4]"),
        ("[%rd0]", "[%rd0+4]"),
        ("[%rd1],", "[%rd1+-4],"),
        ("[%rd1],", "[%rd1+4],"),
    ):
        with pytest.raises(Fault) as raised:
            launch(parse(text.replace(old, new)), "k", blocks=1, memory=memory, windows=windows)
        assert raised.value.kind is FaultKind.OUT_OF_BOUNDS
        assert raised.value.thread == (0 if "-" in new else 31)
    with pytest.raises(Fault) as raised:
        launch(parse(copied(31)), "k", blocks=1, memory=memory, windows=windows)
    assert (raised.value.kind, raised.value.address) == (FaultKind.NOT_WRITTEN, target + 124)


def test_a_window_that_ends_within_an_element() -> None:
    """Its last bytes are written, or missed, as those of whole elements are."""
    memory = Memory(8)
    base = memory.allocate("c", 128)
    body = [*THREAD, *element(0, "%rd0"), "st.global.b32 [%rd0], %r0", "ret"]
    with pytest.raises(Fault) as raised:
        windows = [Window("c", base, 126, written=True)]
        launch(parse(one(body)), "k", blocks=1, memory=memory, windows=windows)
    assert (raised.value.kind, raised.value.thread) == (FaultKind.OUT_OF_BOUNDS, 31)
    shorter = one([*THREAD, "setp.eq.s32 %p0, %r0, 31", "@%p0 bra L1", *body[1:-1], "L1:", "ret"])
    with pytest.raises(Fault) as raised:
        launch(parse(shorter), "k", blocks=1, memory=memory, windows=windows)
    assert (raised.value.kind, raised.value.address) == (FaultKind.NOT_WRITTEN, base + 124)


def test_lanes_that_touch_different_windows_in_one_instruction() -> None:
    """Even threads load from one window and odd ones from the other, and store so too."""
    body = [*THREAD, "and.b32 %r1, %r0, 1", "setp.eq.s32 %p0, %r1, 1"]
    body += [
        *element(0, "%rd0"),
        *element(1, "%rd1"),
        "selp.b64 %rd4, %rd1, %rd0, %p0",
        "ld.global.b32 %r2, [%rd4]",
    ]
    body += ["shr.u32 %r3, %r0, 1", *element(2, "%rd2", "%r3"), *element(3, "%rd3", "%r3")]
    body += ["selp.b64 %rd5, %rd3, %rd2, %p0", "st.global.b32 [%rd5], %r2", "ret"]
    first, second = words(32), (numpy.arange(32, dtype=numpy.uint32) + 100).tobytes()
    (even, odd), _ = run(one(body, 4), [first, second], [64, 64])
    assert even == numpy.arange(0, 32, 2, dtype=numpy.uint32).tobytes()
    assert odd == (numpy.arange(1, 32, 2, dtype=numpy.uint32) + 100).tobytes()
    parted = [*body[:3], "setp.ge.u32 %p1, %r0, 20", "@%p1 bra L1", *body[3:-1], "L1:", "ret"]
    found = fault(one(parted, 4), [first, second], [64, 64])
    assert found.kind is FaultKind.NOT_WRITTEN
    (even, odd), _ = run(one(parted, 4), [first, second], [40, 40])
    assert even == numpy.arange(0, 20, 2, dtype=numpy.uint32).tobytes()
    assert odd == (numpy.arange(1, 20, 2, dtype=numpy.uint32) + 100).tobytes()


# ---- shared memory

OUT = [*element(0, "%rd0", "%r0"), "st.global.b32 [%rd0], %r5", "ret"]
BASE = [*THREAD, "mov.u32 %r1, smem", "mad.lo.s32 %r2, %r0, 4, %r1"]


def reversal(barrier: bool = True, size: int = 256, threads: int = 64, offset: int = 0) -> str:
    """Each thread reads what the opposite one wrote."""
    wait = ["bar.sync 0"] if barrier else []
    body = [
        *BASE,
        "st.shared.b32 [%r2], %r0",
        *wait,
        f"sub.s32 %r3, {threads - 1}, %r0",
        "mad.lo.s32 %r3, %r3, 4, %r1",
    ]
    return one(
        [*body, f"ld.shared.b32 %r5, [%r3{f'+{offset}' if offset else ''}]", *OUT],
        threads=threads,
        shared=size,
    )


def test_a_dropped_barrier_is_a_race() -> None:
    found = fault(reversal(barrier=False), [], [256])
    assert found.kind is FaultKind.SHARED_RACE
    assert found.text.startswith("read after write, against thread 63")
    assert (found.thread, found.block) == (0, 0)
    (data,), counts = run(reversal(), [], [256])
    assert data == words(64)[::-1][:0] + numpy.arange(63, -1, -1, dtype=numpy.uint32).tobytes()
    assert counts.barriers == 1


def test_shared_memory_out_of_bounds() -> None:
    found = fault(reversal(size=252), [], [256])
    assert (found.kind, found.thread) == (FaultKind.OUT_OF_BOUNDS, 63)
    run(reversal(size=256), [], [256])


def test_an_address_that_lacks_the_base_is_out_of_bounds() -> None:
    text = reversal().replace("mad.lo.s32 %r3, %r3, 4, %r1", "mul.lo.s32 %r3, %r3, 4")
    assert fault(text, [], [256]).kind is FaultKind.OUT_OF_BOUNDS


def test_a_misaligned_shared_access() -> None:
    assert fault(reversal(offset=2, size=260), [], [256]).kind is FaultKind.MISALIGNED


def test_an_uninitialised_shared_read() -> None:
    text = reversal(offset=4, size=512)
    found = fault(text, [], [256])
    assert (found.kind, found.thread) == (FaultKind.UNINITIALISED_SHARED, 0)


def test_an_uninitialised_byte_of_a_shared_word() -> None:
    body = [
        *BASE,
        "mov.u32 %r7, 1",
        "st.shared.u8 [%r2], %r7",
        "st.shared.u8 [%r2+1], %r7",
        "st.shared.u16 [%r2+2], %r7",
        "ld.shared.b32 %r5, [%r2]",
    ]
    run(one([*body, *OUT], shared=128), [], [128])
    text = one([*body, *OUT], shared=128).replace("\tst.shared.u8 [%r2+1], %r7;\n", "")
    assert fault(text, [], [128]).kind is FaultKind.UNINITIALISED_SHARED


def test_bytes_of_one_word_do_not_race() -> None:
    """Four threads write the bytes of a word, and each reads its own again."""
    body = [
        *THREAD,
        "mov.u32 %r1, smem",
        "add.s32 %r2, %r1, %r0",
        "st.shared.u8 [%r2], %r0",
        "ld.shared.u8 %r5, [%r2]",
    ]
    (data,), _ = run(one([*body, *OUT], shared=32), [], [128])
    assert data == words(32)


def test_what_one_block_wrote_is_not_another_blocks() -> None:
    body = [
        *NUMBER,
        "mov.u32 %r4, smem",
        "setp.eq.u32 %p0, %r1, 0",
        "mov.u32 %r5, 7",
        "@!%p0 bra L1",
    ]
    body += [
        "mov.u32 %r6, %tid.x",
        "mad.lo.s32 %r4, %r6, 4, %r4",
        "st.shared.b32 [%r4], %r5",
        "L1:",
        "ld.shared.b32 %r5, [%r4]",
    ]
    found = fault(one([*body, *OUT], shared=128), [], [256], blocks=2)
    assert (found.kind, found.block) == (FaultKind.UNINITIALISED_SHARED, 1)


def test_a_write_after_a_read_is_a_race() -> None:
    body = [
        *BASE,
        "st.shared.b32 [%r2], %r0",
        "bar.sync 0",
        "xor.b32 %r3, %r0, 1",
        "mad.lo.s32 %r3, %r3, 4, %r1",
    ]
    body += [
        "ld.shared.b32 %r5, [%r3]",
        "WAIT",
        "st.shared.b32 [%r2], %r5",
        "bar.sync 0",
        "ld.shared.b32 %r5, [%r2]",
        *OUT,
    ]
    text = one(body, shared=128, threads=64)
    found = fault(text.replace("\tWAIT;\n", "").replace("smem[128]", "smem[256]"), [], [256])
    assert (found.kind, found.text[:16]) == (FaultKind.SHARED_RACE, "write after read")
    mended = text.replace("WAIT", "bar.sync 0").replace("smem[128]", "smem[256]")
    (data,), _ = run(mended, [], [256])
    assert data == (numpy.arange(64, dtype=numpy.uint32) ^ 1).tobytes()


def test_a_write_after_a_read_of_everyone_is_a_race() -> None:
    """All read word 0, then its owner writes it again."""
    body = [*BASE, "st.shared.b32 [%r2], %r0", "bar.sync 0", "ld.shared.b32 %r5, [%r1]"]
    write = ["setp.ne.u32 %p0, %r0, 0", "@%p0 bra L1", "st.shared.b32 [%r1], %r5", "L1:"]
    found = fault(one([*body, *write, *OUT], shared=128), [], [128])
    assert (found.kind, found.thread) == (FaultKind.SHARED_RACE, 0)
    run(one([*body, "bar.sync 0", *write, *OUT], shared=128), [], [128])


def test_two_threads_of_a_warp_write_one_word_at_once() -> None:
    body = [
        *THREAD,
        "mov.u32 %r1, smem",
        "and.b32 %r2, %r0, 30",
        "mad.lo.s32 %r2, %r2, 4, %r1",
        "st.shared.b32 [%r2], %r0",
        "mov.u32 %r5, 1",
    ]
    found = fault(one([*body, *OUT], shared=128), [], [128])
    assert (found.kind, found.text[:17]) == (FaultKind.SHARED_RACE, "two threads write")


def test_a_write_after_a_write_is_a_race() -> None:
    body = [
        *BASE,
        "st.shared.b32 [%r2], %r0",
        "WAIT",
        "xor.b32 %r3, %r0, 1",
        "mad.lo.s32 %r3, %r3, 4, %r1",
        "st.shared.b32 [%r3], %r0",
        "mov.u32 %r5, 1",
    ]
    text = one([*body, *OUT], shared=128)
    found = fault(text.replace("\tWAIT;\n", ""), [], [128])
    assert (found.kind, found.text[:17]) == (FaultKind.SHARED_RACE, "write after write")
    run(text.replace("WAIT", "bar.sync 0"), [], [128])


# ---- registers, barriers, warps, steps


def test_an_uninitialised_register() -> None:
    text = one([*THREAD, "add.s32 %r5, %r0, %r6", *OUT])
    found = fault(text, [], [128])
    assert (found.kind, found.text) == (FaultKind.UNINITIALISED_REGISTER, "%r6 has no value")
    assert found.line == line_of(text, "add.s32")
    run(text.replace("add.s32", "mov.u32 %r6, 1;\n\tadd.s32"), [], [128])


def test_a_register_without_a_value_in_some_threads() -> None:
    """A branch leaves it out in threads from 20 on."""
    body = [
        *THREAD,
        "setp.ge.u32 %p0, %r0, 20",
        "FIRST",
        "@%p0 bra L1",
        "mov.u32 %r5, 3",
        "L1:",
        "st.global.b32 [%rd0], %r5",
        "ret",
    ]
    text = one([*element(0, "%rd0", "%r0")[:1], *body]).replace(
        "@%p0", "mad.wide.s32 %rd0, %r0, 4, %rd0;\n\t@%p0"
    )
    found = fault(text.replace("\tFIRST;\n", ""), [], [128])
    assert (found.kind, found.thread) == (FaultKind.UNINITIALISED_REGISTER, 20)
    run(text.replace("FIRST", "mov.u32 %r5, 4"), [], [128])


def test_a_guard_without_a_value() -> None:
    text = one([*THREAD, "mov.u32 %r5, 1", "@%p0 bra L1", "L1:", *OUT])
    assert fault(text, [], [128]).kind is FaultKind.UNINITIALISED_REGISTER


def test_a_loop_defines_for_its_next_turn() -> None:
    """The register has a value from the second turn on, and is read from the first."""
    body = [
        *THREAD,
        "mov.u32 %r1, 0",
        "L1:",
        "READ",
        "mov.u32 %r5, %r1",
        "add.s32 %r1, %r1, 1",
        "setp.lt.u32 %p0, %r1, 3",
        "@%p0 bra L1",
    ]
    text = one([*body, *OUT])
    assert (
        fault(text.replace("READ", "add.s32 %r1, %r1, %r5"), [], [128]).kind
        is FaultKind.UNINITIALISED_REGISTER
    )
    run(text.replace("\tREAD;\n", ""), [], [128])


def test_an_early_exit_before_a_barrier() -> None:
    body = [
        *THREAD,
        "mov.u32 %r5, 1",
        "setp.ge.u32 %p0, %r0, 32",
        "@%p0 bra L1",
        "bar.sync 0",
        "L1:",
        *OUT,
    ]
    found = fault(one(body, threads=64), [], [256])
    assert (found.kind, found.thread) == (FaultKind.BARRIER_DIVERGENCE, 0)
    mended = [*THREAD, "mov.u32 %r5, 1", "bar.sync 0", *OUT]
    run(one(mended, threads=64), [], [256])


def test_threads_at_two_barriers() -> None:
    body = [
        *THREAD,
        "mov.u32 %r5, 1",
        "setp.ge.u32 %p0, %r0, 32",
        "@%p0 bra L1",
        "bar.sync 0",
        "bra L2",
        "L1:",
        "bar.sync 0",
        "L2:",
        *OUT,
    ]
    found = fault(one(body, threads=64), [], [256])
    assert found.kind is FaultKind.BARRIER_DIVERGENCE
    assert "waits at line" in found.text


def test_blocks_may_pass_different_barriers() -> None:
    """Block 1 leaves before the barrier that block 0 waits at."""
    body = [
        *NUMBER,
        "mov.u32 %r5, %r0",
        "setp.eq.u32 %p0, %r1, 1",
        "@%p0 bra L1",
        "bar.sync 0",
        "L1:",
        *OUT,
    ]
    (data,), counts = run(one(body), [], [256], blocks=2)
    assert data == words(64)
    assert counts.barriers == 1


def test_a_shuffle_under_divergence() -> None:
    shuffle = "shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1"
    body = [
        *THREAD,
        "mov.u32 %r5, 1",
        "setp.ge.u32 %p0, %r0, LIMIT",
        "@%p0 bra L1",
        shuffle,
        "L1:",
        *OUT,
    ]
    text = one(body, threads=64)
    found = fault(text.replace("LIMIT", "40"), [], [256])
    assert (found.kind, found.thread) == (FaultKind.WARP_DIVERGENCE, 32)
    (data,), _ = run(text.replace("LIMIT", "32"), [], [256])
    expected = numpy.where(numpy.arange(64) < 32, numpy.arange(64) ^ 1, 1)
    assert data == expected.astype(numpy.uint32).tobytes()


def test_an_endless_loop() -> None:
    body = [*THREAD, "mov.u32 %r5, 1", "L1:", "setp.ge.u32 %p0, %r0, 0", "@%p0 bra L1", *OUT]
    found = fault(one(body), [], [128], bound=1000)
    assert found.kind is FaultKind.STEP_BOUND
    parted = one(body).replace("setp.ge.u32 %p0, %r0, 0", "setp.ge.u32 %p0, %r0, 31")
    found = fault(parted, [], [128], bound=1000)
    assert (found.kind, found.thread) == (FaultKind.STEP_BOUND, 31)


def test_the_bound_is_of_a_thread() -> None:
    """A thread executes 4 + 6 instructions, however many blocks there are."""
    body = [*NUMBER, "mov.u32 %r5, 1", *OUT]
    text = one(body)
    run(text, [], [4096], blocks=32, bound=8)
    assert fault(text, [], [4096], blocks=32, bound=7).kind is FaultKind.STEP_BOUND


@pytest.mark.parametrize("form", ["div.u32", "rem.u32", "div.s32", "rem.s32"])
def test_a_division_by_zero(form: str) -> None:
    body = [*THREAD, "mov.u32 %r1, 100", "sub.s32 %r2, %r0, 9", f"{form} %r5, %r1, %r2", *OUT]
    found = fault(one(body), [], [128])
    assert (found.kind, found.thread) == (FaultKind.DIVISION_BY_ZERO, 9)
    run(one(body).replace("%r0, 9", "%r0, 99"), [], [128])


# ---- launches


def test_limits_of_a_launch() -> None:
    body = [*THREAD, "mov.u32 %r5, 1", *OUT]

    def kind(text: str, **options: int) -> FaultKind:
        return fault(text, [], [128], **options).kind

    assert kind(one(body, threads=1056)) is FaultKind.LAUNCH_LIMIT
    assert kind(one(body, threads=48)) is FaultKind.LAUNCH_LIMIT
    assert kind(one(body, shared=48 * 1024 + 16)) is FaultKind.LAUNCH_LIMIT
    assert kind(one(body), blocks=0) is FaultKind.LAUNCH_LIMIT
    assert kind(module(entry(body, threads=1024, registers=72))) is FaultKind.LAUNCH_LIMIT
    assert kind(one(body), threads=64) is FaultKind.MISMATCH
    assert kind(one(body, parameters=2)) is FaultKind.MISMATCH
    run(module(entry(body, threads=32, registers=64, shared=48 * 1024)), [], [128], threads=32)


def test_a_fault_says_where_it_is() -> None:
    found = fault(copied(50, guard=False), [words(50)], [200], blocks=2)
    line = line_of(copied(50, guard=False), "ld.global.b32")
    assert str(found).startswith("out of bounds: outside of every window of the launch (k, line ")
    assert f"line {line}, block 1, thread 18, address 0x" in str(found)


def test_windows_outside_of_memory_are_the_callers_mistake() -> None:
    memory = Memory(0)
    base = memory.allocate("a", 100)
    with pytest.raises(ValueError, match="does not lie"):
        launch(parse(one(["ret"])), "k", blocks=1, memory=memory, windows=[Window("a", base, 101)])


# ---- the shadow of shared memory


def test_a_race_with_a_read_of_long_ago_in_the_same_epoch() -> None:
    """More reads than the shadow remembers one by one lie between."""
    turns = ["mov.u32 %r6, 0", "L1:", "ld.shared.b32 %r5, [%r2]", "add.s32 %r6, %r6, 1"]
    turns += ["setp.lt.u32 %p0, %r6, 600", "@%p0 bra L1"]
    body = [
        *BASE,
        "xor.b32 %r3, %r0, 1",
        "mad.lo.s32 %r3, %r3, 4, %r1",
        "st.shared.b32 [%r2], %r0",
        "bar.sync 0",
    ]
    body += ["ld.shared.b32 %r5, [%r3]", *turns, "WAIT", "st.shared.b32 [%r2], %r5"]
    text = one([*body, *OUT], shared=128)
    found = fault(text.replace("\tWAIT;\n", ""), [], [128])
    assert (found.kind, found.text[:16]) == (FaultKind.SHARED_RACE, "write after read")
    run(text.replace("WAIT", "bar.sync 0"), [], [128])


def test_epochs_begin_again_before_marks_overflow() -> None:
    """Reads and writes of older epochs race with nothing, and bytes stay written."""
    access = Access(0, 1, "shared", "b32", 1, 0, False)
    store = Access(1, 2, "shared", "b32", 1, 0, True)
    lanes = Lanes(numpy.zeros(1, numpy.int64), 32)
    shared = Shared(1, 128, 0x400, 4, None)
    place = (0x400 + 4 * lanes.thread).astype(numpy.uint32)

    def barrier() -> None:
        shared.next_epoch()
        lanes.mark = (lanes.thread + (shared.floor + 1)).astype(numpy.int32)

    for floor in (0, 2**31 - 3 * 2048, 2**31 - 2 * 2048):
        shared.floor = floor
        barrier()
        shared.store(store, place, [lanes.thread], lanes)
        barrier()
        assert 0 <= shared.floor < 2**31 - 2048
        assert (shared.load(access, place[::-1], lanes) == lanes.thread[::-1]).all()
        with pytest.raises(Violation, match="write after read"):
            shared.store(store, place, [lanes.thread], lanes)
    fresh = Shared(1, 128, 0x400, 4, None)
    fresh.floor = 2**31 - 2 * 2048
    fresh.next_epoch()
    with pytest.raises(Violation, match="nobody wrote"):
        fresh.load(access, place, lanes)
