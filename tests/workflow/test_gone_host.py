"""A host that is gone while an install of ours is on record: it is told of, and can be taken back."""

from __future__ import annotations

import shutil
from pathlib import Path

from hostconf import workflow
from hostconf.environment import read_environment
from hostconf.workflow.request import Request


def test_it_is_in_the_status_as_long_as_something_of_ours_is_on_record(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text('model = "x"\n')
    environment = read_environment(home=str(tmp_path), cwd=str(tmp_path), variables={"DEEPSEEK_API_KEY": "x"})
    request = Request("deepseek-web-retrieval", ("codex",), env=(("DEEPSEEK_API_KEY", None),))
    assert workflow.carry_out(workflow.prepare(environment, request)).exit_code == 0
    shutil.rmtree(tmp_path / ".codex")

    rows = workflow.status(environment).data["hosts"]
    assert [(row["id"], row["present"], len(row["installed"])) for row in rows] == [("codex", False, 1)]

    back = workflow.carry_out(workflow.prepare_uninstall(environment, "deepseek-web-retrieval", ("codex",)))
    assert back.exit_code == 0
    assert workflow.status(environment).data["hosts"] == []
