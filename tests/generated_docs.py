"""`make docs`: writes the pages of docs/ that follow from the compiler's tables. A test keeps them current."""

from __future__ import annotations

from pathlib import Path

from alpha.diagnostics.codes import TITLES, status_of
from alpha.diagnostics.pages import codes_with_pages
from alpha.targets import DEVICES, HOSTS
from alpha.targets.names import MISSING, WITHOUT_PACKAGE
from generated_reference import language_page, library_page, operations_page

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = "../compiler/alpha/diagnostics/pages"


def diagnostics_page() -> str:
    """`docs/diagnostics.md`."""
    explained = set(codes_with_pages())
    lines = [
        "# Diagnostics",
        "",
        "Written by `make docs`. The first letter decides the [exit status](exit-statuses.md).",
        "",
        "| code | title | exit |",
        "|---|---|---|",
    ]
    for code, title in TITLES.items():
        name = f"[{code}]({PAGES}/{code}.md)" if code in explained else code
        lines.append(f"| {name} | {title} | {status_of(code)} |")
    return "\n".join(lines) + "\n"


def targets_page() -> str:
    """`docs/targets.md`."""
    lines = [
        "# Targets",
        "",
        "Written by `make docs`.",
        "",
        "| target | emits |",
        "|---|---|",
    ]
    for host in HOSTS:
        lane = "yes" if host.scheduled else "yes, through the direct lane"
        lines.append(f"| `{host.name}` | {lane} |")
    for device in DEVICES:
        kinds = " and ".join(kind.upper() for kind in device.kinds)
        lines.append(
            f"| `{device.name}` | {kinds}, of a pairing: the program that drives it is missing |"
        )
    for name, missing in sorted(MISSING.items()):
        lines.append(f"| `{name}` | no: {missing} |")
    lines += [
        "",
        "Architectures without a target package: " + ", ".join(sorted(WITHOUT_PACKAGE)) + ".",
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Every generated page by its name."""
    return {
        "diagnostics.md": diagnostics_page(),
        "language.md": language_page((DOCS / "language.md").read_text("utf-8")),
        "library.md": library_page(),
        "operations.md": operations_page(),
        "targets.md": targets_page(),
    }


def main() -> None:
    for name, text in pages().items():
        (DOCS / name).write_text(text, "utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
