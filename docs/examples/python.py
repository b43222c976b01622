"""Looks up one address: python3 python.py POSTCODE HUISNUMMER [TOEVOEGING]

Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Python 3.9 or newer; nothing to install.
"""
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

base_url, key = os.environ.get("BAG_ADRES_URL"), os.environ.get("BAG_ADRES_KEY")
if not base_url or not key:
    sys.exit("Set BAG_ADRES_URL and BAG_ADRES_KEY.")
names = ("postcode", "huisnummer", "toevoeging")
query = urllib.parse.urlencode(dict(zip(names, sys.argv[1:])))
request = urllib.request.Request(
    f"{base_url.rstrip('/')}/v1/address?{query}",
    headers={"X-API-Key": key},
)


def send(tries_left=2, pause=1):
    """Sends the request. Retries twice on 429 and 503 after Retry-After, and on 500 or no response after a growing pause."""
    wait = pause
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        wait = float(error.headers.get("Retry-After", pause))
        if tries_left == 0 or error.code not in (429, 500, 503) or wait > 30:
            problem = json.load(error)
            # API Gateway's own refusals have only a message.
            first = f"{problem['title']}: {problem['detail']}" if "title" in problem else problem.get("message")
            faults = [fault["detail"] for fault in problem.get("errors", [])]
            sys.exit("\n".join([f"{error.code} {first}", *faults]))
    except OSError as error:
        if tries_left == 0:
            sys.exit(f"no response: {error}")
    time.sleep(wait)
    return send(tries_left - 1, 2 * pause)


def line(place):
    return f"{place['straat']}, {place['woonplaats']}"


answer = send()
if answer["status"] == "ok":
    print(line(answer["address"]))
elif answer["status"] == "ambiguous":
    print("several: " + "; ".join(map(line, answer["candidates"])))
else:
    existing = ", ".join(toevoeging or "none" for toevoeging in answer["toevoegingen"])
    print(f"no such address; existing toevoegingen: {existing}" if existing else "no such address")
