"""``default``: the history is sent as it is."""

from __future__ import annotations

import elision


def test_the_history_is_sent_as_it_is() -> None:
    history = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "", "extra": object()}]
    view = elision.loads("history_processors: [{type: default}]").process(history)

    assert all(sent is held for sent, held in zip(view.messages, history, strict=True))
    assert view.edits == ()
