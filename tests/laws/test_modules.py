"""Source roots, imports, cycles, duplicates, layers, files that are no modules (specification, section 2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from alpha.check.modules import LoadedModule, SourceRoots, find_systems, load, package_folder
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Refused, Severity
from alpha.driver.packages import modules_named

_SHIPPED = {
    "library/Alpha/Prelude.alpha": "module Alpha.Prelude\n",
    "library/Alpha/List.alpha": "module Alpha.List\n",
    "library/Alpha/Nn.alpha": "module Alpha.Nn exposing (gelu)\n\ngelu = 1\n\nhidden = 2\n",
    "platforms/Platform/Linux.alpha": "module Platform.Linux\n\ngeneric = 1\n",
    "systems/Digits/Run.alpha": "module Digits.Run\n\nbaseline = 1\n",
}


class World:
    """A package and what is shipped, in a folder of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "package"
        self.package.mkdir()
        for path, text in _SHIPPED.items():
            self.write(f"../shipped/{path}", text)

    def write(self, path: str, text: str | bytes) -> Path:
        file = (self.package / path).resolve()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    @property
    def roots(self) -> SourceRoots:
        shipped = self.folder / "shipped"
        places = tuple((f"{name}/", shipped / name) for name in ("systems", "platforms", "library"))
        return SourceRoots.open(self.package, places)

    def load(self, *names: str) -> tuple[LoadedModule, ...]:
        return load(self.roots, names, Diagnostics())

    def diagnostics(self, *names: str) -> list[Diagnostic]:
        diagnostics = Diagnostics()
        try:
            load(self.roots, names, diagnostics)
        except Refused as refused:
            assert list(refused.diagnostics) == diagnostics.errors
        else:
            assert not diagnostics.errors
        return diagnostics.items

    def only(self, *names: str) -> Diagnostic:
        (diagnostic,) = self.diagnostics(*names)
        return diagnostic


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# ---- what is loaded ------------------------------------------------------------------------------------------------


def test_modules_come_after_their_imports_and_the_prelude_first(world: World) -> None:
    world.write("A.alpha", "module A\n\nimport Bee.C (c)\nimport D (d)\n\na = c + d\n")
    world.write("Bee/C.alpha", "module Bee.C\n\nimport D (d)\n\nc = d\n")
    world.write("systems/D.alpha", "module D\n\nd = 1\n")
    loaded = world.load("A")
    assert [module.name for module in loaded] == ["Alpha.Prelude", "Alpha.List", "D", "Bee.C", "A"]
    assert [module.shipped for module in loaded] == [True, True, False, False, False]
    assert loaded[-1].imports == ("Bee.C", "D")
    assert [module.source.path for module in loaded[-3:]] == [
        "systems/D.alpha",
        "Bee/C.alpha",
        "A.alpha",
    ]
    assert loaded[0].source.path == "library/Alpha/Prelude.alpha"


@pytest.mark.slow
def test_a_long_chain_of_imports_is_no_fault(world: World) -> None:
    for number in range(1_100):
        import_ = f"import M{number + 1} (x{number + 1})\n\nx{number} = x{number + 1}\n"
        world.write(f"M{number}.alpha", f"module M{number}\n\n{import_}")
    world.write("M1100.alpha", "module M1100\n\nx1100 = 1\n")
    assert len(world.load("M0")) == 1_103


def test_nothing_is_read_twice_through_a_link(world: World) -> None:
    world.write("systems/A.alpha", "module A\n\na = 1\n")
    (world.package / "A.alpha").symlink_to(world.package / "systems/A.alpha")
    assert world.load("A")[-1].name == "A"
    (world.package / "Loop").symlink_to(world.package)
    assert set(world.roots.modules()) >= {"A", "Digits.Run"}


