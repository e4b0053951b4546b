#!/usr/bin/env python3
"""Scripted fake model server for hook end-to-end tests. Standard library only.

One process speaks, on 127.0.0.1, enough of four wire formats for a real coding
agent to run a scripted turn:

  Anthropic Messages      POST /v1/messages (stream and plain), /v1/messages/count_tokens
  OpenAI Responses        POST .../responses (SSE)
  OpenAI Chat Completions POST .../chat/completions (stream and plain)
  Gemini                  POST .../models/X:streamGenerateContent, :generateContent, :countTokens

The script is a JSON file: {"turns": [{"text": "...", "tools": [{"name": "...",
"input": {...}}], "wait": seconds}, ...]}. The server keeps no state between requests: which turn
comes next follows from how many tool results the conversation already carries,
so retries and side requests cannot shift the script. When the script is used
up, or the request offers no tools (title and summary side requests), it answers
with plain text. In strings of the script, ${CWD} becomes --cwd.

Every request is written to --log DIR as NNN.json (path, selected headers, body):
the test reads there what the hook's answer looked like when it reached the model.
"""
import argparse, json, os, re, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARGS = None
SCRIPT = None
LOCK = threading.Lock()
COUNT = 0


def subst(v):
    if isinstance(v, str):
        return v.replace("${CWD}", ARGS.cwd)
    if isinstance(v, list):
        return [subst(x) for x in v]
    if isinstance(v, dict):
        return {k: subst(x) for k, x in v.items()}
    return v


