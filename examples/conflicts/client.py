"""A client of `weft mcp`, with Python's own library."""

import json
import subprocess


class Refused(Exception):
    """A tool said that it cannot answer."""


class Weft:
    """A session with `weft mcp`."""

    def __init__(self, command, heard=None):
        self.heard = heard or (lambda tool, arguments, answer: None)
        self.process = subprocess.Popen(
            [command, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.count = 0
        self.calls = 0
        client = {"name": "weft examples", "version": "1"}
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.version = self.request("initialize", about)["serverInfo"]["version"]
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise Refused(answer["error"]["message"])
        return answer["result"]

    def ask(self, tool, **arguments):
        self.calls += 1
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        answer = result["structuredContent"]
        self.heard(tool, arguments, answer)
        if result.get("isError"):
            raise Refused(f"{tool}: {answer['error']['message']}")
        return answer

    def follow(self, answer, tool, **fill):
        """Asks the question of this tool that an answer proposes, with what it leaves open."""
        question = next(question for question in answer["next"] if question["tool"] == tool)
        missing = set(question.get("fill", {})) - set(fill)
        if missing:
            raise Refused(f"{tool}: nobody knows {', '.join(sorted(missing))}")
        return self.ask(tool, **{**question["arguments"], **fill})

    def attribute(self, layout, shape):
        """What Triton calls a layout, and how many warps and lanes hold it."""
        answer = self.ask("layout", attribute=layout, shape=shape, names=True)["answer"]
        names = [name["text"] for name in answer.get("names", []) if name["by"] == "triton"]
        bits = {axis: len(images) for axis, images in answer["bases"].items()}
        # A memory with gaps has only the name that it was given.
        return names[0] if names else layout, bits

    def close(self):
        self.process.stdin.close()
        self.process.wait()
