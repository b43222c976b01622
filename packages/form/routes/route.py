"""The route that <bag-adres-form> asks, for Python's standard library. The key stays on this side."""
import json, logging, os, re, time, urllib.error, urllib.parse, urllib.request


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # It would take the key along.


_opener = urllib.request.build_opener(_NoRedirect)


def look_up(query):
    """The answer for a query such as postcode=1012RJ&huisnummer=147&toevoeging=, to be sent as JSON. It never raises."""
    failure = "Set BAG_ADRES_URL and BAG_ADRES_KEY to the address of the service and a key of it."
    url, key = (os.environ.get(name, "").strip() for name in ("BAG_ADRES_URL", "BAG_ADRES_KEY"))
    if url and re.fullmatch(r"bagadres_[A-Za-z0-9_.-]+", key):
        failure = "The lookup failed: no valid response in 3 seconds. Check BAG_ADRES_URL and the connection."
        try:
            given = urllib.parse.parse_qs(query, keep_blank_values=True)
            asked = {name: given.get(name, [""])[0] for name in ("postcode", "huisnummer", "toevoeging")}
            asked = urllib.parse.urlencode({**asked, "include": "toevoegingen,gemeente"})
            status, answer = _get(f"{url.rstrip('/')}/v1/address?{asked}", key)
            if status == 200 and answer["status"] in ("ok", "not_found", "ambiguous"):
                return answer
            if status == 422 and isinstance(answer["errors"], list):
                return {**answer, "status": "invalid"}
            if status not in (200, 422):
                failure = f"The lookup failed with status {status}."
        except Exception:  # An exception of the HTTP library can contain the key, so it is not logged.
            pass
    logging.error(failure)
    return {"status": "unavailable"}  # People type. The cause is ours to log, not theirs to read.


def _get(url, key):
    end = time.monotonic() + 3
    try:
        response = _opener.open(urllib.request.Request(url, headers={"X-API-Key": key}), timeout=3)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        body = b""
        while response.status in (200, 422) and (part := response.read1(65536)):
            body += part
            if time.monotonic() > end:
                raise TimeoutError
        return response.status, json.loads(body) if body else None
