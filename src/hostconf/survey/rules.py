"""Rules files: which a host loads, in its order, and what of them reaches the model.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from hostconf.hosts.schema import Rules
from hostconf.model import RulesFile
from hostconf.survey.view import View, glob_match
from hostconf.survey.workspace import expand, rules_paths

BEGIN = "<!-- hostconf:begin"


def rules_files(view: View) -> tuple[RulesFile, ...]:
    """The rules files of a host that are there, loaded or not, in the order in which the host reads them."""
    found: list[RulesFile] = []
    for rules in view.host.rules:
        cap = _cap(view, rules)
        left = cap
        for path, loaded, why in _candidates(view, rules):
            text = view.workspace.text(path)
            if loaded and cap:
                # the host cuts all of them together at so many bytes, from the end
                data = text.encode("utf-8", "replace")
                text, left = data[:left].decode("utf-8", "ignore"), max(0, left - len(data))
            found.append(RulesFile(view.host.id, rules.scope, path, loaded, why, BEGIN in text, text))
    return tuple(found)


def _cap(view: View, rules: Rules) -> int:
    """How many bytes of all of them reach the model; 0 for all."""
    if rules.cap and rules.cap_at:
        for file in view.group(rules.cap_group):
            value = file.document.get(rules.cap_at) if file.document is not None else None
            if isinstance(value, int) and not isinstance(value, bool):
                # none at all is not the same as no cap
                return max(value, 1)
    return rules.cap


def _candidates(view: View, rules: Rules) -> Iterator[tuple[str, bool, str]]:
    """Path, whether it is loaded, and why not."""
    workspace = view.workspace
    environment = workspace.environment
    if rules.listed_at:
        for pattern in listed_paths(view, rules):
            for path in workspace.matching(pattern) if "*" in pattern else (pattern,):
                if workspace.exists(path):
                    yield path, True, ""
        return
    excluded = _excludes(view, rules)
    by_template = [expand(template, view.host, environment) for template in _templates(view, rules)]
    blocked = next((p for t in rules.unless for p in expand(t, view.host, environment) if workspace.exists(p)), "")
    kind: int | None = None
    if rules.pick == "first-kind":
        kind = next((n for n, paths in enumerate(by_template) if any(workspace.exists(p) for p in paths)), None)
    depth = max((len(paths) for paths in by_template), default=0)
    for level in range(depth):
        taken = ""
        for number, paths in enumerate(by_template):
            if level >= len(paths):
                continue
            for path in workspace.matching(paths[level]) if "*" in paths[level] else (paths[level],):
                if not workspace.exists(path):
                    continue
                if blocked:
                    yield path, False, f"hidden by `{blocked}`"
                elif kind is not None and number != kind:
                    yield path, False, "another kind of rules file stands before it"
                elif rules.pick == "first" and (taken or not workspace.text(path).strip()):
                    yield path, False, f"hidden by `{taken}`" if taken else "it is empty"
                elif any(glob_match(pattern, path) for pattern in excluded):
                    yield path, False, "excluded by the host's settings"
                else:
                    taken = path
                    yield path, True, ""


def _templates(view: View, rules: Rules) -> tuple[str, ...]:
    """The templates of the files, with the names that the user added in the host's settings."""
    templates = rules_paths(rules, view.workspace.environment)
    if not rules.names_at:
        return templates
    for file in view.group(rules.names_group):
        names = file.document.get(rules.names_at) if file.document is not None else None
        if isinstance(names, list):
            more = [n for n in names if isinstance(n, str) and n and "{" not in n and "*" not in n]
            return (*templates, *(f"{{folder}}/{name}" for name in more))
    return templates


def more_rules(view: View) -> list[str]:
    """Paths and globs of rules files that only the host's settings name."""
    wanted: dict[str, None] = {}
    for rules in view.host.rules:
        if rules.listed_at:
            wanted |= dict.fromkeys(listed_paths(view, rules))
        for template in _templates(view, rules)[len(rules_paths(rules, view.workspace.environment)) :]:
            wanted |= dict.fromkeys(expand(template, view.host, view.workspace.environment))
    return list(wanted)


def _excludes(view: View, rules: Rules) -> tuple[str, ...]:
    found: list[str] = []
    if rules.excludes_at:
        for file in view.group(rules.excludes_group):
            items = file.document.get(rules.excludes_at) if file.document is not None else None
            found += [i for i in items if isinstance(i, str)] if isinstance(items, list) else []
    return tuple(found)


def listed_paths(view: View, rules: Rules) -> tuple[str, ...]:
    """The files that a host's list of instructions names, as absolute paths and globs.

    Those of a project's layers are of project scope, all others of the user's.
    """
    environment = view.workspace.environment
    found: list[str] = []
    for file in view.group(rules.listed_group):
        if (file.layer.scope == "project") != (rules.scope == "project"):
            continue
        items = file.document.get(rules.listed_at) if file.document is not None else None
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, str) or "://" in item or "\0" in item:
                continue
            if item.startswith("~/"):
                item = environment.home + item[1:]
            elif not item.startswith("/"):
                if environment.project is None:
                    continue
                item = f"{environment.project}/{item.removeprefix('./')}"
            found.append(item)
    return tuple(dict.fromkeys(found))
