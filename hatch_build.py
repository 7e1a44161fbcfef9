"""The step of the wheel's build, and of an editable install: the runtime's objects are made once, for all hosts.

They are what a first build would make for itself and keep. Where the LLVM binding is not there they are left out.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RuntimeObjects(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if importlib.util.find_spec("llvmlite") is None:
            self.app.display_warning("llvmlite is missing: left out the runtime's objects")
            return
        package = Path(self.root) / "compiler"
        sys.path.insert(0, str(package))
        from alpha.driver.runtime_object import SHIPPED, ship

        with tempfile.TemporaryDirectory() as folder:
            # For the processes that own LLVM; where the build is isolated, its packages are known by this variable
            # alone. The path is a new one: an isolated build forgets those of an editable install that is there.
            link = Path(folder, "compiler")
            link.symlink_to(package)
            paths = [str(link), os.environ.get("PYTHONPATH", "")]
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
            ship()
        build_data["artifacts"].append(f"compiler/alpha/{SHIPPED.folder.name}/*")
