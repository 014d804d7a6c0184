"""Secrets in command lines are found, ordinary text is left alone, and what spares time changes nothing."""

from __future__ import annotations

import re

import pytest
from detect_secrets.plugins import keyword
from hypothesis import given
from hypothesis import strategies as st

from elision.redaction import redact
from elision.secrets.patterns import OWN, Window, folded, their_patterns

SECRET = {
    "option with =": ("mysql --password={} shop", "topsecret1"),
    "option with a blank": ("run --password {} shop", "topsecret1"),
    "option at the end of a line": ("run --password {}\nnext", "hunter"),
    "option before an option": ("cmd --api-key {} --verbose", "sk12345678"),
    "option in quotes": ('cmd --secret-key "{}" x', "abc 123"),
    "option in JSON": ('{{"cmd": "mysql --password=\\"{}\\" shop"}}', "abc123"),
    "token": ("deploy --token={} now", "abcdef123456"),
    "client secret": ("login --client-secret={} x", "verysecret"),
    "list of arguments": ('run(["login", "--password", "{}"])', "hunter22"),
    "one dash": ("java -Dspring.datasource.password={} -jar a.jar", "hunter22"),
    "keytool": ("keytool -storepass {} -list", "changeit1"),
    "setting of helm": ("helm install --set auth.password={} a b", "hunter22"),
    "literal of kubectl": ("kubectl create secret generic a --from-literal=password={} x", "hunter22"),
    "variable of terraform": ("terraform apply -var 'db_password={}' x", "hunter22"),
    "environment": ("PGPASSWORD={} psql -h db", "abc123x"),
    "environment behind env": ("env AWS_SECRET_ACCESS_KEY={} aws s3 ls", "abcd1234+/x"),
    "environment of docker": ("docker run -e MYSQL_ROOT_PASSWORD={} mysql", "my-secret-pw"),
    "environment in quotes": ("X=1 PGPASSWORD='{}' psql", "abc 123x"),
    "short name": ("A=1 DB_PWD={} ./run", "hunter22"),
    "curl -u": ("curl -u user:{} https://example.com", "pass123"),
    "curl with flags": ("curl -sSu user:{} https://example.com", "pass123"),
    "curl --user": ("curl --user 'user:{}' https://example.com", "pa ss1"),
    "curl over lines": ("curl -X POST \\\n  -H 'A: b' \\\n  -u bob:{} https://example.com", "pw12345"),
    "curl in JSON": ('{{"cmd": "curl -u bob:{} x"}}', "pw12345"),
    "mysql -p": ("mysql -uroot -p{} shop", "secret1"),
    "mysqldump -p in quotes": ("mysqldump -p'{}' shop", "se cret1"),
    "docker login": ("docker login -u bob -p {} reg.example.com", "hunter22"),
    "sshpass": ("sshpass -p {} ssh host", "hunter22"),
    "redis-cli": ("redis-cli -a {} ping", "hunter22"),
    "mongo": ("mongosh -u admin -p {} shop", "hunter22"),
    "openssl": ("openssl rsa -passin pass:{} -in key.pem", "hunter22"),
    "smbclient": ("smbclient //host/share -U bob%{} x", "hunter22"),
    "sudo -S": ("echo {} | sudo -S ls", "hunter22"),
    "address without a user": ("redis-cli -u redis://:{}@host:6379/0", "secretpw"),
    "address with a user": ("psql postgres://bob:{}@db/shop", "p!w$d"),
    "token in an address": ("git clone https://oauth2:{}@git.example.com/a.git", "tok123en"),
    "query": ("GET https://example.com/a?access_token={}&z=1", "abc123def"),
    "bearer": ('curl -H "Authorization: Bearer {}" x', "abc123def"),
    "basic": ("curl -H 'Authorization: Basic {}' x", "dXNlcjpwYXNz"),
    "header of a key": ("curl -H 'X-Api-Key: {}' x", "abc123def"),
    "header of GitLab": ("curl -H 'PRIVATE-TOKEN: {}' x", "abc123def"),
    "value that ends like a sum": ("run --secret-key 'abc123def+' x", "abc123def+"),
    "quoted value like code": ('password = "{}"', "my.secretpass"),
    "quoted value like an anchor": ('login --password "{}" x', "&Abc!12"),
    "connection by words": ("host=db user=bob password={} dbname=shop", "hunter22"),
    "connection string": ("Server=db;User Id=bob;Password={};Timeout=3", "hunter22"),
}


@pytest.mark.parametrize("before", ["", "$ ", "root@host:~# sudo ", "2026-11-30 ran: "])
def test_a_secret_of_a_command_is_removed_and_the_rest_of_the_line_stays(before: str) -> None:
    for name, (line, secret) in SECRET.items():
        text = f"first line\n{before}{line.format(secret)}\nlast line"
        found = redact(text, "secrets")

        assert secret not in found.text, name
        assert len(found.removed) == 1, name
        assert found.text.startswith(f"first line\n{before}"), name
        assert found.text.endswith("\nlast line"), name
        assert redact(found.text, "secrets").text == found.text, name


