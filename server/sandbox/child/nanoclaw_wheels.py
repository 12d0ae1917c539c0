# Finds the wheels that a program needs, and reads what a wheel contains.
def needed_wheels(wheels, roots):
    """The wheels that provide the imported names, and their dependencies, dependencies first."""
    ordered = []

    def visit(name):
        if name in ordered or name not in wheels:
            return
        for dependency in wheels[name]["requires"]:
            visit(dependency)
        ordered.append(name)

    for name, wheel in wheels.items():
        if roots.intersection(wheel["imports"]):
            visit(name)
    return [wheels[name] for name in ordered]


def describe_wheel(path):
    """The modules that a wheel contains and the distributions it requires, as JSON."""
    # Imported here, because programs never need them: they would slow down every start.
    import json
    import re
    import zipfile

    imports = set()
    requires = set()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            root = name.partition("/")[0]
            if name.count("/") == 0 or name.count("/") == 1 and name.endswith("/__init__.py"):
                module = root.partition(".")[0]
                if module.isidentifier() and (root.endswith((".py", ".so")) or root == module):
                    imports.add(module)
            if re.fullmatch(r"[^/]+\.dist-info/METADATA", name) and archive.getinfo(name).file_size < 2**20:
                for line in archive.read(name).decode("utf-8", "replace").split("\n\n")[0].splitlines():
                    found = re.match(r"Requires-Dist:\s*([A-Za-z0-9._-]+)([^;]*)(;.*)?$", line)
                    if found and "extra" not in (found[3] or ""):
                        requires.add(re.sub(r"[-_.]+", "-", found[1]).lower())
    return json.dumps({"imports": sorted(imports)[:200], "requires": sorted(requires)[:200]})
