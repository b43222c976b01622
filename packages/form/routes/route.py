"""The route that <bag-adres-form> asks, for Python's standard library. The key stays on this side."""
import json, logging, os, urllib.error, urllib.parse, urllib.request


def look_up(query):
    """The answer for a query such as postcode=1012RJ&huisnummer=147&toevoeging=, to be sent as JSON."""
    given = urllib.parse.parse_qs(query, keep_blank_values=True)
    asked = {name: given.get(name, [""])[0] for name in ("postcode", "huisnummer", "toevoeging")}
    url = os.environ["BAG_ADRES_URL"].rstrip("/") + "/v1/address?"
    url += urllib.parse.urlencode(asked | {"include": "toevoegingen,gemeente"})
    request = urllib.request.Request(url, headers={"X-API-Key": os.environ["BAG_ADRES_KEY"]})
    try:
        with urllib.request.urlopen(request, timeout=3) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        if error.code == 422:
            return json.load(error) | {"status": "invalid"}
        logging.error("The lookup failed with status %s.", error.code)
    except (OSError, ValueError) as error:
        logging.error("The lookup failed: %s", error)
    return {"status": "unavailable"}  # People type. The cause is ours to log, not theirs to read.
