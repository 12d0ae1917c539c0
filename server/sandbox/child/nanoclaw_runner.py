# Checks one program with Python's ast, runs it once and reports the outcome. Runs inside the interpreter: Pyodide, or the
# host's Python (3.10 or later).
import ast
import atexit
import builtins
import json
import linecache
import math
import os
import sys
import traceback
import types

# References of its own, so that a program that replaces builtins cannot break the report.
from builtins import *

from nanoclaw_wheels import needed_wheels

PROGRAM = "program.py"
MAX_RESULT_CHARACTERS = 20_000
MAX_TRACEBACK_CHARACTERS = 10_000
MAX_RESULT_DEPTH = 12
# The bridge to JavaScript is not part of the standard library at any level.
BRIDGE = {"js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core", "micropip", "nanoclaw_runner", "nanoclaw_wheels"}

_request = {}
_tree = None


def check(request_text):
    """Checks the program; returns what is wrong with it, or the wheels it needs, as JSON."""
    global _request, _tree
    _request = json.loads(request_text)
    code = _request["code"]
    try:
        _tree = ast.parse(code, PROGRAM)
    except SyntaxError as error:
        text = "".join(traceback.format_exception_only(error)).rstrip()
        return json.dumps({"error": text[:MAX_TRACEBACK_CHARACTERS]})
    except (ValueError, MemoryError, RecursionError) as error:
        return json.dumps({"error": f"The program cannot be parsed: {type(error).__name__}: {error}"})
    imports = list(_imported_modules(_tree))
    faults = _faults(imports)
    if faults:
        level = _request["strictness"]
        text = f'Not allowed at strictness "{level}":\n' + "\n".join(faults[:20])
        if _request["modules"] is not None:
            text += "\nAllowed modules: " + ", ".join(_request["modules"])
        return json.dumps({"error": text})
    return json.dumps({"wheels": needed_wheels(_request["wheels"], {name.partition(".")[0] for _, name in imports})})


