"""How much hypothesis tries: little at each run, much with HYPOTHESIS_PROFILE=nightly."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("formats", max_examples=150, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("nightly", max_examples=3_000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "formats"))
