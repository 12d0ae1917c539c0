"""A chat in Python without dependencies: one JSON response at the end instead of a stream.

Usage: python3 examples/chat.py "What is 12 * 34?"    Optional environment: NANOCLAW_URL, NANOCLAW_KEY.
"""
import json
import os
import sys
import urllib.request

URL = os.environ.get("NANOCLAW_URL", "http://127.0.0.1:3000")


def post(path: str, body: dict) -> dict:
    headers = {"content-type": "application/json"}
    if key := os.environ.get("NANOCLAW_KEY"):
        headers["authorization"] = f"Bearer {key}"
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["data"]


question = sys.argv[1] if len(sys.argv) > 1 else "What is 12 * 34?"
conversation = post("/api/conversations", {})
answer = post(f"/api/conversations/{conversation['id']}/messages", {"text": question, "stream": False})
for step in answer["message"]["process_steps"]:
    if step["type"] == "tool_call":
        print(f"[{step['name']} {step['arguments']}]")
print(answer["message"]["text"])
