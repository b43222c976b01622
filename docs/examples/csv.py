"""Checks the addresses in a CSV file, and writes the same rows with what the register has of each:

python3 csv.py customers.csv --out checked.csv --postcode Postcode --huisnummer Huisnummer

Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Python 3.9 or newer; nothing to install.
"""
import os
import sys

# This file has the name of Python's own module, which is imported below.
here = os.path.dirname(os.path.abspath(__file__))
sys.path = [path for path in sys.path if os.path.abspath(path) != here]

import argparse
import csv
import hashlib
import http.client
import io
import json
import math
import re
import time
import urllib.error
import urllib.request

MOST_ADDRESSES = 100
BYTE_ORDER_MARK = "\ufeff"

parser = argparse.ArgumentParser(description="Checks the addresses in a CSV file.")
parser.add_argument("file")
parser.add_argument("--out", required=True)
parser.add_argument("--postcode", required=True, metavar="COLUMN")
parser.add_argument("--huisnummer", required=True, metavar="COLUMN")
parser.add_argument("--toevoeging", action="append", default=[], metavar="COLUMN",
                    help="again for a second column: a huisletter and a toevoeging are joined")
parser.add_argument("--delimiter", help="between columns; the one of the first line unless given")
parser.add_argument("--encoding", default="utf-8",
                    help="windows-1252 for a file that Excel saved as CSV, but not as CSV UTF-8")
parser.add_argument("--prefix", default="bag_", help="begins the names of the added columns")
parser.add_argument("--wait", type=float, default=3600,
                    help="the longest wait for a limit in seconds; beyond it, the program ends")
options = parser.parse_args()
part_file = f"{options.out}.part"
progress_file = f"{options.out}.progress"
names = ("status", "straat", "woonplaats", "toevoegingen", "detail")
added_columns = [options.prefix + name for name in names]
# The addresses in a call; fewer once a limit is known that allows no more.
call_size = MOST_ADDRESSES
# Said if it stops.
stopped = ""


def fail(message):
    sys.exit(f"{message}{stopped}")


# A file with the key often ends with a line end.
base_url, key = (os.environ.get(name, "").strip() for name in ("BAG_ADRES_URL", "BAG_ADRES_KEY"))
if not base_url or not key:
    fail("Set BAG_ADRES_URL and BAG_ADRES_KEY.")
if not re.fullmatch(r"bagadres_[A-Za-z0-9_.-]+", key):
    fail("BAG_ADRES_KEY is not an API key.")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # It would take the key along.


opener = urllib.request.build_opener(NoRedirect)


