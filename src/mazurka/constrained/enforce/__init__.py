"""Native builds that keep to a schedule."""

from mazurka.constrained.enforce.building import Builder, build

__all__ = ["Builder", "build"]
