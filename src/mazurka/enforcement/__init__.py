"""Native builds that keep to a schedule."""

from mazurka.enforcement.building import Builder, build

__all__ = ["Builder", "build"]
