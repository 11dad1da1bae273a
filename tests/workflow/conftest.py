"""See `tests.plan.quick`."""

from tests.plan.quick import quick

__all__ = ["quick"]
