"""Native builds that keep to a schedule."""

from mazurka.enforcement.building import build

__all__ = ["build"]
