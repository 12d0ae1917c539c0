# Compiles the standard library once for all later starts: from /lib/python314.zip to /tmp/library.zip.
import importlib._bootstrap_external as bootstrap
import sys
import zipfile

source = next(path for path in sys.path if path.endswith(".zip"))
with zipfile.ZipFile(source) as given, zipfile.ZipFile("/tmp/library.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
    for entry in given.infolist():
        if entry.is_dir():
            continue
        data = given.read(entry)
        if entry.filename.endswith(".py"):
            code = compile(data, f"{source}/{entry.filename}", "exec", dont_inherit=True)
            # Unchecked hash-based pyc: never compared with its source, which is stored beside it for tracebacks.
            # Not compressed: every start reads some of them.
            compiled = bytes(bootstrap._code_to_hash_pyc(code, b"\0" * 8, False))
            made.writestr(entry.filename + "c", compiled, zipfile.ZIP_STORED)
        made.writestr(entry.filename, data)
