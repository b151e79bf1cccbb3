"""`shoal compile`: every kernel compiled ahead."""

from __future__ import annotations

from typing import Annotated

import typer


def compile_all(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Compile all of Shoal for this machine, so that no first call has to wait. Takes some minutes, once."""
    from shoal.cli import show
    from shoal.compiling import compile_all as compile_ahead
    from shoal.kernels.machine_code import place_to_write

    with show.ShownProgress(quiet=quiet) as progress:
        compile_ahead(progress)
    place = place_to_write()
    where = f"kept in {place}" if place else "not kept: no folder for it can be written"
    show.console().print(f"All methods are compiled; the machine code is {where}.", soft_wrap=True)
