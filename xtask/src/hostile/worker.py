"""Answers requests, one a line, through the Python module or the library of C, and says what became of each."""

import ctypes
import json
import resource
import sys
import threading

which, library, memory, stack = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
threading.stack_size(int(stack))

if which == "python":
    from _weft import invoke
else:
    weft = ctypes.CDLL(library)
    weft.weft_invoke.restype = ctypes.c_void_p
    weft.weft_free.argtypes = [ctypes.c_void_p]

    def invoke(request):
        answer = weft.weft_invoke(request.encode())
        text = ctypes.string_at(answer).decode()
        weft.weft_free(answer)
        return text


def kind(answer):
    if isinstance(answer, list):
        rank = {"defect": 0, "no JSON": 0, "no kind": 0, "answer": 2}
        return min(map(kind, answer), key=lambda kind: rank.get(kind, 1), default="answer")
    if not isinstance(answer, dict):
        return "no JSON"
    if "error" not in answer:
        return "answer"
    return answer["error"].get("kind", "no kind")


def work():
    for line in sys.stdin:
        _, request = json.loads(line)
        print(kind(json.loads(invoke(request))), flush=True)


thread = threading.Thread(target=work)
thread.start()
thread.join()
