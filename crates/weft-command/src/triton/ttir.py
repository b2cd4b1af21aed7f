"""The Triton IR of a kernel in a Python file, made by the Triton that is installed; no GPU is needed.

`weft` runs this text with a request on standard input and reads the answer from standard output, both
JSON: `{"file", "kernel", "signature", "constants", "capability", "warps"}` is answered with `{"ttir"}`,
or with `{"message", "hint"}` where that is not possible.
"""

import difflib
import importlib.util
import json
import os
import sys
from types import SimpleNamespace


class Refused(Exception):
    """Why there is no IR: what is wrong, and what would be right."""

    def __init__(self, message, hint=None):
        super().__init__(message)
        self.hint = hint


def load(file):
    """Imports a source file, whose functions then know the lines that they were written on."""
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    # A file may be called as a module that is there already, which stays.
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def make(kernel, signature, capability, stage="ttir", warps=4):
    """The module of one kernel after a stage, for a GPU of NVIDIA's.

    `signature` is the name of each argument to its type (`*fp32`, `i32`; `:16` promises a multiple of 16,
    for a pointer of bytes), or to the value of a constant.
    """
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend
    from triton.runtime.driver import driver

    types, constants, attributes = {}, {}, {}
    for index, (name, spelled) in enumerate(signature.items()):
        if isinstance(spelled, str):
            types[name], _, divisor = spelled.partition(":")
            if divisor:
                attributes[(index,)] = [["tt.divisibility", int(divisor)]]
        else:
            types[name], constants[(index,)] = "constexpr", spelled
    source = ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=attributes)
    # Only as far as is asked for: some kernels need more than Triton makes of them for sm_90.
    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    # The front end asks which GPU there is before it takes maxima of halves through a descriptor.
    driver.set_active(SimpleNamespace(get_current_target=lambda: target))
    debug = bool(kernel.debug)  # Assertions are compiled only where `triton.jit` was told so.
    options = backend.parse_options({"num_warps": warps, "debug": debug, **source.parse_options()})
    stages = {}
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source.make_ir(target, options, functions, modules, context)
    metadata = {}
    for name in ("ttir", "ttgir"):
        module = stages[name](module, metadata)
        if name == stage:
            break
    return module


def one_of(known):
    return f"choose one of {', '.join(known)}"


def choose(module, file, name):
    """The kernel of this name, or the only one; without what tunes it."""
    from triton.runtime.jit import JITFunction

    kernels = {}
    for key, value in vars(module).items():
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn
        if isinstance(value, JITFunction) and value.__module__ == module.__name__:
            kernels[key] = value
    if not kernels:
        raise Refused(f"{file} has no kernel", "a kernel is a function under `@triton.jit`")
    if name in kernels:
        return kernels[name]
    if name is not None:
        near = difflib.get_close_matches(name, kernels, 1)
        meant = f"did you mean `{near[0]}`? " if near else ""
        raise Refused(f"{file} has no kernel `{name}`", meant + one_of(kernels))
    # A function that another one calls is not what is asked for, where one is left.
    signed = [name for name in getattr(module, "SIGNATURES", {}) if name in kernels]
    for names in (signed, list(kernels)):
        if len(names) == 1:
            return kernels[names[0]]
    raise Refused(f"{file} has {len(kernels)} functions under `@triton.jit`", f"{one_of(kernels)}, by --kernel")


def signed(module, kernel, types, constants):
    """The type or the value of each argument, by its name."""
    names = [param.name for param in kernel.params]
    unknown = [name for name in constants if name not in names]
    if unknown:
        raise Refused(f"`{kernel.__name__}` has no argument `{unknown[0]}`", f"it takes {', '.join(names)}")
    if types is None:
        known = dict(getattr(module, "SIGNATURES", {}).get(kernel.__name__, {}))
    else:
        # A signature names every argument, or all but the constants.
        varying = [param.name for param in kernel.params if not param.is_constexpr and param.name not in constants]
        asked = names if len(types) == len(names) else varying
        if len(types) != len(asked):
            plural = "" if len(types) == 1 else "s"
            raise Refused(
                f"the signature has {len(types)} type{plural}, and `{kernel.__name__}` takes {len(asked)}",
                f"give a type for each of {', '.join(asked)}",
            )
        known = dict(zip(asked, types))
    defaults = {param.name: param.default for param in kernel.params if param.is_constexpr and param.has_default}
    known = {**defaults, **known, **constants}
    missing = [param for param in kernel.params if param.name not in known]
    typed = [param.name for param in missing if not param.is_constexpr]
    if typed:
        raise Refused(
            f"the types of `{kernel.__name__}` are not known: of {', '.join(typed)}",
            "give them in order, as in --signature '*fp32,*fp32,i32'; `:16` after one promises a multiple of 16",
        )
    if missing:
        constant = missing[0].name
        raise Refused(
            f"`{constant}` of `{kernel.__name__}` is a tl.constexpr without a value",
            f"give it, as in --constexpr {constant}=128",
        )
    return {name: known[name] for name in names}


def answer(request):
    file = request["file"]
    try:
        import triton
    except ImportError as error:
        raise Refused(
            f"{sys.executable} cannot import Triton, which makes the IR of {file}: {error}",
            "install it there (`pip install triton`; no GPU is needed), or name another Python, by --python; "
            "a kernel that ran elsewhere left its IR in ~/.triton/cache, as *.ttir",
        ) from None
    sys.path[0] = os.path.dirname(os.path.abspath(file))
    try:
        module = load(file)
    except Exception as error:
        raise Refused(
            f"{file} cannot be imported: {type(error).__name__}: {error}",
            f"{sys.executable} was asked; another one is named by --python",
        ) from None
    kernel = choose(module, file, request["kernel"])
    signature = signed(module, kernel, request["signature"], request["constants"])
    try:
        made = make(kernel, signature, request["capability"], warps=request["warps"])
    except Exception as error:
        raise Refused(f"Triton {triton.__version__} refuses `{kernel.__name__}`{refusal(file, kernel, error)}") from None
    return {"ttir": str(made)}


def refusal(file, kernel, error):
    """The place and the reason of an error of Triton's front end."""
    # The innermost one tells most.
    while error.__cause__ is not None:
        error = error.__cause__
    reason = getattr(error, "error_message", None) or str(error) or type(error).__name__
    node, source = getattr(error, "node", None), getattr(error, "src", None)
    place = ""
    if node and source == kernel.src:
        above = next(line for line, text in enumerate(kernel.raw_src) if text.lstrip().startswith("def "))
        line = kernel.starting_line_number + above + node.lineno - 1
        place = f" at {file}:{line}:{node.col_offset + 1}"
    elif node and source:
        place = f" in `{source.splitlines()[node.lineno - 1].strip()}`"
    return f"{place}: {' '.join(reason.split())}"


def main():
    request = json.load(sys.stdin)
    # What the file prints while it is imported is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        answered = answer(request)
    except Refused as refused:
        answered = {"message": str(refused), "hint": refused.hint}
    json.dump(answered, answers)


if __name__ == "__main__":
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # A cached text names the files of the run that made it.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.
    main()
