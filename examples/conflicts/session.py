"""Asks `weft mcp` what a file says, and prints questions and answers as they come.

    python3 examples/conflicts/session.py examples/conflicts/sessions/NAME.jsonl

A line of the file is a question, `{"ask": TOOL, "arguments": {…}}`, or `{"follow": TOOL, "fill": {…}}`: the
question of that tool that the answer before proposes, with what it leaves open. `"show"` names the fields of
the answer that are printed; `"of"` counts how many answers further back the proposal stands.
"""

import json
import os
import sys
import textwrap
from pathlib import Path

from client import Refused, Weft

WIDTH = 110


def wrapped(text, first, rest):
    """A paragraph, or the lines of a text as they are."""
    if "\n" in text.strip():
        return textwrap.indent(text.rstrip(), rest)
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False)


def compact(value):
    return json.dumps(value, ensure_ascii=False)


def told(line, tool, arguments, answer):
    """A question and its answer."""
    print(f"> {tool}")
    for key, value in arguments.items():
        print(f"    {key}: {value if isinstance(value, str) else compact(value)}")
    if "error" in answer:
        error = answer["error"]
        print(wrapped(f"{error['kind']}: {error['message']}", "! ", "  "))
        if "hint" in error:
            print(wrapped(f"hint: {error['hint']}", "  ", "  "))
    elif "text" in answer:
        print(wrapped(answer["text"], "< ", "  "))
    else:
        print(wrapped(answer["summary"], "< ", "  "))
        for field in line.get("show", []):
            value = answer["answer"][field]
            value = value if isinstance(value, str) else compact(value)
            print(f"    {field}:\n{textwrap.indent(value, ' ' * 6)}" if "\n" in value else f"    {field}: {value}")
        for left in answer.get("more", []):
            print(f"  more: {left['field']}, {left['characters']} characters, {left['handle']}")
        for question in answer.get("next", []):
            print(f"  next: {question['tool']}: {question['why']}")
    print()


def main():
    weft = Weft(os.environ.get("WEFT", "weft"))
    answers = []
    for text in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        heard = []
        weft.heard = lambda *said: heard.append(said)
        try:
            if "ask" in line:
                weft.ask(line["ask"], **line["arguments"])
            elif line["follow"] == "more":
                handle = answers[-1]["more"][0]["handle"]
                weft.ask("more", handle=handle, **line["fill"])
            else:
                weft.follow(answers[-line.get("of", 1)], line["follow"], **line.get("fill", {}))
        except Refused:
            # What was refused is printed as any answer.
            pass
        told(line, *heard[-1])
        answers.append(heard[-1][2])
    weft.close()


if __name__ == "__main__":
    main()
