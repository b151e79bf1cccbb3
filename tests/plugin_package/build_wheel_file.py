"""A build backend in one file, so that the package is built without a network and without another package."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Write the wheel: the modules, and what they are called by."""
    with Path("pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    name = project["name"].replace("-", "_")
    info = f"{name}-{project['version']}.dist-info"
    groups = project["entry-points"].items()
    written = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "".join(
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items()) for group, lines in groups
        ),
    }
    written |= {str(path.relative_to("src")): path.read_text(encoding="utf-8") for path in Path("src").rglob("*.py")}
    written[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*written, f"{info}/RECORD"])
    file_name = f"{name}-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / file_name, "w") as wheel:
        for path, text in written.items():
            wheel.writestr(path, text)
    return file_name