def turn_for(results):
    """The turn whose tools have not been answered yet, given `results` answered calls."""
    seen = 0
    for n, turn in enumerate(SCRIPT["turns"]):
        if seen == results:
            return n, subst(turn)
        seen += max(1, len(turn.get("tools", [])))
        if seen > results:
            # a batch only partly answered: treat as answered
            results = seen
    return len(SCRIPT["turns"]), {"text": SCRIPT.get("final", "done")}


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    # ---- plumbing
    def note(self, body):
        global COUNT
        with LOCK:
            COUNT += 1
            n = COUNT
        if ARGS.log:
            hd = {k: v for k, v in self.headers.items()
                  if k.lower() in ("user-agent", "anthropic-beta", "anthropic-version", "content-type", "originator")}
            with open(os.path.join(ARGS.log, "%03d.json" % n), "w") as f:
                json.dump({"method": self.command, "path": self.path, "headers": hd, "body": body}, f, indent=1)
        return n

    def plain(self, obj, code=200):
        b = json.dumps(obj).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(b)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b)

    def sse_start(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def sse(self, data, event=None):
        s = ""
        if event:
            s += "event: %s\n" % event
        s += "data: %s\n\n" % (data if isinstance(data, str) else json.dumps(data))
        self.wfile.write(s.encode())
        self.wfile.flush()

    def do_HEAD(self):
        self.plain({})

    def do_GET(self):
        self.note(None)
        if self.path.split("?")[0].endswith("/models"):
            return self.plain({"object": "list", "data": [], "models": []})
        self.plain({"error": {"type": "not_found_error", "message": "not here"}}, 404)

    def do_POST(self):
        n = int(self.headers.get("content-length") or 0)
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                if size == 0:
                    self.rfile.readline()
                    break
                raw += self.rfile.read(size)
                self.rfile.readline()
        else:
            raw = self.rfile.read(n)
        try:
            body = json.loads(raw or b"{}")
        except Exception:
            body = {"_raw": raw[:200].decode("latin1")}
        k = self.note(body)
        p = self.path.split("?")[0]
        if p.endswith("/count_tokens"):
            return self.plain({"input_tokens": 100})
        if p.endswith("/messages"):
            return self.anthropic(body, k)
        if p.endswith("/responses"):
            return self.openai_responses(body, k)
        if p.endswith("/chat/completions"):
            return self.chat(body, k)
        if p.endswith(":countTokens"):
            return self.plain({"totalTokens": 100})
        if p.endswith(":streamGenerateContent") or p.endswith(":generateContent"):
            return self.gemini(body, k, p.endswith(":streamGenerateContent"))
        self.plain({"error": {"type": "not_found_error", "message": "not here"}}, 404)

    # ---- Anthropic Messages
    def anthropic(self, body, k):
        results = 0
        for m in body.get("messages", []):
            c = m.get("content")
            if m.get("role") == "user" and isinstance(c, list):
                results += sum(1 for b in c if isinstance(b, dict) and b.get("type") == "tool_result")
        idx, turn = turn_for(results) if body.get("tools") else (0, {"text": SCRIPT.get("side", "ok")})
        # A model thinks before it calls a tool: calls that follow at once are of one batch.
        time.sleep(turn.get("wait", 0))
        blocks = []
        if turn.get("text"):
            blocks.append({"type": "text", "text": turn["text"]})
        for j, t in enumerate(turn.get("tools", [])):
            blocks.append({"type": "tool_use", "id": "toolu_fake_%02d_%02d" % (idx, j), "name": t["name"], "input": t["input"]})
        stop = "tool_use" if turn.get("tools") else "end_turn"
        usage = {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        msg = {"id": "msg_fake_%03d" % k, "type": "message", "role": "assistant", "model": body.get("model", "fake"),
               "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.plain(dict(msg, content=blocks, stop_reason=stop))
        self.sse_start()
        self.sse({"type": "message_start", "message": msg}, "message_start")
        for i, b in enumerate(blocks):
            if b["type"] == "text":
                self.sse({"type": "content_block_start", "index": i, "content_block": {"type": "text", "text": ""}}, "content_block_start")
                self.sse({"type": "content_block_delta", "index": i, "delta": {"type": "text_delta", "text": b["text"]}}, "content_block_delta")
            else:
                self.sse({"type": "content_block_start", "index": i, "content_block": dict(b, input={})}, "content_block_start")
                self.sse({"type": "content_block_delta", "index": i,
                          "delta": {"type": "input_json_delta", "partial_json": json.dumps(b["input"])}}, "content_block_delta")
            self.sse({"type": "content_block_stop", "index": i}, "content_block_stop")
        self.sse({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}, "message_delta")
        self.sse({"type": "message_stop"}, "message_stop")

    # ---- OpenAI Responses
    def openai_responses(self, body, k):
        inp = body.get("input") or []
        results = sum(1 for i in inp if isinstance(i, dict) and i.get("type") in
                      ("function_call_output", "custom_tool_call_output", "local_shell_call_output"))
        offers = body.get("tools") or any(isinstance(i, dict) and i.get("type") == "additional_tools" for i in inp)
        idx, turn = turn_for(results) if offers else (0, {"text": SCRIPT.get("side", "ok")})
        items = []
        if turn.get("text"):
            items.append({"type": "message", "role": "assistant", "id": "msg_fake_%03d" % k,
                          "content": [{"type": "output_text", "text": turn["text"]}]})
        for j, t in enumerate(turn.get("tools", [])):
            cid = "call_fake_%02d_%02d" % (idx, j)
            if isinstance(t["input"], str):      # free-form tool (apply_patch, exec)
                it = {"type": "custom_tool_call", "id": "ctc_" + cid, "call_id": cid, "name": t["name"],
                      "input": t["input"], "status": "completed"}
                if t.get("namespace"):
                    it["namespace"] = t["namespace"]
                items.append(it)
            else:
                it = {"type": "function_call", "id": "fc_" + cid, "call_id": cid, "name": t["name"],
                      "arguments": json.dumps(t["input"]), "status": "completed"}
                if t.get("namespace"):
                    it["namespace"] = t["namespace"]
                items.append(it)
        rid = "resp_fake_%03d" % k
        self.sse_start()
        self.sse({"type": "response.created", "response": {"id": rid}}, "response.created")
        for i, it in enumerate(items):
            self.sse({"type": "response.output_item.added", "output_index": i, "item": it}, "response.output_item.added")
            self.sse({"type": "response.output_item.done", "output_index": i, "item": it}, "response.output_item.done")
        self.sse({"type": "response.completed", "response": {"id": rid, "usage": {
            "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}}}, "response.completed")

    # ---- OpenAI Chat Completions
    def chat(self, body, k):
        results = sum(1 for m in body.get("messages", []) if m.get("role") == "tool")
        idx, turn = turn_for(results) if body.get("tools") else (0, {"text": SCRIPT.get("side", "ok")})
        calls = [{"index": j, "id": "call_fake_%02d_%02d" % (idx, j), "type": "function",
                  "function": {"name": t["name"], "arguments": t["input"] if isinstance(t["input"], str) else json.dumps(t["input"])}}
                 for j, t in enumerate(turn.get("tools", []))]
        stop = "tool_calls" if calls else "stop"
        base = {"id": "chatcmpl-fake-%03d" % k, "created": 1700000000, "model": body.get("model", "fake")}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        m = {"role": "assistant", "content": turn.get("text") or None}
        if calls:
            m["tool_calls"] = calls
        if not body.get("stream"):
            return self.plain(dict(base, object="chat.completion", usage=usage,
                                   choices=[{"index": 0, "message": m, "finish_reason": stop}]))
        self.sse_start()
        self.sse(dict(base, object="chat.completion.chunk", choices=[{"index": 0, "delta": m, "finish_reason": None}]))
        self.sse(dict(base, object="chat.completion.chunk", choices=[{"index": 0, "delta": {}, "finish_reason": stop}], usage=usage))
        self.sse("[DONE]")

    # ---- Gemini
    def gemini(self, body, k, stream):
        results = 0
        for c in body.get("contents", []):
            results += sum(1 for p in c.get("parts", []) if "functionResponse" in p)
        has_tools = any(t.get("functionDeclarations") for t in body.get("tools", []) if isinstance(t, dict))
        idx, turn = turn_for(results) if has_tools else (0, {"text": SCRIPT.get("side", "ok")})
        if not has_tools and (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            turn = {"text": json.dumps(SCRIPT.get("side_json", {"reasoning": "x", "next_speaker": "user", "model_choice": "flash"}))}
        parts = []
        if turn.get("text"):
            parts.append({"text": turn["text"]})
        for j, t in enumerate(turn.get("tools", [])):
            parts.append({"functionCall": {"id": "fc_fake_%02d_%02d" % (idx, j), "name": t["name"], "args": t["input"]}})
        obj = {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
               "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}, "modelVersion": "fake"}
        if not stream:
            return self.plain(obj)
        self.sse_start()
        self.sse(obj)


def main():
    global ARGS, SCRIPT
    ap = argparse.ArgumentParser()
    ap.add_argument("--script", required=True)
    ap.add_argument("--cwd", default=os.getcwd(), help="what ${CWD} becomes in the script")
    ap.add_argument("--log", help="folder for request logs")
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--port-file", help="the chosen port is written here once listening")
    ap.add_argument("--max-seconds", type=int, default=300, help="stops by itself after this long")
    ARGS = ap.parse_args()
    SCRIPT = json.load(open(ARGS.script))
    if ARGS.log:
        os.makedirs(ARGS.log, exist_ok=True)
    srv = ThreadingHTTPServer(("127.0.0.1", ARGS.port), H)
    srv.daemon_threads = True
    if ARGS.port_file:
        with open(ARGS.port_file + ".tmp", "w") as f:
            f.write(str(srv.server_address[1]))
        os.replace(ARGS.port_file + ".tmp", ARGS.port_file)
    threading.Timer(ARGS.max_seconds, lambda: os._exit(0)).start()
    srv.serve_forever()


if __name__ == "__main__":
    main()
