"""A person at a terminal: runs a program on a terminal of its own and answers what it asks.

One JSON object on stdin: `words` (the program and its arguments), `cwd`, `env`, `answers` (pairs of what is waited for and
what is typed then), `meanwhile` (a command that is run before each answer, or null), `terminal` (false: a session without one, and the answers are the program's stdin). One JSON object on
stdout: `code`, and `text`, all that the terminal showed.
"""

import json
import os
import pty
import select
import subprocess
import sys
import time

PATIENCE = 60


def on_a_terminal(told):
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(told["cwd"])
        os.execve(told["words"][0], told["words"], told["env"])
    shown, answers, end = b"", list(told["answers"]), time.monotonic() + PATIENCE
    seen = 0
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        while answers and answers[0][0].encode() in shown[seen:]:
            question, answer = answers.pop(0)
            seen += shown[seen:].index(question.encode()) + len(question.encode())
            if told["meanwhile"]:
                subprocess.run(["/bin/sh", "-ec", told["meanwhile"]], check=True)
            os.write(terminal, answer.encode())
    else:
        os.kill(child, 9)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.replace(b"\r\n", b"\n")


def without_one(told):
    typed = "".join(answer for _, answer in told["answers"])
    ran = subprocess.run(
        told["words"], cwd=told["cwd"], env=told["env"], input=typed.encode(), timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )
    return ran.returncode, ran.stdout


told = json.load(sys.stdin)
code, shown = (on_a_terminal if told["terminal"] else without_one)(told)
json.dump({"code": code, "text": shown.decode(errors="replace")}, sys.stdout)
