"""What Python's own parser finds in each file below the folders that are named: one line of JSON for each file that it
parses.

`definitions`: the dotted name of each function and class, and the line of its name. `calls`: the place (line and byte
column, from 1 and 0) of each call's callee and, where an import alone gives its first name a meaning, what that is.
"""
import ast
import json
import os
import sys
import warnings

warnings.simplefilter("ignore")


def definitions(tree):
    found = []

    def walk(node, around):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = around + [child.name]
                found.append([".".join(name), child.lineno])
                walk(child, name)
            else:
                walk(child, around)

    walk(tree, [])
    return found


def bindings(tree):
    """What the imports at the top of a module bind, if nothing else in the module binds it too."""
    counts, imported = {}, {}

    def bind(name):
        counts[name] = counts.get(name, 0) + 1

    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bind(node.name)
        elif isinstance(node, ast.arg):
            bind(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bind(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bind(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                bind(name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                bind((alias.asname or alias.name).split(".")[0])
        elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
            bind(node.name)
        elif type(node).__name__ == "MatchMapping" and node.rest:
            bind(node.rest)
        elif type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple"):
            bind(node.name)
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname or "." not in alias.name:
                    imported[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__":
            for alias in node.names:
                if alias.name != "*":
                    imported[alias.asname or alias.name] = node.module + "." + alias.name
    stars = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree))
    return {} if stars else {name: what for name, what in imported.items() if counts.get(name) == 1}


def calls(tree, known):
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        chain, head = [], node.func
        while isinstance(head, ast.Attribute):
            chain.append(head.attr)
            head = head.value
        name = None
        if isinstance(head, ast.Name) and head.id in known:
            name = ".".join([known[head.id]] + chain[::-1])
        found.append([node.func.lineno, node.func.col_offset, name])
    return found


for folder in sys.argv[1:]:
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(folder for folder in folders if folder != "site-packages")
        for file in sorted(files):
            path = os.path.join(base, file)
            if not file.endswith(".py") or os.path.islink(path):
                continue
            try:
                with open(path, "rb") as source:
                    text = source.read()
                text.decode("utf-8")
                tree = ast.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            told = {"path": path, "definitions": definitions(tree), "calls": calls(tree, bindings(tree))}
            sys.stdout.write(json.dumps(told) + "\n")
