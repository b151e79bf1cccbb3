"""Draw demo.svg from the real output of `shoal demo`: python docs/images/make_demo_picture.py.

The sample and the seed are fixed, so the picture changes only when the output does. It needs no network: the web fonts
that rich would link to are left out.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from shoal.cli import demo, show

WIDTH = 96
WITHOUT_WEB_FONTS = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def picture() -> str:
    """Run the demo in a folder that is thrown away, and give what it shows as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print("$ shoal demo", style="bold")
    terminal, here = show.console, Path.cwd()
    show.console = lambda: console
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            demo.demo(quiet=True)
        finally:
            os.chdir(here)
            show.console = terminal
    return console.export_svg(title="shoal", code_format=WITHOUT_WEB_FONTS, unique_id="shoal-demo")


if __name__ == "__main__":
    (Path(__file__).parent / "demo.svg").write_text(picture(), encoding="utf-8")