def check_file():
    global stopped
    if os.path.exists(options.out):
        fail(f"{options.out} exists. Remove it, or choose another with --out.")
    text, digest = read_text()
    delimiter, line_end, mark = format_of(text)
    header, *rows = records_of(text, delimiter) or [[]]
    columns = columns_of(header, rows)
    progress = read_progress(digest)
    again = f"at most {MOST_ADDRESSES} addresses, those of the call under way, are paid again"
    if progress:
        say(f"Continues after row {progress['rows']} of {len(rows)}: {again}.")
    else:
        say(f"{len(rows)} rows. If this stops, run the same command again: it continues, and {again}.")
    with open(part_file, "r+b" if progress else "wb") as output:
        def write(records, mark=""):
            # Quotes stand only where they are needed.
            lines = io.StringIO(newline="")
            csv.writer(lines, delimiter=delimiter, lineterminator=line_end).writerows(records)
            output.seek(progress["bytes"])
            progress["bytes"] += output.write((mark + lines.getvalue()).encode())
            output.flush()
            os.fsync(output.fileno())
            # The file is replaced at once, so that there always is a whole one.
            with open(f"{progress_file}.new", "w") as file:
                json.dump(progress, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(f"{progress_file}.new", progress_file)

        if not progress:
            progress = {"of": digest, "rows": 0, "bytes": 0, "counts": {}}
            write([[*header, *added_columns]], mark)
        # A killed run may have written more than it noted.
        output.truncate(progress["bytes"])
        tell = progress_teller(progress["rows"], len(rows))
        while progress["rows"] < len(rows):
            stopped = f"\nStopped after row {progress['rows']} of {len(rows)}. Run the same command again to continue."
            next_rows = rows[progress["rows"]:progress["rows"] + call_size]
            added = check([address_of(row, columns) for row in next_rows])
            for status, *_ in added:
                progress["counts"][status] = progress["counts"].get(status, 0) + 1
            progress["rows"] += len(next_rows)
            write([row + [""] * (len(header) - len(row)) + more for row, more in zip(next_rows, added)])
            tell(progress["rows"])
    os.replace(part_file, options.out)
    os.remove(progress_file)
    counts = "".join(f", {count} {status}" for status, count in progress["counts"].items())
    say(f"{options.out}: {len(rows)} rows{counts}.")


def say(message):
    print(message, file=sys.stderr, flush=True)


def read_text():
    try:
        with open(options.file, "rb") as file:
            content = file.read()
    except OSError as error:
        fail(str(error))
    same = [options.postcode, options.huisnummer, options.toevoeging, options.delimiter, options.encoding, options.prefix]
    digest = hashlib.sha256(content + json.dumps(same).encode()).hexdigest()
    try:
        return content.decode(options.encoding), digest
    except (LookupError, UnicodeDecodeError):
        fail(f"{options.file} is not {options.encoding}. If Excel saved it as CSV, add: --encoding windows-1252")


def format_of(text):
    """The delimiter and the line end of the first line, and the mark by which Excel knows UTF-8."""
    first_line = text.split("\n", 1)[0]
    outside_quotes = re.sub(r'"[^"]*"', "", first_line)
    likely = max(";,\t", key=outside_quotes.count)
    needs_mark = text.startswith(BYTE_ORDER_MARK) or options.encoding != "utf-8"
    return (
        options.delimiter or likely,
        "\r\n" if first_line.endswith("\r") else "\n",
        BYTE_ORDER_MARK if needs_mark else "",
    )


def records_of(text, delimiter):
    """The header and the rows; empty lines are left out."""
    lines = io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="")
    csv.field_size_limit(2**31 - 1)
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]
    except csv.Error as error:
        fail(f"{options.file} is not a CSV file: {error}")


def columns_of(header, rows):
    for name in added_columns:
        if name in header:
            fail(f"{options.file} has a column {name} already. Choose another --prefix.")
    for number, row in enumerate(rows, 1):
        if len(row) > len(header):
            fail(f"Row {number} of {options.file} has {len(row)} columns, and the first line {len(header)}. "
                 "Correct it, or choose another --delimiter.")

    def index_of(name):
        if name not in header:
            fail(f"{options.file} has no column {name}. It has: {', '.join(header)}")
        return header.index(name)

    return index_of(options.postcode), index_of(options.huisnummer), [index_of(name) for name in options.toevoeging]


def address_of(row, columns):
    postcode, huisnummer, toevoeging = columns

    def text_at(column):
        return row[column].strip() if column < len(row) else ""

    return {
        "postcode": text_at(postcode),
        "huisnummer": text_at(huisnummer),
        "toevoeging": "".join(map(text_at, toevoeging)),
    }


def read_progress(digest):
    if not os.path.exists(progress_file) or not os.path.exists(part_file):
        return None
    with open(progress_file) as file:
        progress = json.load(file)
    if progress["of"] != digest:
        fail(f"{part_file} belongs to another {options.file} or other options. Use those again to continue, or remove "
             f"{progress_file} to begin anew: what is done is then paid again.")
    return progress


def progress_teller(first_row, total):
    """Says how far it is: on a terminal in one line, else every five seconds."""
    started = time.monotonic()
    said_at = -math.inf
    is_terminal = sys.stderr.isatty()

    def tell(rows):
        nonlocal said_at
        now = time.monotonic()
        if not is_terminal and now - said_at < 5 and rows < total:
            return
        said_at = now
        rate = (rows - first_row) / max(now - started, 0.001)
        line = f"{rows} of {total} rows, {round(rate)} a second, {math.ceil((total - rows) / rate)} s left"
        end = "\n" if rows == total or not is_terminal else ""
        print(f"\r{line}\x1b[K" if is_terminal else line, end=end, file=sys.stderr, flush=True)

    return tell


