"""What goes into an archive comes back equal, by a ref that its content decides."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision
from elision.archive import Archive, Entry, open_archive

TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def put(archive: Archive, content: Any, **facts: Any) -> str:
    (ref,) = archive.put_all([Entry(content=content, **facts)])
    return ref.short


@given(content=TEXTS | st.lists(VALUES, max_size=4) | st.dictionaries(TEXTS, VALUES, max_size=3))
def test_any_text_and_any_parts_come_back_equal(content: Any) -> None:
    with open_archive("memory:", environ={}) as archive:
        original = archive.get(put(archive, content))

        assert original.content == content
        assert type(original.content) is type(content)
        assert archive.verify().clean


@pytest.mark.parametrize(
    "text", ["", "\r\n\t\x1b[31mred\x1b[0m\n\n", "\ud800", "\udc00\ud800", "\0", "é\u2028x", "[1]", "a" * 2_000_000]
)
def test_texts_that_others_stumble_over_come_back_equal(archive: Archive, text: str) -> None:
    assert archive.get(put(archive, text)).content == text


def test_a_text_is_named_by_the_sha256_of_its_bytes(archive: Archive) -> None:
    (ref,) = archive.put_all([Entry(content="naïve\n")])

    assert ref.sha256 == hashlib.sha256("naïve\n".encode()).hexdigest()
    assert ref.short == ref.sha256[:12]


def test_a_text_and_parts_of_the_same_bytes_are_two_originals(archive: Archive) -> None:
    text, parts = put(archive, "[1]"), put(archive, [1])

    assert (archive.get(text).content, archive.get(parts).content) == ("[1]", [1])


def test_the_same_bytes_are_stored_once_and_recorded_each_time(archive: Archive) -> None:
    refs = archive.put_all([Entry(content="same", call_id="a"), Entry(content="same", call_id="b")])

    assert refs[0] == refs[1]
    assert [record.call_id for record in archive.records()] == ["a", "b"]
    assert archive.stats().originals == 1


def test_the_ref_is_known_before_the_content_is_stored(archive: Archive, folder: Path) -> None:
    ref = archive.ref("later")

    assert not folder.exists()
    assert put(archive, "later", ref=ref) == ref == archive.ref("later")


def test_a_ref_is_the_same_in_every_archive_and_process(archive: Archive, tmp_path: Path) -> None:
    with open_archive(tmp_path / "other", environ={}) as other:
        assert put(other, "content") == put(archive, "content")


def colliding(archive: Archive) -> tuple[str, str]:
    """Two texts whose refs begin alike, made by giving the first one's ref to what will come second."""
    first, second = "first", "second"
    sha256 = hashlib.sha256(second.encode()).hexdigest()
    with archive._store.transaction() as writing:
        connection = writing._connection  # type: ignore[attr-defined]
        connection.execute("INSERT INTO refs VALUES (?, ?)", (sha256[:12], hashlib.sha256(first.encode()).digest()))
    return first, second


def test_where_two_begin_alike_the_later_ref_is_longer_and_the_earlier_one_stays(archive: Archive) -> None:
    first, second = colliding(archive)
    short, longer = put(archive, first), put(archive, second)

    assert len(longer) == 13
    assert longer.startswith(short)
    assert (archive.get(short).content, archive.get(longer).content) == (first, second)
    assert (put(archive, first), put(archive, second)) == (short, longer)


def test_a_ref_that_was_promised_and_is_taken_by_now_stores_nothing(archive: Archive) -> None:
    promised = archive.ref("second")
    _, second = colliding(archive)

    with pytest.raises(elision.ArchiveError, match="means another original by now"):
        archive.put_all([Entry(content="one more"), Entry(content=second, ref=promised)])
    assert (list(archive.records()), archive.stats().originals) == ([], 0)


def test_an_original_is_found_by_the_beginning_of_its_sha256_in_any_case(archive: Archive) -> None:
    (ref,) = archive.put_all([Entry(content="x")])

    assert {archive.get(name).ref for name in (ref, f" {ref.short.upper()}\n", ref.sha256[:10], ref.sha256)} == {ref}


def test_an_unknown_ref_names_the_nearest_one(archive: Archive, folder: Path) -> None:
    ref = put(archive, "x")
    wrong = ref[:-1] + ("0" if ref[-1] != "0" else "1")
    with pytest.raises(elision.ArchiveError) as caught:
        archive.get(wrong)

    assert str(caught.value) == (f"{folder / 'archive.db'}: there is no original {wrong}; did you mean '{ref}'?")


@pytest.mark.parametrize("ref", ["", "abc", "../../etc/passwd", "x" * 500, "%" * 12, "３" * 12, "0" * 65])
def test_what_is_no_ref_is_said_to_be_none(archive: Archive, ref: str) -> None:
    with pytest.raises(elision.ArchiveError, match="is no ref: a ref has 10 to 64 of the characters 0-9 and a-f"):
        archive.get(ref)


@pytest.mark.parametrize("content", [[{1: "a"}], [object()], [b"bytes"], [{"a": {"b": {2: 3}}}]])
def test_parts_that_json_would_change_are_refused(archive: Archive, content: Any) -> None:
    with pytest.raises(elision.ArchiveError, match="cannot be stored as JSON"):
        put(archive, content)
    assert archive.stats().originals == 0


def test_parts_nested_too_deeply_are_refused(archive: Archive) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(elision.ArchiveError, match="nested too deeply"):
        put(archive, deep)


def test_an_original_comes_with_the_newest_record_and_the_strictest_policy(archive: Archive) -> None:
    ref = put(archive, "x", view_policy="secrets", tool="cat")
    put(archive, "x", view_policy="none", tool="less")
    original = archive.get(ref)

    assert (original.record.tool, original.view_policy) == ("less", "secrets")


def test_a_text_of_ours_is_known_by_its_hash_and_never_by_its_looks(archive: Archive, folder: Path) -> None:
    put(archive, "x", placeholder="[gone: 1a2b]")
    archive.remember(["note of ours", "note of ours", "\ud800"])

    with open_archive(folder, environ={}) as again:
        ours = ["[gone: 1a2b]", "note of ours", "\ud800"]
        assert [text for text in [*ours, "[gone: 1a2c]", "x", ""] if again.is_ours(text)] == ours
