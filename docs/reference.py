"""Writes the reference chapters' tables, as Markdown on standard output, from where the facts stand.

    WEFT=target/debug/weft python3 docs/reference.py requests     what can be asked, from the tools of `weft mcp`
    python3 docs/reference.py answers convert swizzle …           what is answered, from the types in Rust
    python3 docs/reference.py python                              the module `weft`, from its sources
"""

import ast
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = ROOT / "crates/weft-api/src/answer"
PYTHON = ROOT / "crates/weft-py/python/weft"


def cell(text):
    """A text as it may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(heads, rows):
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    return "\n".join(lines + [f"| {' | '.join(cell(part) for part in row)} |" for row in rows])


# Requests

sys.path.insert(0, str(ROOT / "examples/conflicts"))


def shape(schema):
    """The type of a key of a request, in a few words."""
    for several in ("anyOf", "oneOf"):
        if several in schema:
            constants = [f"`{each['const']}`" for each in schema[several] if "const" in each]
            kinds = [shape(each) for each in schema[several] if "const" not in each]
            return " or ".join(constants + list(dict.fromkeys(kinds)))
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list: {shape(schema.get('items', {}))}"
    return {"string": "text", "integer": "whole number", "boolean": "true or false", "number": "number"}.get(kind, kind)


def requests():
    from client import Weft

    weft = Weft(os.environ.get("WEFT", "weft"))
    tools = weft.request("tools/list", {})["tools"]
    weft.close()
    # `more` belongs to a session, and `simulate` is what the request `run` is called there.
    for tool in tools:
        if tool["name"] == "more":
            continue
        name = {"simulate": "run"}.get(tool["name"], tool["name"])
        schema = tool["inputSchema"]
        needed = schema.get("required", [])
        rows = []
        for key, value in schema.get("properties", {}).items():
            if key == "limits":
                # Every request takes them, and a section of its own says so.
                continue
            words = value.get("description", "")
            if value.get("default"):
                words += f" `{value['default']}` if it is not given."
            rows.append((f"`{key}`", shape(value), "yes" if key in needed else "", words))
        print(f"\n### {name}\n\n{tool['title']}.\n\n{table(('key', 'type', 'needed', 'what it is'), rows)}")


# Answers


def structures():
    """The types of answers: for each its words, and its fields with their types and words."""
    found = {}
    for path in [ANSWERS.with_suffix(".rs"), *sorted(ANSWERS.glob("*.rs"))]:
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"((?:///.*\n)+)(?:#\[.*\]\n)*pub struct (\w+) \{\n((?: .*\n|\n)*)\}", text):
            words, name, body = match.groups()
            fields, said, attributes = [], [], ""
            for line in body.splitlines():
                line = line.strip()
                if line.startswith("///"):
                    said.append(line[3:].strip())
                elif line.startswith("#["):
                    attributes += line
                elif field := re.match(r"pub (\w+): (.*),", line):
                    key = re.search(r'rename = "(\w+)"', attributes)
                    if not re.search(r"serde\(skip\)", attributes):
                        fields.append((
                            key.group(1) if key else field.group(1), field.group(2), " ".join(said),
                            "skip_serializing_if" in attributes or field.group(2).startswith("Option"),
                            "flatten" in attributes,
                        ))
                    said, attributes = [], ""
            found[name] = (" ".join(part[3:].strip() for part in words.strip().splitlines()), fields)
    return found


def fields_of(name, known, inner):
    """The fields of an answer, those of a type that is spread into it in its place."""
    rows = []
    for key, kind, words, optional, flat in known[name][1]:
        types = [each for each in re.findall(r"\w+", kind) if each in known]
        if flat:
            rows += fields_of(types[0], known, inner)
            continue
        inner += [each for each in types if each not in inner]
        words = re.sub(r"\[`([^`\]]*)`\](?:\([^)]*\))?", r"`\1`", words)
        more = f" ({', '.join(f'see {heading(each)}' for each in types)})" if types else ""
        rows.append((f"`{key}`", "where there is one" if optional else "always", words + more))
    return rows


def heading(name):
    return re.sub(r"(?<!^)(?=[A-Z])", " ", re.sub(r"(Answer|Row)$", "", name)).lower()


def answers(names):
    known = structures()
    for asked in names:
        pending, done = [f"{asked.capitalize()}Answer"], []
        while pending:
            name = pending.pop(0)
            if name in done:
                continue
            done.append(name)
            words, _ = known[name]
            inner = []
            rows = fields_of(name, known, inner)
            pending += inner
            head = f"### {asked}" if len(done) == 1 else f"*{heading(name)}*"
            print(f"\n{head}\n\n{words}\n\n{table(('field', 'there', 'what it is'), rows)}")


# Python


def signature(function):
    """A function's arguments as its source writes them, without `self`."""
    arguments = ast.unparse(function.args)
    return re.sub(r"^self(, )?", "", arguments).replace(", /", "")


def summary(node):
    """The first paragraph of a documentation text."""
    return (ast.get_docstring(node) or "").split("\n\n")[0]


def public(path, names=None):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    found = [node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
    return [node for node in found if names is None or node.name in names]


def exported(path):
    """What `__all__` lists."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [each.value for each in node.value.elts]
    return []


def python():
    names = exported(PYTHON / "__init__.py")
    # An overload says nothing that the function itself does not.
    functions = [node for path in ("questions.py", "requests.py") for node in public(PYTHON / path, names)
                 if isinstance(node, ast.FunctionDef) and not any(getattr(each, "id", "") == "overload" for each in node.decorator_list)]
    print("\n### Functions\n")
    print(table(("function", "what it does"),
                [(f"`weft.{node.name}({signature(node)})`", summary(node)) for node in functions]))
    layout = next(node for node in public(PYTHON / "_weft.pyi") if node.name == "Layout")
    print(f"\n### weft.Layout\n\n{ast.get_docstring(layout)}\n")
    rows = []
    for node in layout.body:
        if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            is_property = any(getattr(each, "id", "") == "property" for each in node.decorator_list)
            name = node.name.replace("__init__", "Layout")
            words = summary(node) or "Reads a layout."
            rows.append((f"`{name}`" if is_property else f"`{name}({signature(node)})`", words))
    print(table(("member", "what it is"), rows))
    print("\n### weft.triton\n")
    listed = exported(PYTHON / "triton/__init__.py")
    members = {node.name: node for path in sorted((PYTHON / "triton").glob("_*.py")) for node in public(path, listed)}
    rows = []
    for name in listed:
        node = members[name]
        call = f"({signature(node)})" if isinstance(node, ast.FunctionDef) else ""
        rows.append((f"`{name}{call}`", summary(node)))
    print(table(("name", "what it is"), rows))
    print("\n### Exceptions\n")
    print(table(("name", "what it is"), [(f"`weft.{node.name}`", summary(node)) for node in public(PYTHON / "errors.py", names)]))


def main():
    match sys.argv[1:]:
        case ["requests"]:
            requests()
        case ["answers", *names] if names:
            answers(names)
        case ["python"]:
            python()
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