def check(addresses):
    """Looks the addresses up; those whose input is invalid cost nothing."""
    kind, answer = ("most", call_size) if len(addresses) > call_size else send(addresses)
    if kind == "results":
        return list(map(added_for, answer))
    if kind == "most":
        return check(addresses[:answer]) + check(addresses[answer:])
    details = [
        " ".join(fault["detail"] for fault in answer if f"{fault.get('pointer', '')}/".startswith(f"/addresses/{i}/"))
        for i in range(len(addresses))
    ]
    valid = [address for address, detail in zip(addresses, details) if not detail]
    if len(valid) == len(addresses):
        fail(f"The service refuses a call: {' '.join(fault['detail'] for fault in answer)}")
    others = iter(check(valid) if valid else [])
    return [["invalid", "", "", "", detail] if detail else next(others) for detail in details]


def added_for(answer):
    more = ", ".join(toevoeging or "none" for toevoeging in answer["toevoegingen"])
    if answer["status"] == "ok":
        return ["ok", answer["address"]["straat"], answer["address"]["woonplaats"], more, ""]
    if answer["status"] == "not_found":
        return ["not_found", "", "", more, ""]
    places = "; ".join(f"{place['straat']}, {place['woonplaats']}" for place in answer["candidates"])
    return ["ambiguous", "", "", more, places]


def send(addresses):
    """Sends a call: one at a time, so that at most one is paid again.

    Waits after 429 and 503 as Retry-After says, and after 500 or no response a growing pause."""
    global call_size
    tries_left, pause = 5, 1
    while True:
        status, headers, answer = request(addresses)
        if status == 200 and len(answer.get("results") or []) == len(addresses):
            return "results", answer["results"]
        if status == 422 and answer.get("errors"):
            return "faults", answer["errors"]
        if status == 413 and len(addresses) > 1:
            return "most", math.ceil(len(addresses) / 2)
        if status == 413:
            return "faults", [{"pointer": "/addresses/0", "detail": "too large to send"}]
        retry_after = headers.get("Retry-After")
        wait = float(retry_after or pause)
        if status == 429:
            limits = map(int, re.findall(r";q=(\d+)", headers.get("RateLimit-Policy", "")))
            most = min(limits, default=len(addresses))
            if most == 0:
                fail("A limit of this key or its account is 0, so it can look nothing up.")
            if most < len(addresses):
                call_size = most
                return "most", most
            if wait > options.wait:
                at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() + wait))
                fail(f"A limit is reached until {at}, which is longer than --wait {options.wait:g}.")
            say(f"A limit is reached: waits {wait:g} s.")
        elif status not in (0, 500, 503) or tries_left == 0:
            message = answer.get("message", "no valid response: check BAG_ADRES_URL")
            reason = f"{answer['title']}: {answer['detail']}" if "title" in answer else message
            fail(f"{status} {reason}" if status else "No response: check BAG_ADRES_URL.")
        else:
            tries_left -= 1
            say(f"{status or 'No response'}: tries again in {wait:g} s. The {len(addresses)} addresses may have been counted.")
        time.sleep(wait)
        pause = 1 if status == 429 and retry_after else min(60, 2 * pause)


def request(addresses):
    """The status of the response, its headers and its body; the status is 0 without a response."""
    body = json.dumps({"addresses": addresses, "include": ["toevoegingen"]}).encode()
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    try:
        call = urllib.request.Request(f"{base_url.rstrip('/')}/v1/addresses", body, headers)
        with opener.open(call, timeout=30) as response:
            return response.status, response.headers, parsed(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, parsed(error.read())
    except (http.client.HTTPException, OSError, ValueError):
        # The exception is not printed: it could contain the key.
        return 0, {}, {}


def parsed(body):
    try:
        answer = json.loads(body)
        return answer if isinstance(answer, dict) else {}
    except ValueError:
        return {}


check_file()
