"""Every action of the wizard, once: keys, footer, help and command palette are made from it.

A screen names the ids that it offers in `OFFERS` and has a method `action_<id>` for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from textual.binding import Binding, BindingType


class Action(NamedTuple):
    """Something a person can do."""

    id: str
    keys: str
    """With commas between; the first is shown."""
    label: str
    """In the footer."""
    help: str
    """A sentence, in the help and in the palette."""
    shown: bool = True
    """Whether the footer shows it."""
    first: bool = False
    """Whether its keys count before those of the widget that has the focus."""


_ALL = (
    # everywhere
    Action("help", "question_mark,f1", "Keys", "Show all keys of this screen", first=False),
    Action("palette", "ctrl+p,colon", "Commands", "Search every action by name", shown=False),
    Action("quit", "q,ctrl+q,ctrl+c", "Quit", "Leave hostconf; asks first if something was chosen and not written"),
    Action("theme", "ctrl+t", "Light or dark", "Switch between the light and the dark theme", shown=False),
    Action("back", "escape", "Back", "Go back to where you came from; nothing chosen is lost"),
    Action("next", "n,ctrl+n", "Next", "Go on to the next step"),
    Action("filter", "slash", "Filter", "Show only rows that contain what you type; Esc shows all again"),
    Action("reload", "r,f5", "Read again", "Read the files again", shown=False),
    # places
    Action("go_hosts", "H", "Hosts", "Go to the hosts of this machine", shown=False),
    Action("go_conflicts", "C", "Conflicts", "Go to the conflict surface", shown=False),
    Action("go_choice", "W", "Choice", "Go to the choice of integration, scope and tiers", shown=False),
    Action("go_installed", "I", "Installed", "Go to what hostconf has installed", shown=False),
    Action("go_recovery", "R", "Recovery", "Go to what was left unfinished", shown=False),
    # hosts
    Action("choose", "space", "Choose", "Take the host in, or leave it out"),
    Action("choose_all", "a", "All", "Take all hosts in, or none"),
    Action("installed", "i", "Installed", "Show what hostconf has installed: drift, uninstall, change of tier"),
    # choice
    Action("integration", "e", "Integration", "Choose another integration", shown=False),
    Action("scope", "s", "Scope", "Write the user's files, or those of the project", shown=False),
    Action("path", "p", "Path", "Choose the way the integration comes in: mcp, extension or plugin", shown=False),
    Action("pick", "space,enter", "Pick", "Wish this tier for this capability on this host"),
    Action("pick_all", "a", "Same for all", "Wish this tier for this capability on every host that can deliver it"),
    Action(
        "variables", "v", "Variables", "Say where each variable comes from: the environment, or a value", shown=False
    ),
    Action(
        "options", "o", "Options", "Settings of the integration, package, pinned version, taking a name", shown=False
    ),
    # preview
    Action("apply", "a", "Apply", "Approve the plan and carry it out"),
    Action("layout", "v", "Side by side", "Show diffs unified or side by side"),
    Action(
        "show_changes", "1", "What changes", "Show what changes for the model, and what else changes for you", False
    ),
    Action("show_files", "2", "Files", "Show the files with the exact difference", shown=False),
    Action("show_conflicts", "3", "Conflicts", "Show the conflicts that this settles, and those left", shown=False),
    Action("next_file", "right_square_bracket", "Next file", "Show the next file", shown=False),
    Action("previous_file", "left_square_bracket", "Previous file", "Show the file before", shown=False),
    Action("command", "y", "As command", "Show the command line that does the same"),
    # result
    Action("verify", "v", "Ask hosts", "Ask the installed hosts what they load"),
    Action("done", "enter,d", "Done", "Go to the hosts, read anew"),
    Action("replan", "p", "Plan again", "Make the plan anew, from the files as they are now"),
    Action("mend", "R", "Recovery", "Go to what was left unfinished"),
    # installed
    Action("uninstall", "u", "Uninstall", "Take this install back, after a preview"),
    Action("uninstall_all", "U", "Uninstall all", "Take everything back that hostconf installed, after a preview"),
    Action("change", "t", "Change tier", "Choose other tiers for this install"),
    # recovery
    Action("finish", "f", "Finish", "Carry the interrupted operation through: all files new"),
    Action("undo", "u", "Take back", "Take the interrupted operation back: all files old"),
    Action("forget", "l", "Leave", "Leave the files as they are and forget the operation; asks first"),
    Action("remove_lock", "x", "Remove lock", "Remove the lock whose owner nobody can name; asks first"),
    Action("not_now", "escape", "Not now", "Go on to the hosts; nothing can be written until this is settled"),
)

ACTIONS = {action.id: action for action in _ALL}

EVERYWHERE = (
    "help",
    "palette",
    "quit",
    "theme",
    "go_hosts",
    "go_conflicts",
    "go_choice",
    "go_installed",
    "go_recovery",
)
"""What the app itself offers on every screen."""

_NAMES = {"question_mark": "?", "slash": "/", "colon": ":", "left_square_bracket": "[", "right_square_bracket": "]"}


def key_name(key: str) -> str:
    """A key as a person writes it."""
    key = _NAMES.get(key, key)
    key = key.replace("ctrl+", "^").replace("escape", "Esc").replace("enter", "Enter").replace("space", "Space")
    return key.upper() if key[:1] == "f" and key[1:].isdigit() else key


def keys_of(action: Action) -> str:
    """All keys of an action as a person writes them."""
    return " ".join(key_name(key) for key in action.keys.split(","))


def bindings(*ids: str) -> list[BindingType]:
    """The bindings of these actions, for a screen's `BINDINGS`."""
    found: list[BindingType] = []
    for action in (ACTIONS[i] for i in ids):
        first, *others = action.keys.split(",")
        found.append(_binding(action, first, action.shown))
        found += [_binding(action, key, False) for key in others]
    return found


def _binding(action: Action, key: str, shown: bool) -> Binding:
    from textual.binding import Binding  # late: the first picture is drawn from this file before Textual is there

    return Binding(
        key,
        action.id,
        action.label,
        show=shown,
        key_display=key_name(key),
        priority=action.first,
        tooltip=action.help,
        id=f"{action.id}.{key}",
    )