def test_a_package_that_is_itself_shipped_has_each_module_once(world: World) -> None:
    roots = SourceRoots.open(
        world.folder / "shipped",
        (
            ("systems/", world.folder / "shipped/systems"),
            ("library/", world.folder / "shipped/library"),
        ),
    )
    loaded = load(roots, ["Digits.Run"], Diagnostics())
    assert loaded[-1].shipped
    assert loaded[-1].source.path == "systems/Digits/Run.alpha"


def test_systems_are_folders_with_a_run(world: World) -> None:
    world.write("Mine/Run.alpha", "module Mine.Run\n")
    world.write("lower/Other/Run.alpha", "module Other.Run\n")
    assert find_systems(world.roots) == ("Digits", "Mine")
    assert modules_named(world.roots, "Digits") == ["Digits.Run"]


def test_the_package_is_the_nearest_folder_with_its_file(world: World) -> None:
    inner = world.package / "Mine" / "Build"
    inner.mkdir(parents=True)
    assert package_folder(inner) == inner
    world.write("alpha.toml", 'name = "mine"\n')
    assert package_folder(inner) == world.package


# ---- what is refused -----------------------------------------------------------------------------------------------


def test_an_unknown_module_is_refused_with_the_closest(world: World) -> None:
    world.write("A.alpha", "module A\n\nimport Alpha.N (gelu)\n\na = gelu\n")
    diagnostic = world.only("A")
    assert diagnostic.code == "E0102"
    assert diagnostic.span is not None and diagnostic.span.text == "Alpha.N"
    assert "Alpha.Nn" in diagnostic.hints[0]
    assert [fix.replacement for fix in diagnostic.fixes] == ["Alpha.Nn"]
    assert world.only("Digit.Run").span is None


def test_a_missing_prelude_is_a_damaged_installation(world: World) -> None:
    (world.folder / "shipped/library/Alpha/List.alpha").unlink()
    assert "installation is damaged" in world.only("Digits.Run").cause


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_cycle_is_refused_with_its_path(world: World, length: int) -> None:
    for number in range(length):
        after = (number + 1) % length
        world.write(
            f"M{number}.alpha",
            f"module M{number}\n\nimport M{after} (x{after})\n\nx{number} = x{after}\n",
        )
    diagnostic = world.only("M0")
    assert diagnostic.code == "E0103"
    assert " -> ".join([f"M{number}" for number in range(length)] + ["M0"]) in diagnostic.message


def test_one_name_in_two_roots_of_the_package_is_refused(world: World) -> None:
    world.write("A/Bee.alpha", "module A.Bee\n")
    world.write("systems/A/Bee.alpha", "module A.Bee\n")
    diagnostic = world.only("A.Bee")
    assert diagnostic.code == "E0105"
    assert "`A/Bee.alpha` and `systems/A/Bee.alpha`" in diagnostic.cause


def test_a_shipped_system_may_be_hidden_with_a_warning(world: World) -> None:
    world.write("Digits/Run.alpha", "module Digits.Run\n\nbaseline = 2\n")
    diagnostic = world.only("Digits.Run")
    assert (diagnostic.code, diagnostic.severity) == ("W0005", Severity.WARNING)
    world.write("Digits/Run.alpha", _SHIPPED["systems/Digits/Run.alpha"])
    assert world.diagnostics("Digits.Run") == []


@pytest.mark.parametrize("name", ["Alpha/Nn.alpha", "Platform/Linux.alpha"])
def test_the_compilers_own_modules_cannot_be_replaced(world: World, name: str) -> None:
    module = name.removesuffix(".alpha").replace("/", ".")
    world.write(name, f"module {module}\n\nother = 1\n")
    assert world.only(module).code == "E0105"
    shipped = next(text for path, text in _SHIPPED.items() if path.endswith(name))
    world.write(name, shipped)
    assert world.diagnostics(module) == []


def test_header_and_path_must_agree(world: World) -> None:
    world.write("A/Bee.alpha", "module A.C\n")
    diagnostic = world.only("A.Bee")
    assert diagnostic.code == "E0107"
    assert diagnostic.span is not None and diagnostic.span.text == "A.C"


