"""Looks up one address: python3 python.py POSTCODE HUISNUMMER [TOEVOEGING]

Wants BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Python 3.9 or newer; nothing to install.
"""
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

names = ("postcode", "huisnummer", "toevoeging")
query = urllib.parse.urlencode(dict(zip(names, sys.argv[1:])))
request = urllib.request.Request(
    f"{os.environ['BAG_ADRES_URL']}/v1/address?{query}",
    headers={"X-API-Key": os.environ["BAG_ADRES_KEY"]},
)


def ask(tries_left=2):
    """Asks once, and twice more when the service says that a short wait helps."""
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        wait = float(error.headers.get("Retry-After", "inf"))
        if tries_left == 0 or wait > 30:
            problem = json.load(error)
            faults = [fault["detail"] for fault in problem.get("errors", [])]
            sys.exit("\n".join([f"{problem['status']} {problem['title']}: {problem['detail']}", *faults]))
    time.sleep(wait)
    return ask(tries_left - 1)


def line(place):
    return f"{place['straat']}, {place['woonplaats']}"


answer = ask()
if answer["status"] == "ok":
    print(line(answer["address"]))
elif answer["status"] == "ambiguous":
    print("several: " + "; ".join(map(line, answer["candidates"])))
else:
    print("no such address")
