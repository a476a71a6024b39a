"""Data races that are left out, and `mazurka.toml`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka import cli
from mazurka.options import COMMANDS, TEXT
from mazurka.suppressions import Pattern

# The same lines race on several objects, and other lines on others.
RACES = """\
#include <pthread.h>
int first, second, hits[4];
struct { int low, high; } stats;
static void increment(int *where) { ++*where; }
static void count(void) { hits[1]++; stats.low = 1; }
static void *work(void *unused) {
    int *all[] = {&first, &second};
    for (int i = 0; i < 2; i++) increment(all[i]);
    count();
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
}
"""
ALL = {"first", "second", "hits[1]", "stats.low"}
TOLD = ALL - {"second"}  # of those in the same lines, one


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project" / "source"
    folder.mkdir(parents=True)
    (folder / "races.c").write_text(RACES)
    monkeypatch.chdir(folder)
    return folder


def result_of(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = cli.main(["check", "races.c", "--json", *words])
    return code, json.loads(capsys.readouterr().out)


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(list(words)) == 2
    return capsys.readouterr().err


# ----------------------------------------------------------------------------------- suppressions


@pytest.mark.parametrize(
    ("suppressions", "left"),
    [
        ([], TOLD),
        (["object:first"], ALL - {"first"}),
        (["object:f*", "object:second"], ALL - {"first", "second"}),
        (["object:hits"], TOLD - {"hits[1]"}),
        (["object:hits[1]"], TOLD - {"hits[1]"}),
        (["object:hits[[]1]"], TOLD - {"hits[1]"}),
        (["object:hit"], TOLD),
        (["object:stats"], TOLD - {"stats.low"}),
        (["object:low"], TOLD),
        (["function:increment"], {"hits[1]", "stats.low"}),
        (["function:work"], TOLD),  # it only calls those that race
        (["file:races.c"], set()),
        (["file:*.c"], set()),
        (["file:other.c"], TOLD),
        (["file:aces.c"], TOLD),
    ],
)
def test_a_race_is_left_out_and_no_other_one(here: Path, suppressions: list[str], left: set[str]) -> None:
    result = mazurka.check("races.c", suppress_race=suppressions)
    assert {race.object for race in result.races} == left
    assert result.suppressed == len((TOLD if "first" in left else ALL) - left)
    assert result.verdict is mazurka.Verdict.OK


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "exhaustive", "random"])
def test_a_race_that_is_left_out_is_no_bug_and_hides_none(here: Path, algorithm: str) -> None:
    known = ["object:first"]
    for left in ("second", "hits[1]", "stats.low"):
        options = {"races": "error", "algorithm": algorithm}
        result = mazurka.check("races.c", suppress_race=known, **options, max_executions=1000)  # type: ignore[arg-type]
        assert result.bug is not None
        assert result.bug.message.startswith(f"data race on `{left}`: ")
        known.append(f"object:{left}")
    result = mazurka.check("races.c", suppress_race=known, **options, max_executions=1000)  # type: ignore[arg-type]
    assert (result.bug, result.races, result.suppressed) == (None, (), 4)
    assert [suppression.races for suppression in result.suppressions] == [1, 1, 1, 1]


def test_the_report_counts_what_is_left_out_and_names_what_matches_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--suppress-race", "function:increment", "--suppress-race", "object:gone"]
    code, result = result_of(capsys, *words)
    assert (code, result["suppressed_races"]) == (0, 2)
    assert result["suppressions"] == [
        {"pattern": "function:increment", "races": 2},
        {"pattern": "object:gone", "races": 0},
    ]
    assert cli.main(["check", "races.c", *words]) == 0
    out = capsys.readouterr().out
    assert "\n2 data races suppressed\na suppression matches no data race, and could be removed: object:gone\n" in out
    assert out.count("warning: ") == 2
    # Nobody knows what the rest of the search would have met.
    assert cli.main(["check", "races.c", *words, "--races", "error"]) == 1
    out = capsys.readouterr().out
    assert "2 data races suppressed" in out and "could be removed" not in out
    assert "mazurka check --suppress-race function:increment --suppress-race object:gone --races error races.c" in out


@pytest.mark.parametrize("words", [["--engine", "stateful", "--races", "ignore"], ["--races", "ignore"]])
def test_where_nobody_looks_for_races_no_suppression_is_called_useless(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert cli.main(["check", "races.c", "--suppress-race", "object:gone", *words]) == 0
    assert "suppress" not in capsys.readouterr().out


def test_the_warning_says_what_can_be_done(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "races.c", "--suppress-race", "function:increment"]) == 0
    advice = capsys.readouterr().out.splitlines()[-1]
    assert "--races error makes data races bugs" in advice
    assert "--suppress-race 'object:hits[1]' leaves this one out" in advice


@pytest.mark.parametrize("wrong", ["counter", "line:3", "object:", ":x", ""])
def test_a_suppression_that_means_nothing_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["check", "races.c", "--suppress-race", wrong])
    assert caught.value.code == 2
    assert "is not file:NAME, function:NAME or object:NAME" in capsys.readouterr().err
    with pytest.raises(mazurka.InputError, match="suppress_race must be file:NAME, function:NAME or object:NAME"):
        mazurka.check("races.c", suppress_race=[wrong])
    with pytest.raises(mazurka.InputError, match="suppress_race must be a list"):
        mazurka.check("races.c", suppress_race="object:x")


def test_files_are_meant_by_the_end_of_their_paths(here: Path) -> None:
    (race, *_) = mazurka.check(here / "races.c").races
    for pattern in ("races.c", "source/races.c", "project/*.c", "*/races.c", "/*.c", str(here / "races.c")):
        assert Pattern("file", pattern).matches(race), pattern
    for pattern in ("ource/races.c", "project", "races", "Races.c"):
        assert not Pattern("file", pattern).matches(race), pattern


# ----------------------------------------------------------------------------------- mazurka.toml


def test_options_are_taken_from_the_folder_of_the_file_or_one_above(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = here.parent / "mazurka.toml"
    config.write_text('[check]\nraces = "error"\nsuppress-race = ["object:first"]\n')
    code, result = result_of(capsys)
    assert (code, result["config"], result["suppressed_races"]) == (1, str(config), 1)
    assert result["bug"]["message"].startswith("data race on `second`")
    monkeypatch.chdir(here.parent.parent)  # from wherever it is run
    assert cli.main(["check", "project/source/races.c"]) == 1
    out = capsys.readouterr().out
    assert f"\noptions were taken from {Path('project/mazurka.toml')}\n" in out
    (here / "mazurka.toml").write_text("")  # the nearest one counts, alone
    assert cli.main(["check", "project/source/races.c"]) == 0
    assert "options were taken from project/source/mazurka.toml" in capsys.readouterr().out


def test_the_command_line_comes_first(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mazurka.toml").write_text('[check]\nraces = "error"\nsuppress-race = ["object:first"]\nmax-steps = 7\n')
    code, result = result_of(capsys, "--races", "warn", "--suppress-race", "object:second", "--max-steps", "1000")
    assert (code, result["verdict"], result["suppressed_races"]) == (0, "ok", 2)
    code, result = result_of(capsys, "--no-config")
    assert (code, result["config"], result["suppressed_races"], len(result["races"])) == (0, None, 0, 3)
    Path("other.toml").write_text('[check]\nalgorithm = "optimal"\n')
    code, result = result_of(capsys, "--config", "other.toml")
    assert (code, result["config"], result["algorithm"]) == (0, "other.toml", "optimal")
    assert "contradict each other" in complaint(capsys, "check", "races.c", "--config", "other.toml", "--no-config")


def test_commands_to_see_a_bug_again_do_not_depend_on_the_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mazurka.toml").write_text('[check]\nraces = "ignore"\n')
    assert cli.main(["check", "races.c", "--no-config", "--races", "error"]) == 1
    assert "  mazurka check --no-config --races error races.c --save-schedule bug.json\n" in capsys.readouterr().out


def test_every_option_but_files_has_a_key(here: Path) -> None:
    for name, command in COMMANDS.items():
        keys = [option.key for option in command.options if option.values is not TEXT]
        assert len(keys) == len(set(keys)), name
        assert all(key and key[0] != "-" for key in keys), name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[check\nraces",
            "mazurka.toml: not a TOML file: Expected ']' at the end of a table declaration (at line 1",
        ),
        ("races = 1", "mazurka.toml: there is no command 'races'; tables are build, check, fences, loops, "),
        ("check = 1", "mazurka.toml: 'check' must be a table: write [check], and its options below it"),
        ("[chekc]\n", "mazurka.toml: there is no command 'chekc'"),
        (
            "[check]\ntimeuot = 3",
            "mazurka.toml: [check] timeuot: there is no such option; those of this command are al",
        ),
        ("[replay]\nraces = 'warn'", "mazurka.toml: [replay] races: there is no such option"),
        ("[check]\nsave-schedule = 'x'", "mazurka.toml: [check] save-schedule: there is no such option"),
        ("[check]\ntimeout = 'x'", "mazurka.toml: [check] timeout must be a time above 0, not 'x'"),
        ("[check]\ntimeout = -1", "mazurka.toml: [check] timeout must be a time above 0, not -1"),
        ("[check]\npurity = 'no'", "mazurka.toml: [check] purity must be true or false, not 'no'"),
        ("[check]\nmax-steps = 1.5", "mazurka.toml: [check] max-steps must be a number above 0, not 1.5"),
        ("[check]\nraces = 'eror'", "mazurka.toml: [check] races can be warn, error, ignore, not 'eror'"),
        ("[check]\nmax-memory = '5X'", "mazurka.toml: [check] max-memory '5X' is not a size"),
        ("[check]\nsuppress-race = 'object:x'", "mazurka.toml: [check] suppress-race must be a list, not 'object:x'"),
        ("[check]\nsuppress-race = ['x']", "mazurka.toml: [check] suppress-race must be file:NAME, function:NAME or"),
        ("[schedule]\nuntil = 'all'", "mazurka.toml: [schedule] until must be a number above 0, not 'all'"),
        ("[build]\noptimise = true", "mazurka.toml: [build] optimise can be 0, 1, 2, not True"),
    ],
)
def test_a_mistake_is_told_with_the_file_and_the_key(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (here / "mazurka.toml").write_text(text)
    assert complaint(capsys, "check", "races.c").startswith(f"mazurka: {message}")


def test_a_file_that_is_not_there(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        complaint(capsys, "check", "races.c", "--config", "no.toml") == "mazurka: no.toml: No such file or directory\n"
    )


def test_sizes_and_goals_are_written_as_on_the_command_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mazurka.toml").write_text(
        '[check]\nengine = "stateful"\nmax-memory = "500M"\n[schedule]\nuntil = "complete"\n'
    )
    code, result = result_of(capsys)
    assert (code, result["engine"]) == (0, "stateful")


def test_who_is_told_of_an_option_that_the_file_has_is_told_where_it_is(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mazurka.toml").write_text("[check]\nunroll = 3\n")
    err = complaint(capsys, "check", "races.c", "--engine", "stateful")
    assert err.startswith("mazurka: --unroll is for --engine stateless; ")
    assert err.endswith(" (mazurka.toml has it)\n")


def test_python_callers_say_what_they_mean(here: Path) -> None:
    (here / "mazurka.toml").write_text('[check]\nraces = "error"\n')
    assert mazurka.check("races.c").bug is None
