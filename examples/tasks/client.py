"""A robust client of tasks, in nothing but Python's standard library: webhooks tell of the end at once, polling finds what no
webhook told of.

  BATCHGATE_URL=http://127.0.0.1:8080 BATCHGATE_KEY=… WEBHOOK_SECRET=whsec_… WEBHOOK_URL=https://hooks.example.com/tasks \\
  python3 client.py work-17 "Name the capital of France." "Name the river that runs through {}."

The second task takes the place of `{}` from the reply of the first. Started again with the same name of the work it goes on with
the same tasks. See docs/tasks-client.md.
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# A call that was repeated, or is older, is no news.
SIGNED_WITHIN_S = 5 * 60
# For as long as an event may be replayed.
KEEP_SEEN_S = 24 * 3600
CALL_TRIES = 8
CALL_TIMEOUT_S = 30


class TaskClient:
    def __init__(self, api_url, api_key, webhook_url, webhook_secret, poll_seconds):
        self.api_url = api_url
        self.api_key = api_key
        self.webhook_url = webhook_url
        self.webhook_key = base64.b64decode(webhook_secret.removeprefix("whsec_"))
        # How long after a task was queued, and after each look, it is looked at.
        self.poll_seconds = poll_seconds
        self._changed = threading.Condition()
        # Tasks whose end was told of: a webhook may be faster than the answer to the POST.
        self._told = {}
        # Ids of events that were taken, and when. A client of several processes keeps them in its database.
        self._seen = {}

    def run(self, work_key, task_type, prompt):
        """Queues a task and waits for its end. The key names the piece of work and not the call: whoever does the same
        work again, after a crash or a lost answer, gets the same task."""
        body = {"taskType": task_type, "payload": {"prompt": prompt}, "webhookUrl": self.webhook_url}
        task_id = self._call("POST", "/v1/async/task", body, work_key)["id"]
        while True:
            with self._changed:
                self._changed.wait_for(lambda: task_id in self._told, self.poll_seconds)
                told = self._told.pop(task_id, None)
            if told is not None:
                return told
            # What no webhook tells of is found here, also when the receiver was away for longer than webhooks are retried.
            task = self._call("GET", f"/v1/async/task/{task_id}")
            if task["status"] in ("COMPLETED", "FAILED"):
                print(f"{task_id} {task['status']}, found by polling", flush=True)
                return task

    def receive(self, headers, raw):
        """Takes one webhook and returns the status to answer: quickly, before anything is done about it."""
        if not self._is_signed(headers, raw):
            print("a call with a wrong signature was refused", flush=True)
            return 400
        event_id = headers["webhook-id"]
        with self._changed:
            if event_id in self._seen:
                print(f"{event_id} came again", flush=True)
                return 204
            now = time.time()
            self._seen = {seen: at for seen, at in self._seen.items() if now - at <= KEEP_SEEN_S}
            self._seen[event_id] = now
            event = json.loads(raw)
            if event["type"] in ("task.completed", "task.failed"):
                task = event["data"]
                print(f"{task['id']} {task['status']}, told by webhook", flush=True)
                self._told[task["id"]] = task
                self._changed.notify_all()
        return 204

    def _is_signed(self, headers, raw):
        """Standard Webhooks: HMAC-SHA256 over id, time and the bytes as they came; several signatures while a secret is
        being replaced."""
        event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > SIGNED_WITHIN_S:
            return False
        digest = hmac.new(self.webhook_key, f"{event_id}.{timestamp}.".encode() + raw, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        given = headers.get("webhook-signature", "").split(" ")
        return any(hmac.compare_digest(signature.encode(), expected) for signature in given)

    def _call(self, method, path, body=None, idempotency_key=None):
        """Calls again what got no answer, or was told to come back; with its key a POST that is repeated makes no second
        task."""
        headers = {"Authorization": f"Bearer {self.api_key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        data = None if body is None else json.dumps(body).encode()
        for tries in range(1, CALL_TRIES + 1):
            request = urllib.request.Request(self.api_url + path, data, headers, method=method)
            asked = 0.0
            try:
                with urllib.request.urlopen(request, timeout=CALL_TIMEOUT_S) as response:
                    return json.load(response)
            except urllib.error.HTTPError as refusal:
                text = refusal.read().decode()
                if (refusal.code != 429 and refusal.code < 500) or tries == CALL_TRIES:
                    raise RuntimeError(f"{method} {path} answered {refusal.code}: {text}") from None
                asked = float(refusal.headers.get("Retry-After") or 0)
            except (OSError, http.client.HTTPException, ValueError):
                if tries == CALL_TRIES:
                    raise
            # Clients that were refused together do not come back together.
            time.sleep(max(asked, random.random() * min(30, 0.25 * 2**tries)))


def serve(client, port):
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(client.receive(self.headers, raw))
            self.end_headers()

        def log_message(self, *_):
            pass

    threading.Thread(target=ThreadingHTTPServer(("", port), Receiver).serve_forever, daemon=True).start()


def main():
    usual = ["work-1", "Name the capital of France.", "Name the river that runs through {}."]
    given = sys.argv[1:4]
    work, first, second = given + usual[len(given) :]
    task_type = os.environ.get("TASK_TYPE", "OPENAI")
    client = TaskClient(
        api_url=os.environ.get("BATCHGATE_URL", "http://127.0.0.1:8080"),
        api_key=os.environ["BATCHGATE_KEY"],
        webhook_url=os.environ["WEBHOOK_URL"],
        webhook_secret=os.environ["WEBHOOK_SECRET"],
        poll_seconds=float(os.environ.get("POLL_SECONDS", "60")),
    )
    serve(client, int(os.environ.get("WEBHOOK_PORT", "8090")))
    answered = client.run(f"{work}/first", task_type, first)
    if answered["status"] == "FAILED":
        sys.exit(f"the first task failed: {answered['error']['code']}")
    # The order of queued tasks means nothing: what needs the first reply is queued once that is there.
    then = client.run(f"{work}/second", task_type, second.replace("{}", answered["response"]["text"]))
    print(then["response"]["text"] if then["status"] == "COMPLETED" else f"the second task failed: {then['error']['code']}")


if __name__ == "__main__":
    main()
