"""Secrets in files, in what tools print of clouds and clusters, and in code are found; code that names them stays."""

from __future__ import annotations

import base64

import pytest

from elision.redaction import redact

LOGIN = base64.b64encode(b"bob:hunter22345").decode()
KEY = base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7").decode()
LINES = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB\n"

SECRET = {
    "key of an application": ("APP_KEY=base64:{}\n", "q1w2e3r4t5y6u7i8o9p0="),
    "personal token": ("GITHUB_PAT={}\n", "abcdef1234567890abcdef"),
    "variable of YAML": ("  env:\n    NPM_TOKEN: {}\n", "tok-12345678"),
    "variable in a list of YAML": ("  environment:\n    - API_TOKEN={}\n", "tok-12345678"),
    "token of YAML": ("user:\n    token: {}\n", "abcdef.0123456789"),
    "pair of a container": ("- name: DB_PASSWORD\n  value: {}\n", "hunter22x"),
    "pair in JSON": ('{{"env":[{{"name":"DB_PASSWORD","value":"{}"}}]}}', "hunter22x"),
    "pair with a type": ('{{"Name":"/prod/db/password","Type":"SecureString","Value":"{}"}}', "hunter22x"),
    "pair in XML": ('<add key="ApiKey" value="{}"/>', "abc123def456"),
    "key of storage": ('"keyName": "key1",\n"permissions": "FULL",\n"value": "{}"', "Eby8vdM02xNOcqFlqUwJPLlm=="),
    "element": ("<server><password>{}</password></server>", "secretpw1"),
    "second member of one line": ('{{"password": "hunter22", "x": 1, "client_secret": "{}"}}', "cs12345678"),
    "member": ('{{"token": "{}"}}', "abcdef1234567890"),
    "member in a text of JSON": ('{{"body":"{{\\"token\\":\\"{}\\"}}"}}', "abcdef123456"),
    "member twice escaped": ('"{{\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"}}"', "hunter22"),
    "identity": ('{{"identitytoken": "{}"}}', "abcdefgh12345678"),
    "login of docker": ('{{"auths":{{"reg.example.com":{{"auth":"{}"}}}}}}', LOGIN),
    "key in base64": ("    client-key-data: {}\n", KEY),
    "secret of a cluster": ("apiVersion: v1\ndata:\n  anything: {}\nkind: Secret\n", "aHVudGVyMg=="),
    "secret of a cluster in JSON": ('{{"data": {{"anything": "{}"}}, "kind": "Secret"}}', "aHVudGVyMg=="),
    "text of a secret": ("kind: Secret\nstringData:\n  anything: {}\n", "correcthorse"),
    "netrc": ("machine example.com\n  login bob\n  password {}\n", "hunter"),
    "npm login": ("_auth={}\n", LOGIN),
    "npm password": ("//registry.example.com/:_password={}\n", "aHVudGVyMg=="),
    "redis": ("requirepass {}\n", "hunter"),
    "SQL": ("CREATE USER bob IDENTIFIED BY '{}';", "hunter"),
    "image": ("ENV DB_PASSWORD {}\n", "hunter22"),
    "shell of Windows": ('setx API_KEY "{}"\n', "abc123def456"),
    "variable of fish": ("set -x API_KEY {}\n", "abc123def456"),
    "session of AWS": ("aws_session_token = {}\n", "FwoGZXIvYXdzEBYaDHh1"),
    "TOML": ("token = '{}'\n", "tok_abc123456"),
    "Go": ('password := "{}"\n', "hunter23"),
    "template text": ("let token = `{}`;", "abc123def456"),
    "constant of PHP": ("define('DB_PASSWORD', '{}');", "hunter22"),
    "property": ('props.setProperty("password", "{}");', "hunter23"),
    "cookie": ("Cookie: theme=dark; session={}\n", "abcdef1234567890"),
    "cookie of a server": ("set-cookie: SID={}; Path=/; Expires=Wed, 01 Jan 2027\n", "38afes7a8abcdef12345"),
    "header without a scheme": ("> Authorization: {}\n", "abc123def456"),
    "header of nginx": ('proxy_set_header Authorization "Basic {}";', LOGIN),
    "header in a call": ('req.Header.Set("Authorization", "Bearer {}")', "abc123def456"),
    "header for a shell": ("curl -H Authorization:\\ Bearer\\ {} https://example.com", "abc123def456"),
    "signature": ("https://x.blob.example.com/f?sv=2020&sig={}&se=1", "AbC%2Bdef1234567890123456"),
    "token for a user": ("origin\thttps://{}@git.example.com/a.git (fetch)", "abcdef0123456789abcdef"),
    "password with an at": ("postgres://bob:{}@db:5432/x", "p@ss123w0rd"),
    "log": ("connecting with token={}\n", "abc123def456"),
    "pair before another": ("password={} host=db\n", "hunter2secret0"),
    "pair before a comma": ("password={}, user=bob\n", "hunter2secret0"),
    "pair before words": ("api_key={} loaded\n", "abcd1234efgh5678"),
    "setting before words": ("token: {} ok\n", "abcd1234efgh5678ijkl"),
    "said": ("Username: bob Password: {}\n", "hunter22x"),
    "numbered line": ("     3\tpassword: {}\n", "hunter24"),
    "line of a difference": ("+  password: {}\n", "hunter24"),
    "list": ("- token: {}\n", "abc123def456"),
    "putty": ("PuTTY-User-Key-File-3: ssh-ed25519\nA: b\nPrivate-Lines: 1\n{}\nPrivate-MAC: 0", "AAAAIGabcdefsecret"),
    "end of a key": ("tail key.pem\n{}-----END PRIVATE KEY-----\n", LINES),
    "Vault": ("got {} back", "hvs.CAESIabcdefghijklmnopqrstuvwxyz"),
    "Hugging Face": ("got {} back", "hf_abcdefghijklmnopqrstuvwxyz012345"),
    "Google": ("{}\n", "ya29.a0AfH6SMBx1234567890abcdefghijk"),
}


