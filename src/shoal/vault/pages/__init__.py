"""The pages of a vault: what a browser shows to researchers and stewards."""

from __future__ import annotations

from fastapi import APIRouter

from shoal.vault.pages import entrance, researcher, steward
from shoal.vault.pages.showing import error_page, static, wants_page

__all__ = ["error_page", "router", "static", "wants_page"]

router = APIRouter(include_in_schema=False)
for part in (entrance, researcher, steward):
    router.include_router(part.router)
