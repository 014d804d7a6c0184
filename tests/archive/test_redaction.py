"""Secrets do not get through, and what could not be scanned is withheld."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision import redaction
from elision.archive import Entry, open_archive
from elision.redaction import redact, redact_content, strictest

ALNUM = "Ab3dE6gH1jK4mN7pQ0sT9vW2yZ5cF8iL"
KEY = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *[ALNUM * 2] * 12, "-----END RSA PRIVATE KEY-----"])
SECRETS = {
    "aws": ("AKIA" + "IOSFODNN7EXAMPLE", "key id: {}"),
    "github": ("ghp_" + ALNUM + "abcd", "token {} is used"),
    "github fine-grained": ("github_pat_" + ALNUM, "{}"),
    "gitlab": ("glpat-" + ALNUM[:20], "{}"),
    "slack": ("xoxb-" + "123456789012-" * 2 + ALNUM.lower(), "SLACK={}"),
    "stripe": ("sk_live_" + ALNUM[:24], "{}"),
    "anthropic": ("sk-ant-api03-" + ALNUM * 2, "{}"),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + ALNUM, "cookie={};"),
    "cut jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxI", "cookie={}"),
    "basic auth": ("s3cr3tpassw0rd", "postgres://admin:{}@db/main"),
    "bearer": ("abcdef.ghijkl", "> Authorization: Bearer {}"),
    "python": ("hunter2 with blanks", 'password = "{}"'),
    "json": ("hunter2hunter2", '{{"api_key": "{}", "user": "me"}}'),
    "env": ("hunter2hunter2", "DB_PASSWORD={}"),
    "exported": ("hunter2hunter2", "export GH_TOKEN={}"),
    "yaml": ("hunter2hunter2", "  password: {}"),
    "twice": ("hunter2hunter2", 'password = "{0}"  # was: "{0}"'),
}


@pytest.mark.parametrize(("secret", "around"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_removed_and_what_stands_around_it_stays(secret: str, around: str) -> None:
    text = f"$ cat config\n{around.format(secret)}\nthe end\n"
    found = redact(text, "secrets")

    assert secret not in found.text
    assert found.text.startswith("$ cat config\n")
    assert found.text.endswith("\nthe end\n")
    assert (len(found.removed) >= 1, found.withheld) == (True, 0)


@pytest.mark.parametrize("at", [0, 7000, 7150, 8100, 8192, 16_300])
def test_a_secret_is_found_wherever_it_stands_in_a_long_line(at: int) -> None:
    secret = SECRETS["github"][0]

    assert ALNUM[:12] not in redact("x" * at + " " + secret + " " + "y" * 20_000, "secrets").text


@pytest.mark.parametrize("form", ["{}", "  1\t{}", '"{}"'])
def test_a_private_key_goes_with_all_its_lines(form: str) -> None:
    lines = [form.format(line) for line in KEY.splitlines()]
    found = redact("before\n" + "\n".join(lines) + "\nafter", "secrets").text

    assert ALNUM not in found
    assert found.startswith("before\n")
    assert found.endswith("after")


def test_a_private_key_that_was_cut_goes_too() -> None:
    assert ALNUM not in redact(KEY[:500], "secrets").text


def test_a_private_key_inside_json_goes_too() -> None:
    assert ALNUM not in redact(json.dumps({"key": KEY, "next": 1}), "secrets").text


ORDINARY = """
def login(password: str, token: str | None = None) -> bool:
    secret = load_secret(path)
    return check(password) and api_key is not None
commit 3f9a1c0b77de5a6b1c2d3e4f5a6b7c8d9e0f1a2b
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
https://example.com:8443/path?x=1 203.0.113.7
drwxr-xr-x 2 root root 4096 Nov 29 23:27 tokens
"""


def test_code_hashes_and_addresses_are_left_alone() -> None:
    assert redact(ORDINARY, "secrets") == redaction.Redacted(ORDINARY)


def test_no_secret_is_ever_sent_anywhere_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    text = "\n".join(around.format(secret) for secret, around in SECRETS.values())

    assert redact(text, "secrets").withheld == 0


def test_what_could_not_be_scanned_in_time_is_withheld() -> None:
    found = redact("x\n" * 50_000, "secrets", seconds=0)

    assert found.text == "[withheld: 100,000 characters not scanned for secrets in time]"
    assert found.withheld == 100_000


def test_where_the_scanner_fails_everything_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Any:
        raise ImportError("detect_secrets")

    monkeypatch.setattr(redaction, "Window", fail)

    assert redact("x" * 20, "secrets").text == "[withheld: 20 characters; the scan failed: ImportError]"


def test_full_leaves_the_size_only() -> None:
    assert redact("x" * 1234, "full").text == "[withheld by policy: 1,234 characters]"


def test_an_unknown_policy_is_as_strict_as_full() -> None:
    assert redact("x" * 10, "pii").text == redact("x" * 10, "full").text


@pytest.mark.parametrize(
    ("policies", "expected"),
    [([], "none"), (["none"], "none"), (["none", "secrets"], "secrets"), (["full", "none"], "full"), (["odd"], "full")],
)
def test_the_strictest_policy_counts(policies: list[str], expected: str) -> None:
    assert strictest(policies) == expected


def test_every_string_of_parts_is_redacted_keys_included() -> None:
    token = SECRETS["github"][0]
    parts = [{"type": "text", "text": f"see {token}"}, {token: [token, 7, None, True]}, {"password": "hunter2 x"}]
    found = redact_content(parts, "secrets")

    assert token not in json.dumps(found)
    assert found[1]["[removed: GitHub Token]"][1:] == [7, None, True]
    assert found[2] == {"password": "[removed: credential]"}


def test_an_image_cannot_be_scanned_and_is_withheld() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]

    assert redact_content(parts, "secrets")[0]["image_url"]["url"] == (
        "[withheld: 26 characters of data cannot be scanned for secrets]"
    )


@given(st.text(max_size=300))
def test_under_none_nothing_changes_and_secrets_is_idempotent(text: str) -> None:
    once = redact(text, "secrets").text

    assert redact(text, "none").text == text
    assert redact(once, "secrets").text == once


def test_redacting_again_changes_nothing() -> None:
    once = redact("\n".join(around.format(secret) for secret, around in SECRETS.values()), "secrets").text

    assert redact(once, "secrets").text == once


def test_what_the_archive_keeps_has_a_policy_of_its_own() -> None:
    secret, around = SECRETS["env"]
    with open_archive("memory:", stored="secrets", environ={}) as archive:
        ref = archive.ref(around.format(secret))
        (put,) = archive.put_all([Entry(content=around.format(secret), ref=ref, placeholder="[gone]")])
        (record,) = archive.records()

        assert archive.get(put).content == "DB_PASSWORD=[removed: credential]"
        assert (record.stored_policy, record.view_policy) == ("secrets", "none")
        assert archive.verify().clean


def test_a_text_is_withheld_from_where_time_ran_out_before() -> None:
    text = "line of text\npassword = hunter2hunter\nAKIAIOSFODNN7EXAMPLE key\n" * 3000
    whole = redact(text, "secrets", seconds=60)
    for seconds in (0, 0.02, 0.1):
        before = redact(text, "secrets", seconds=seconds)
        again = redact(text, "secrets", seconds=60, most=len(text) - before.withheld)

        assert again == before
        assert whole.text.startswith(before.text.rpartition("[withheld: ")[0])