ORDINARY = [
    *("--token-count=5", "run --token-count=5 --max-token 4096", "run --eos-token abcdef1", "MAX_TOKENS=100000000"),
    *("password: required", 'password: "required"', "    password: str", "Password:", "Enter password: "),
    *("docker run -u 1000:1000 image", "docker exec -u www-data:www-data web ls", "id -u user:pass123"),
    *("curl https://example.com | docker run -u root:root1 image", "curl -o out https://example.com"),
    *("curl -u user: https://example.com", 'curl -u "$USER:$PASS" x', "curl --user-agent foo:bar1 x"),
    *("token = tokens[0]", "password = args.password", "f(password=password, token=token)", "f(x, token=None)"),
    *("PASSWORD=$PASSWORD", "PASSWORD=${PASSWORD:-}", "env TOKEN=$(cat t) run", "export PASSWORD"),
    *("run --password-file /run/secrets/db", "GH_TOKEN_FILE=/run/secrets/gh_token", "run --private-key ~/.ssh/id_rsa"),
    *("PWD=/home/bob/work", "OLDPWD=/srv", "TOKENIZERS_PARALLELISM=false", "API_KEY=your-api-key-here"),
    *("run --password PASSWORD  the password", "  --token string   the token", "run [--password=PASS] [--token TOKEN]"),
    *("run --password=<password>", "the --password option is required", "use --token with care"),
    *("TOKEN=xxxxxxxx", "TOKEN=********", "secret: !vault abc", "SECRET_KEY = os.environ['SECRET_KEY']"),
    *('option("--password", "-p1", prompt=True)', 'option("--token", "token")', "use --token, --password or --key"),
    *('parser.add_argument("--password", default=None)', 'f"--password={password}"', '"--password=" + password + " x"'),
    *("Authorization: Bearer $TOKEN", 'curl -H "Authorization: Bearer <token>" x', "Authorization: Bearer {token}"),
    *("mysql -p shop", "mysql -p$PASS shop", "mkdir -p a/b; ssh -p 22 host", "docker run -p 8080:80 image"),
    *("https://example.com:8443/path?x=@1", "http://localhost:3000/@vite/client", "ssh://git@example.com:22/a"),
    *("https://example.com/list?page_token=abcdef123", "docker build --secret id=mysecret,src=x ."),
    *("kubectl get secret foo", "git log --first-pass out.log", "ls -la | grep secret", "the token: it is"),
]


def test_ordinary_text_stays_as_it_is() -> None:
    texts = [f"first line\n{line}\nlast line" for line in ORDINARY]

    assert [text for text in texts if redact(text, "secrets").text != text] == []


@pytest.mark.parametrize("name", ["option with =", "environment", "curl -u", "mysql -p", "address with a user"])
def test_a_secret_of_a_command_is_found_wherever_it_stands_in_a_long_line(name: str) -> None:
    line, secret = SECRET[name]
    places = [0, 7000, 7150, 8150, 8192, 16_300]
    texts = {at: "x" * at + " " + line.format(secret) + " " + "y" * 9000 for at in places}

    assert [at for at, text in texts.items() if secret in redact(text, "secrets").text] == []


PIECES = st.one_of(
    st.sampled_from([line.format(secret) for line, secret in SECRET.values()]),
    st.sampled_from(ORDINARY),
    st.sampled_from([pattern for _, pattern in (*their_patterns(), *OWN)]).flatmap(
        lambda pattern: st.from_regex(
            pattern.pattern if pattern.flags & re.I == 0 else re.compile(pattern.pattern, re.I)
        )
    ),
    st.sampled_from(keyword.DENYLIST).flatmap(lambda word: st.from_regex(re.compile(word, re.I))),
    st.text(alphabet="kK\u212asS\u017fiI\u0130\u0131pPaAwWeEyYtToOnNcCrRñÑ_=:'\" \n-", max_size=40),
    st.text(max_size=20),
)
TEXTS = st.lists(PIECES, max_size=6).map(" ".join)


@given(TEXTS, st.integers(0, 40))
def test_what_patterns_find_is_the_same_where_all_of_them_are_tried(text: str, start: int) -> None:
    window = Window(text, min(start, len(text)), len(text))
    every = [
        (kind, match.span())
        for kind, pattern in (*their_patterns(), *OWN)
        for match in pattern.finditer(text, window.start)
    ]

    assert [(kind, match.span()) for kind, match, _ in window.matches()] == every


@given(TEXTS, st.integers(0, 40))
def test_words_are_the_same_where_each_place_is_tried(text: str, start: int) -> None:
    window = Window(text, min(start, len(text)), len(text))
    words = re.compile("|".join(keyword.DENYLIST), re.I)

    assert list(window.words()) == [match.span() for match in words.finditer(text, window.start)]


@given(TEXTS)
def test_a_folded_text_has_every_character_at_its_place(text: str) -> None:
    assert len(folded(text)) == len(text)


@given(TEXTS)
def test_redacting_commands_again_changes_nothing(text: str) -> None:
    once = redact(text, "secrets").text

    assert redact(once, "secrets").text == once
