"""linode_api4's login client, with a user who logs in and consents in pages, as a browser would."""

import os
import re
from urllib.parse import parse_qs, urljoin, urlsplit

import requests
from flows import TOKEN, URL, run
from linode_api4 import LinodeClient, LinodeLoginClient
from linode_api4.login_client import OAuthScopes

REDIRECT = "http://127.0.0.1:9/callback"
USER, PASSWORD = os.environ["LINODE_USER"], os.environ["LINODE_PASSWORD"]


def consent(url: str) -> str:
    """The code with which the login page and the consent send a browser back."""
    with requests.Session() as browser:
        page = browser.get(url)
        page = _submit(browser, page, username=USER, password=PASSWORD)
        answer = _submit(browser, page, decision="allow", follow=False)
    return parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]


def _submit(
    browser: requests.Session, page: requests.Response, follow: bool = True, **fields: str
) -> requests.Response:
    form = re.search(r"<form[^>]*>.*?</form>", page.text, re.DOTALL)
    assert form is not None, page.text
    action = re.search(r'action="([^"]*)"', form[0])
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[0]))
    assert action is not None
    target = urljoin(page.url, action[1].replace("&amp;", "&"))
    return browser.post(target, {**hidden, **fields}, allow_redirects=follow)


def login() -> None:
    """OAuth: login and consent in pages, code, token with scopes, refresh, expire."""
    client = LinodeClient(TOKEN, base_url=f"{URL}/v4")
    app = client.account.oauth_client_create("flows", REDIRECT)
    secret = app.reset_secret()
    login = LinodeLoginClient(app.id, secret, base_url=URL)
    scopes = [OAuthScopes.Linodes.read_only, OAuthScopes.Account.read_only]
    code = consent(login.generate_login_url(scopes=scopes, redirect_uri=REDIRECT))
    token, granted, _, refresh = login.finish_oauth(code)
    assert {str(each) for each in granted} == {str(each) for each in scopes}
    user = LinodeClient(token, base_url=f"{URL}/v4")
    assert user.profile().username == USER
    newer, _, _, _ = login.refresh_oauth_token(refresh)
    assert LinodeClient(newer, base_url=f"{URL}/v4").account().euuid
    assert login.expire_token(newer)
    app.delete()


if __name__ == "__main__":
    run([login])
