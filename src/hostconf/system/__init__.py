"""The door to the disk: the only room that calls the file functions of `os`.

`System` is what the others see. `RealSystem` is the disk, `ReadOnlySystem` the disk
for commands that must not write, `FailingSystem` the disk with a fault at its N-th
call.
"""

from hostconf.system.base import MAX_BYTES, Route, Status, System
from hostconf.system.guarded import CHANGING, FailingSystem, ReadOnlySystem
from hostconf.system.real import RealSystem

__all__ = [
    "CHANGING",
    "MAX_BYTES",
    "FailingSystem",
    "ReadOnlySystem",
    "RealSystem",
    "Route",
    "Status",
    "System",
]
