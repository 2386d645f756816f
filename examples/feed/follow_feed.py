"""Follows the live feed, and prints a line for each event: its position, type and sentence.

It survives restarts of both sides: the position of the last event is kept in a file, and each connection resumes after it.
It needs nothing but Python 3.9.

    API_URL=http://127.0.0.1:8080 API_KEY=sy_live_… POSITION_FILE=position.txt python3 follow_feed.py
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

API_URL = os.environ.get("API_URL", "http://127.0.0.1:8080")
API_KEY = os.environ.get("API_KEY", "")
POSITION_FILE = os.environ.get("POSITION_FILE", "position.txt")
MAX_WAIT_S = 30.0
# A comment comes every 15 s, so a connection without a byte for longer is dead.
SILENCE_S = 60


def read_position():
    try:
        with open(POSITION_FILE, encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def keep_position(position):
    """Renames a whole file, so that a crash leaves the position before or after it."""
    with open(f"{POSITION_FILE}.new", "w", encoding="utf-8") as file:
        file.write(position)
    os.replace(f"{POSITION_FILE}.new", POSITION_FILE)


def handle(fields):
    """Handles an event before its position is kept: after a crash it comes again, and none is lost."""
    print(fields["id"], fields["event"], json.loads(fields["data"])["summary"], flush=True)
    keep_position(fields["id"])


def follow():
    """Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) until the end."""
    headers = {"authorization": f"Bearer {API_KEY}"}
    position = read_position()
    if position:
        headers["last-event-id"] = position
    request = urllib.request.Request(f"{API_URL}/v1/events", headers=headers)
    with urllib.request.urlopen(request, timeout=SILENCE_S) as answer:
        fields = {}
        for line in answer:
            text = line.decode("utf-8").rstrip("\n")
            if text:
                name, _, value = text.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            if "data" in fields:
                handle(fields)
            fields = {}


wait_s = 0.5
while True:
    started = time.monotonic()
    try:
        follow()
    except (OSError, urllib.error.URLError) as error:
        print(error, file=sys.stderr, flush=True)
    wait_s = 0.5 if time.monotonic() - started > SILENCE_S else min(2 * wait_s, MAX_WAIT_S)
    time.sleep(wait_s)
