"""SHA-256 with the instructions of x86-64 processors that have them, as LLVM IR text.

The data flow is the one of Intel's description of the extensions ("Intel SHA Extensions", 2013): the eight state words
live in two vectors, ABEF and CDGH; `sha256rnds2` does two rounds, `sha256msg1` and `sha256msg2` the message schedule.
"""

from __future__ import annotations

from alpha.runtime.constants import SHA_ROUNDS


class _Text:
    """Numbered IR values, one instruction a line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, text: str) -> str:
        name = f"%n{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def call(self, name: str, *operands: str) -> str:
        values = ", ".join(f"<4 x i32> {operand}" for operand in operands)
        return self.add(f"call <4 x i32> @llvm.x86.sha256{name}({values})")

    def shuffle(self, a: str, b: str, order: str) -> str:
        return self.add(f"shufflevector <4 x i32> {a}, <4 x i32> {b}, <4 x i32> {order}")


def _sha_blocks() -> str:
    t = _Text()
    words: list[str] = []
    for i in range(4):
        place = t.add(f"getelementptr i8, ptr %data, i64 {16 * i}")
        raw = t.add(f"load <4 x i32>, ptr {place}, align 1")
        words.append(t.add(f"call <4 x i32> @llvm.bswap.v4i32(<4 x i32> {raw})"))
    abef, cdgh = "%abef", "%cdgh"
    for group in range(16):
        constants = ", ".join(f"i32 {word}" for word in SHA_ROUNDS[4 * group : 4 * group + 4])
        message = words[group]
        sum_ = t.add(f"add <4 x i32> {message}, <{constants}>")
        # two rounds turn (ABEF, CDGH) into (new ABEF, old ABEF); after two such steps both are new
        high = t.shuffle(sum_, "zeroinitializer", "<i32 2, i32 3, i32 4, i32 5>")
        cdgh = t.call("rnds2", cdgh, abef, sum_)
        abef = t.call("rnds2", abef, cdgh, high)
        # w[16..] of the next groups: msg1(w0, w1) + w[9..12], then msg2 with the latest four
        if group >= 3 and group < 15:
            first, second = words[group - 3], words[group - 2]
            partial = t.call("msg1", first, second)
            middle = t.shuffle(words[group - 1], words[group], "<i32 1, i32 2, i32 3, i32 4>")
            partial = t.add(f"add <4 x i32> {partial}, {middle}")
            words.append(t.call("msg2", partial, words[group]))
    abef_next = t.add(f"add <4 x i32> %abef, {abef}")
    cdgh_next = t.add(f"add <4 x i32> %cdgh, {cdgh}")
    body = "\n".join(t.lines)
    return f"""declare <4 x i32> @llvm.x86.sha256rnds2(<4 x i32>, <4 x i32>, <4 x i32>)
declare <4 x i32> @llvm.x86.sha256msg1(<4 x i32>, <4 x i32>)
declare <4 x i32> @llvm.x86.sha256msg2(<4 x i32>, <4 x i32>)
declare <4 x i32> @llvm.bswap.v4i32(<4 x i32>)
define internal void @sha_blocks_native(ptr %h, ptr %start, i64 %blocks) nounwind \
"frame-pointer"="all" "target-cpu"="x86-64" "target-features"="+sse4.1,+ssse3,+sha" {{
entry:
  %dcba = load <4 x i32>, ptr %h, align 1
  %high = getelementptr i8, ptr %h, i64 16
  %hgfe = load <4 x i32>, ptr %high, align 1
  %abef0 = shufflevector <4 x i32> %dcba, <4 x i32> %hgfe, <4 x i32> <i32 5, i32 4, i32 1, i32 0>
  %cdgh0 = shufflevector <4 x i32> %dcba, <4 x i32> %hgfe, <4 x i32> <i32 7, i32 6, i32 3, i32 2>
  br label %head
head:
  %abef = phi <4 x i32> [%abef0, %entry], [{abef_next}, %block]
  %cdgh = phi <4 x i32> [%cdgh0, %entry], [{cdgh_next}, %block]
  %data = phi ptr [%start, %entry], [%data.next, %block]
  %left = phi i64 [%blocks, %entry], [%left.next, %block]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %block, label %done
block:
{body}
  %data.next = getelementptr i8, ptr %data, i64 64
  %left.next = sub i64 %left, 1
  br label %head
done:
  %low = shufflevector <4 x i32> %abef, <4 x i32> %cdgh, <4 x i32> <i32 3, i32 2, i32 7, i32 6>
  %upper = shufflevector <4 x i32> %abef, <4 x i32> %cdgh, <4 x i32> <i32 1, i32 0, i32 5, i32 4>
  store <4 x i32> %low, ptr %h, align 1
  store <4 x i32> %upper, ptr %high, align 1
  ret void
}}
"""


SHA_BLOCKS_X86 = _sha_blocks()
