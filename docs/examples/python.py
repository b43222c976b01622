"""Looks up one address: python3 python.py POSTCODE HUISNUMMER [TOEVOEGING]

Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Python 3.9 or newer; nothing to install.
"""
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# A file with the key often ends with a line end.
base_url, key = (os.environ.get(name, "").strip() for name in ("BAG_ADRES_URL", "BAG_ADRES_KEY"))
if not base_url or not key:
    sys.exit("Set BAG_ADRES_URL and BAG_ADRES_KEY.")
if not re.fullmatch(r"bagadres_[A-Za-z0-9_.-]+", key):
    sys.exit("BAG_ADRES_KEY is not an API key.")
names = ("postcode", "huisnummer", "toevoeging")
query = urllib.parse.urlencode(dict(zip(names, sys.argv[1:])))
request = urllib.request.Request(
    f"{base_url.rstrip('/')}/v1/address?{query}",
    headers={"X-API-Key": key},
)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # It would take the key along.


opener = urllib.request.build_opener(NoRedirect)


def send(tries_left=2, pause=1):
    """Sends the request. Retries twice on 429 and 503 after Retry-After, and on 500 or no response after a growing pause."""
    wait = pause
    try:
        with opener.open(request, timeout=10) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        wait = float(error.headers.get("Retry-After", pause))
        if tries_left == 0 or error.code not in (429, 500, 503) or wait > 30:
            try:
                problem = dict(json.load(error))
            except (http.client.HTTPException, OSError, TypeError, ValueError):
                sys.exit(f"{error.code}, and no valid response: check BAG_ADRES_URL")
            # API Gateway's own refusals have only a message.
            first = f"{problem['title']}: {problem['detail']}" if "title" in problem else problem.get("message")
            faults = [fault["detail"] for fault in problem.get("errors", [])]
            sys.exit("\n".join([f"{error.code} {first}", *faults]))
    except (http.client.HTTPException, OSError, ValueError):
        # The exception is not printed: it could contain the key.
        if tries_left == 0:
            sys.exit("no response: check BAG_ADRES_URL and the connection")
    time.sleep(wait)
    return send(tries_left - 1, 2 * pause)


def line(place):
    return f"{place['straat']}, {place['woonplaats']}"


answer = send()
status = answer.get("status") if isinstance(answer, dict) else None
if status == "ok":
    print(line(answer["address"]))
elif status == "ambiguous":
    print("several: " + "; ".join(map(line, answer["candidates"])))
elif status != "not_found":
    sys.exit("no valid response: check BAG_ADRES_URL")
else:
    existing = ", ".join(toevoeging or "none" for toevoeging in answer["toevoegingen"])
    print(f"no such address; existing toevoegingen: {existing}" if existing else "no such address")