@pytest.mark.parametrize("before", ["", "first line\n", "x" * 8180 + "\n"], ids=["alone", "below", "between windows"])
def test_a_secret_in_data_is_removed(before: str) -> None:
    found = {name: redact(before + text.format(secret), "secrets").text for name, (text, secret) in SECRET.items()}

    assert [name for name, (_, secret) in SECRET.items() if secret in found[name]] == []
    assert [name for name, text in found.items() if not text.startswith(before)] == []
    assert {name: redact(text, "secrets").text for name, text in found.items()} == found


ORDINARY = [
    *(
        "    api_key=api_key,",
        "        user_api_key_dict=user_api_key_dict,",
        "    api_key=bearer,",
        "self.api_key = api_key",
    ),
    *("    user_api_key_dict: UserAPIKeyAuth,", '    user_api_key_dict: "UserAPIKeyAuth",', "CLIENT_KEY_EXCHANGE = 16"),
    *('"api_key_env": "EDENAI_API_KEY",', '    API_KEY_HASH = "hashed_api_key"', "api_key: os.environ/SUMMARY_KEY"),
    *("this.password = password;", "    secret=client_secret,", "max_api_key_metric = remaining_api_key_metric"),
    *(
        '{"variant": "password", "apiKeyLabel": "settings.form.showApiKey"}',
        'f(0,({accessToken:e6,userRole:t})=>{let p="x"})',
    ),
    *('"x-api-key": "Bearer <your-key>"', "token: int32", "uint256 token", "private_key: server1.pem"),
    *(
        "secretName: my-tls-secret",
        "password_file: secret1.txt",
        "existingSecret: my-secret-2",
        "kind: ConfigMap\ndata:\n  mode: abcd1234",
        "sort_key = 'user#12345'",
    ),
    *(
        "integrity: sha512-abc123==",
        "CACHE_KEY=abcdef1234567890abcd",
        "primary_key='ab12cd34'",
        "default login password",
    ),
    *("Cookie: theme=dark", "set-cookie: a=1; Path=/some/long/path1", "authentication, authorization, oauth2_provider"),
    *("authorization: see RFC 7235", "IDENTIFIED BY $PASSWORD", "machine learning login and password are needed"),
    *('{"auth": "required", "x": 1}', "<password>${password}</password>", "user.name=bob token.count=12"),
    *(
        "https://example.com/a?signature=short1",
        "-----BEGIN CERTIFICATE-----",
        "AAAA1234AAAA1234AAAA\n-----END CERTIFICATE-----",
    ),
]


def test_code_and_data_without_a_secret_stay_as_they_are() -> None:
    texts = [f"first line\n{line}\nlast line" for line in ORDINARY]

    assert [text for text in texts if redact(text, "secrets").text != text] == []


def test_a_value_that_stands_in_its_name_too_is_cut_out_of_its_place_only() -> None:
    found = redact('options = {"api_key": "k", "kind": "k"}', "secrets").text

    assert found == 'options = {"api_key": "[removed: credential]", "kind": "k"}'


@pytest.mark.parametrize(
    "piece",
    [
        *("name: password\n", '"name":"password",', "data:\n  a: b\n", "Cookie: ", "machine a login b password c "),
        *("kind: Secret\n", "-----END PRIVATE KEY-----\n", "A" * 64 + "\n", "<password>", "A_KEY=", "Authorization: "),
    ],
)
def test_hostile_text_is_scanned_in_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))

    assert not redact(text, "secrets").withheld