def _imported_modules(tree):
    """Line and full name of every module that an import statement names; `from a import b` may mean the module `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if _is_allowed(module):
                yield node.lineno, module
            else:
                for alias in node.names:
                    yield node.lineno, f"{module}.{alias.name}"


def _is_allowed(module):
    modules = _request["modules"]
    root = module.partition(".")[0]
    if root in BRIDGE or root.startswith("_pyodide"):
        return False
    if modules is None:
        return True
    return any(module == name or module.startswith(name + ".") for name in modules)


def _faults(imports):
    refused = set(_request["refusedNames"])
    found = [
        (line, f"  line {line}: import of module '{name}'")
        for line, name in imports
        if not _is_allowed(name)
    ]
    for node in ast.walk(_tree):
        if isinstance(node, ast.Name) and node.id in refused:
            found.append((node.lineno, f"  line {node.lineno}: use of '{node.id}'"))
    return [text for _, text in sorted(found)]


def execute():
    """Runs the checked program and returns the outcome as JSON. Never raises."""
    global _tree
    _prepare()
    # The program can change any state of the runner, so no later step relies on it.
    scope = sys.modules["__main__"].__dict__
    tree, _tree = _tree, None
    outcome = {"status": "completed", "error": None, "result": None}
    try:
        value = _run(tree, scope)
        _save_figures()
        if value is not None:
            outcome["result"] = _presentable(value)
    except SystemExit as error:
        if error.code not in (None, 0):
            outcome = {"status": "raised", "error": f"The program exited with {error.code!r:.200}", "result": None}
    except BaseException as error:
        outcome = {"status": "raised", "error": _describe(error), "result": None}
    for clean_up in (atexit._run_exitfuncs, sys.stdout.flush, sys.stderr.flush):
        try:
            clean_up()
        except BaseException as error:
            if outcome["status"] == "completed":
                outcome = {"status": "raised", "error": _describe(error), "result": None}
    return json.dumps(outcome)


def _run(tree, scope):
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, PROGRAM, "exec"), scope)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), PROGRAM, "eval"), scope)


def _prepare():
    """Sets up `__main__`, the streams, `open` and the random seed."""
    if sys.platform == "emscripten":
        _hide_bridge()
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    sys.argv[:] = [PROGRAM]
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.path.dirname(__file__))]
    code = _request["code"]
    linecache.cache[PROGRAM] = (len(code), None, code.splitlines(keepends=True), PROGRAM)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    _guard_open()
    # Imported before the memory image was made: without this, every program would get the same numbers.
    if "random" in sys.modules:
        sys.modules["random"].seed()


def _hide_bridge():
    """Hides the bridge to JavaScript; the isolation does not depend on it."""
    sys.modules["_pyodide._importhook"].jsfinder.jsproxies.clear()
    for name in list(sys.modules):
        if name.partition(".")[0] in BRIDGE:
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "pyodide" not in type(finder).__module__]
    if "asyncio" in {name for _, name in _imported_modules(_tree)}:
        _offer_event_loop()


def _offer_event_loop():
    """Provides asyncio with timers and tasks: the interpreter has no sockets, so waiting means sleeping until the next timer."""
    import asyncio
    import time

    class NoSockets:
        def select(self, timeout):
            time.sleep(0 if timeout is None else max(0, timeout))
            return []

    class Loop(asyncio.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = NoSockets()

        def _process_events(self, events):
            pass

        def _write_to_self(self):
            pass

    def run(main, *, debug=None, loop_factory=None):
        with asyncio.Runner(debug=debug, loop_factory=loop_factory or Loop) as runner:
            return runner.run(main)

    # Pyodide's own loop depends on the JavaScript event loop and counts as already running.
    asyncio._set_running_loop(None)
    asyncio.run = asyncio.runners.run = run
    asyncio.new_event_loop = asyncio.events.new_event_loop = Loop


def _guard_open():
    import io

    real_open = io.open
    real_path = os.path.realpath
    writable = "/output/"
    # Modules may read the interpreter's own files, which contain nothing of the host; the program itself may not.
    readable = ("/workspace/", "/skills/", "/output/")
    own = ("/lib/", "/usr/")
    lenient = _request["strictness"] == "lenient"

    def by_program():
        return not lenient and sys._getframe(2).f_code.co_filename == PROGRAM

    def open(file, mode="r", *arguments, **options):
        """Opens a file of the project under /workspace (read only) or a result under /output."""
        if not isinstance(file, int):
            path = real_path(os.fspath(file))
            path = path if isinstance(path, str) else os.fsdecode(path)
            writes = any(letter in mode for letter in "wax+")
            if lenient and path.startswith("/tmp/"):
                pass
            elif writes and not path.startswith(writable):
                raise PermissionError(f"open() can write under /output only, not {path!r:.200}")
            elif not path.startswith(readable) and (by_program() or not path.startswith(own)):
                raise PermissionError(f"open() reaches /workspace, /skills and /output only, not {path!r:.200}")
        return real_open(file, mode, *arguments, **options)

    builtins.open = open
    io.open = open


def _save_figures():
    """Saves open figures as images, as users of plt.plot(...) expect."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums()[:10]:
        pyplot.figure(number).savefig(f"/output/figure-{number}.png")


class _NotPlain(Exception):
    pass


def _plain(value, depth=0):
    """Converts a value to plain JSON types; anything else is not plain."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int and abs(value) <= 2**53 - 1 or kind is float and math.isfinite(value):
        return value
    if depth < MAX_RESULT_DEPTH:
        if kind in (list, tuple) and len(value) <= 10_000:
            return [_plain(item, depth + 1) for item in value]
        if kind is dict and len(value) <= 10_000 and all(type(key) is str for key in value):
            return {key: _plain(item, depth + 1) for key, item in value.items()}
    raise _NotPlain


def _presentable(value):
    try:
        plain = _plain(value)
        if len(json.dumps(plain)) <= MAX_RESULT_CHARACTERS:
            return plain
    except _NotPlain:
        pass
    text = repr(value)
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    return text[:MAX_RESULT_CHARACTERS] + f"… [cut, {len(text)} characters in all]"


def _describe(error):
    """The traceback as Python prints it, without the lines of this file."""
    try:
        described = traceback.TracebackException.from_exception(error, compact=True)
        _hide_runner(described, 0)
        text = "".join(described.format()).rstrip()
    except BaseException:
        text = f"{type(error).__name__} (its traceback cannot be shown)"
    if len(text) <= MAX_TRACEBACK_CHARACTERS:
        return text
    return text[:2000] + "\n  […]\n" + text[-(MAX_TRACEBACK_CHARACTERS - 2000) :]


def _hide_runner(described, depth):
    if described is None or depth > 20:
        return
    described.stack[:] = [frame for frame in described.stack if frame.filename != __file__]
    _hide_runner(described.__cause__, depth + 1)
    _hide_runner(described.__context__, depth + 1)
