"""See `quick`."""

from tests.plan.quick import quick, second

__all__ = ["quick", "second"]
