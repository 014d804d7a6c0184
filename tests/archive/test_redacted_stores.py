"""``redact`` in what programs store: hashes of passwords, and cookie jars."""

from __future__ import annotations

import string

import pytest

from elision import redact

LETTERS = string.ascii_letters + string.digits + "./"


def made(length: int) -> str:
    """Text as a hash has it."""
    return "".join(LETTERS[7 * number % len(LETTERS)] for number in range(length))


@pytest.mark.parametrize(
    "line",
    [
        "root:{}:19000:0:99999:7:::",
        "admin:{}",
        "     7\tadmin:{}",
        '{{"user": "ann", "hash": "{}"}}',
        " ann | {} | 2026-01-01",
        "INSERT INTO users VALUES (1, 'ann', '{}');",
        "1,ann,{},true",
    ],
    ids=["shadow", "htpasswd", "numbered", "JSON", "column", "SQL", "CSV"],
)
@pytest.mark.parametrize(
    "value",
    [
        f"$2y$10${made(53)}",
        f"$2b$12${made(53)}",
        f"$apr1${made(8)}${made(22)}",
        f"$1${made(8)}${made(22)}",
        f"$5${made(16)}${made(43)}",
        f"$6$rounds=5000${made(16)}${made(86)}",
        f"$6${made(8)}${made(86)}",
        f"$y$j9T${made(22)}${made(43)}",
        f"$argon2id$v=19$m=65536,t=3,p=4${'c2FsdHNhbHQ'}${'aGFzaGhhc2g' * 4}",
        f"pbkdf2_sha256$600000$saltsaltsalt${'aGFzaGhhc2g' * 4}=",
        f"{{SHA}}{'aGFzaGhhc2g' * 2}aGFzaG=",
    ],
    ids=lambda value: value[:7],
)
def test_the_hash_of_a_password_is_withheld_and_the_rest_of_its_line_is_not(line: str, value: str) -> None:
    before, after = line.format("\0").split("\0")
    found = redact(line.format(value), "secrets").text

    assert value not in found
    assert found.startswith(before)
    assert found.endswith(after)


@pytest.mark.parametrize("host", ["example.com", ".example.com", "#HttpOnly_app.example.com"])
@pytest.mark.parametrize("flag", ["TRUE", "FALSE"])
def test_the_value_of_a_cookie_in_a_jar_is_withheld_and_its_name_is_not(host: str, flag: str) -> None:
    jar = f"# Netscape HTTP Cookie File\n\n{host}\t{flag}\t/\tTRUE\t1790000000\tsession\t8f3aC91bd2Xe77\n"

    assert (
        redact(jar, "secrets").text.split("\n")[2] == f"{host}\t{flag}\t/\tTRUE\t1790000000\tsession\t[removed: Cookie]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5$ or $6$, $1$ for members.",
        "echo $1$2 > $5",
        "sed 's/$2a$10$//'",
        "the hash begins with $2b$12$, then 53 characters",
        "the scheme {SHA} of htpasswd -s",
        "pbkdf2_sha256 with 600000 rounds",
        "flag\tTRUE\t/\tFALSE\t0\n",
        "TRUE\tFALSE\t/usr/bin\tTRUE\t12\tname\tvalue",
    ],
)
def test_prose_code_and_tables_stay(text: str) -> None:
    assert redact(text, "secrets").text == text
