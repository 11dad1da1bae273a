"""The wizard: the screens of hostconf. It stands on `workflow` alone and decides nothing.

Textual is loaded here and nowhere else. Its loading takes most of the start, so a first
picture is drawn before it.
"""

from __future__ import annotations

from hostconf.model import Environment


def run(environment: Environment, *, dry_run: bool = False, demo: bool = False, colour: bool = True) -> int:
    """Open the wizard and stay until it is left; gives the exit code.

    Args:
        environment: where everything is read and written.
        dry_run: preview only: no lock is taken and nothing is written; every screen says so.
        demo: the home is a throwaway one; every screen says so.
        colour: whether colours may be used; without them nothing is lost but looks.
    """
    import gc

    from hostconf.tui.splash import leave_splash, show_splash

    try:
        show_splash(dry_run=dry_run, demo=demo, colour=colour)
        gc.disable()  # thousands of classes are made while Textual loads, and none of them goes away
        from hostconf.tui.app import Wizard

        gc.freeze()
        gc.enable()
    except BaseException:
        leave_splash()  # a signal, or a broken installation: the terminal is given back
        raise
    return Wizard(environment, dry_run=dry_run, demo=demo, colour=colour).run_to_end()