def test_only_exposed_names_can_be_imported(world: World) -> None:
    world.write(
        "T.alpha", "module T exposing (Shape)\n\ntype Shape = Round | Square Int\n\nsecret = 1\n"
    )
    world.write(
        "A.alpha", "module A\n\nimport T (Shape, Round, secret, absent)\n\na : Shape\na = Round\n"
    )
    found = world.diagnostics("A")
    assert [(item.code, item.span.text) for item in found if item.span] == [
        ("E0109", "secret"),
        ("E0109", "absent"),
    ]
    assert [len(item.labels) for item in found] == [1, 0]


def test_faults_of_several_modules_are_reported_together(world: World) -> None:
    world.write(
        "A.alpha", "module A\n\nimport Bee (b)\nimport C (c)\nimport Nowhere (n)\n\na = b\n"
    )
    world.write("Bee.alpha", "module Bee\n\nb = (1\n\nc = )\n")
    world.write("C.alpha", "module C\n\nc = 1.\n")
    assert [item.code for item in world.diagnostics("A")] == ["E0005", "E0005", "E0008", "E0102"]


def test_a_system_reaches_no_platform(world: World) -> None:
    world.write(
        "Between.alpha", "module Between\n\nimport Platform.Linux (generic)\n\nb = generic\n"
    )
    for kind, text in {
        "policy": "policy p =\n  batch = b\n",
        "learner": "learner l =\n  model = b\n",
        "optimizer": "optimizer o =\n  update t p g = b\n",
        "model": "model M [n] =\n  param w : Tensor f32 [n] = b\n",
    }.items():
        world.write("A.alpha", f"module A\n\nimport Between (b)\n\n{text}")
        diagnostic = world.only("A")
        assert diagnostic.code == "E0201"
        assert kind in diagnostic.message
        assert "A -> Between -> Platform.Linux" in diagnostic.message
    world.write("A.alpha", "module A\n\nimport Between (b)\n\npairing p =\n  system = b\n")
    assert world.diagnostics("A") == []


def test_reference_models_are_never_loaded(world: World) -> None:
    world.write("Reference/Warp.alpha", "module Reference.Warp\n\nstep = 1\n")
    world.write("A.alpha", "module A\n\nimport Reference.Warp (step)\n\na = step\n")
    assert world.only("A").code == "E0202"
    assert world.only("Reference.Warp").code == "E0202"
    (world.folder / "reference").mkdir()
    with pytest.raises(Refused) as refused:
        SourceRoots.open(world.folder / "reference")
    assert refused.value.diagnostics[0].code == "E0202"


def test_unused_imports_are_told(world: World) -> None:
    world.write(
        "T.alpha", "module T\n\ntype Kind = Round | Square\ntype Box = { side : Int }\n\none = 1\n"
    )
    world.write(
        "A.alpha",
        "module A\n\nimport T as U (Kind, Box, one)\nimport T as V\n\na = Square\n\nb box = box.side + V.one\n",
    )
    assert [(item.code, item.span.text) for item in world.diagnostics("A") if item.span] == [
        ("W0001", "one"),
        ("W0001", "U"),
    ]


# ---- files that are no modules -------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_told(world: World) -> None:
    (world.package / "Folder.alpha").mkdir()
    assert "it is a folder" in world.only("Folder").message
    (world.package / "Nowhere.alpha").symlink_to("missing")
    assert "it is a link to nothing" in world.only("Nowhere").message
    (world.package / "Round.alpha").symlink_to("Round.alpha")
    assert world.only("Round").code == "E0102"
    world.write("Bytes.alpha", b'module Bytes\n\nx = "\xff"\n')
    assert world.only("Bytes").code == "E0001"
    world.write("Large.alpha", b"-" * (1 << 20) + b"\n")
    assert world.only("Large").code == "E0010"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_told(world: World) -> None:
    world.write("Secret.alpha", "module Secret\n").chmod(0)
    assert "permission denied" in world.only("Secret").message
