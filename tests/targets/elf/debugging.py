"""A program with line information: `answer` is on lines 3 and 4 of main.alpha, its caller on line 8."""

from __future__ import annotations

from alpha.base.host import HostTarget
from targets.elf.programs import program

_BODY = """
define internal i64 @answer(i64 %given) noinline "frame-pointer"="all" uwtable !dbg !10 {
    #dbg_value(i64 %given, !15, !DIExpression(), !12)
  %twice = mul i64 %given, 2, !dbg !12
  %found = add i64 %twice, 2, !dbg !13
  ret i64 %found, !dbg !13
}

define internal void @main(ptr %sp) "frame-pointer"="all" uwtable !dbg !11 {
  %found = call i64 @answer(i64 20), !dbg !14
  call void @stop(i64 %found), !dbg !14
  unreachable
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1, !2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !3, producer: "alpha", isOptimized: false,
  runtimeVersion: 0, emissionKind: FullDebug, nameTableKind: None)
!1 = !{i32 2, !"Dwarf Version", i32 4}
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DIFile(filename: "main.alpha", directory: "/alpha/src")
!4 = !DIBasicType(name: "Int", size: 64, encoding: DW_ATE_signed)
!5 = !DISubroutineType(types: !{!4, !4})
!10 = distinct !DISubprogram(name: "answer", file: !3, line: 2, type: !5, scopeLine: 2,
  spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0)
!11 = distinct !DISubprogram(name: "main", file: !3, line: 7, type: !5, scopeLine: 7,
  spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0)
!12 = !DILocation(line: 3, column: 3, scope: !10)
!13 = !DILocation(line: 4, column: 3, scope: !10)
!14 = !DILocation(line: 8, column: 3, scope: !11)
!15 = !DILocalVariable(name: "given", arg: 1, scope: !10, file: !3, line: 2, type: !4)
"""


def debuggable(host: HostTarget) -> str:
    return program(host, _BODY)
