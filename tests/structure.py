"""Measures what makes code hard to follow. ``python -m tests.structure`` prints each figure, its limit and its target.

``make check`` refuses a figure above its limit, and prints the counted places. When a figure falls, its limit is
lowered to the new figure. Issue 35 sets the targets. The import contracts check the order of the layers.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from itertools import chain

import grimp
import networkx as nx

from tests.house import PACKAGES, ROOT, CountedFigure, report, sources

MAX_MODULE_LINES = 400
LEARNER_FOLDERS = {
    name: (f"beadbox/learners/{name}/", f"learning/kinds/{name}/")
    for name in ("boxes", "q_learning", "value_learner", "table_learner")
}
"""The two folders of each learner, as prefixes of ``path`` or ``path:class``."""
KIND_MODULE = re.compile(r"learning/kinds/\w+\.py")
KERNEL_FOLDERS = ("beadbox/kernels/", "beadbox/engines/")
SERVICE_OR_PORT = re.compile(r"(^|/)(services|ports?|players)\w*(/|\.py)")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Imports = list[tuple[str, str]]


def all_figures() -> list[CountedFigure]:
    """Measure all figures of the site's code."""
    code = Code({path.relative_to(ROOT).as_posix(): path.read_text() for path in sources()})
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = [(one, other) for one in graph.modules for other in graph.find_modules_directly_imported_by(one)]
    games, site = (folder_children(graph.modules, package) for package in ("games", "menace_site"))
    submodules = [module for module in graph.modules if module.startswith(("games.", "menace_site."))]
    folders = [folder_children(graph.modules, module) for module in submodules if "migrations" not in module]
    methods, attributes = code.kind_interfaces()
    with_any = code.functions_with_any()
    return [
        CountedFigure("direct children of games/", games, 14, 15),
        CountedFigure("imports between them", imports_between(imports, games), 27, 40),
        CountedFigure("direct children of menace_site/", site, 14, 14),
        CountedFigure("imports between them", imports_between(imports, site), 18, 18),
        CountedFigure("direct children of one folder of these two", max(folders, key=len), 14, 14),
        CountedFigure(
            "imports between children of one of these folders",
            max((imports_between(imports, children) for children in folders), key=len),
            *(35, 40),
        ),
        CountedFigure(f"modules over {MAX_MODULE_LINES} lines", code.long_modules(), 3, 3),
        CountedFigure("methods of the kind interfaces", methods, 50, 50),
        CountedFigure("attributes of the kind interfaces", attributes, 13, 15),
        *(
            CountedFigure(
                f"modules elsewhere that import classes of {name}", code.importers(LEARNER_FOLDERS[name]), limit, 6
            )
            for name, limit in (("boxes", 6), ("q_learning", 3), ("value_learner", 5), ("table_learner", 2))
        ),
        CountedFigure("functions that only pass on their arguments", code.functions_that(passes_on), 50, 50),
        CountedFigure("public functions with Any in the signature", with_any, 239, 300),
        CountedFigure("of these in services and ports", tuple(filter(SERVICE_OR_PORT.search, with_any)), 0, 0),
        CountedFigure("parameters of one kernel", code.most_parameters(KERNEL_FOLDERS), 8, 8),
        CountedFigure("import cycles", import_cycles(imports), 0, 0),
    ]


def folder_children(modules: set[str], package: str) -> tuple[str, ...]:
    """Return the modules and packages directly in a package, without migrations."""
    parents = ((module.rpartition(".")[0], module) for module in sorted(modules))
    return tuple(module for parent, module in parents if parent == package and not module.endswith(".migrations"))


def imports_between(imports: Imports, children: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``from -> to`` for each pair of children with an import between any of their modules."""
    if not children:
        return ()
    depth = children[0].count(".") + 1
    ends = ([".".join(module.split(".")[:depth]) for module in pair] for pair in imports)
    return tuple(sorted({f"{one} -> {other}" for one, other in ends if one != other and {one, other} <= {*children}}))


def import_cycles(imports: Imports) -> tuple[str, ...]:
    """Return each set of modules with a circle of imports."""
    components = nx.strongly_connected_components(nx.DiGraph(imports))
    return tuple(", ".join(sorted(modules)) for modules in components if len(modules) > 1)


def passes_on(function: Function) -> bool:
    """Whether the function is a single call with only its own parameters or attributes of ``self`` as arguments."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    call = getattr(body[0], "value", None) if len(body) == 1 and isinstance(body[0], ast.Return | ast.Expr) else None
    if isinstance(call, ast.Await | ast.YieldFrom):
        call = call.value
    if not isinstance(call, ast.Call):
        return False
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    arguments = [value.value if isinstance(value, ast.Starred) else value for value in values]
    names = {parameter.arg for parameter in parameters(function, starred=True)}
    attribute_names = [
        ast.unparse(value).removeprefix("self.") if isinstance(value, ast.Attribute) else "" for value in arguments
    ]
    return bool(arguments) and all(
        (isinstance(value, ast.Name) and value.id in names) or attribute.isidentifier()
        for value, attribute in zip(arguments, attribute_names, strict=True)
    )


def parameters(function: Function, *, starred: bool) -> list[ast.arg]:
    """Return the parameters of a function; ``starred`` adds ``*args`` and ``**kwargs``."""
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    more = [function.args.vararg, function.args.kwarg] if starred else []
    return [*named, *filter(None, more)]


class Code:
    """The modules of the site by path, and the definitions and imports of their names."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.n_lines = {path: text.count("\n") for path, text in texts.items()}
        self.trees = {path: ast.parse(text) for path, text in texts.items()}
        self.paths = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in texts}
        self.imported = {path: dict(imported_names(tree)) for path, tree in self.trees.items()}
        self.defined = {path: dict(defined_names(tree)) for path, tree in self.trees.items()}

    def definition(self, path: str, name: str) -> tuple[str, ast.stmt | None] | None:
        """Return the path and statement that define a name, across imports; the statement of a module is ``None``."""
        if name in self.defined[path]:
            return path, self.defined[path][name]
        module, original = self.imported[path].get(name, ("", ""))
        if (whole := f"{module}.{original}".rstrip(".")) in self.paths:
            return self.paths[whole], None
        return self.definition(self.paths[module], original) if module in self.paths else None

    def definitions(self, path: str, node: ast.AST) -> Iterator[tuple[str, ast.stmt | None]]:
        """Yield the definitions of all names in a node, including attributes of modules and quoted names."""
        for part in ast.walk(node):
            name = part.id if isinstance(part, ast.Name) else getattr(part, "value", None)
            if isinstance(name, str) and (found := self.definition(path, name)):
                yield found
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                found = self.definition(path, part.value.id)
                if found and found[1] is None and (inner := self.definition(found[0], part.attr)):
                    yield inner

    def long_modules(self) -> tuple[str, ...]:
        """Return ``path (lines)`` of each module that is too long."""
        return tuple(f"{path} ({lines})" for path, lines in self.n_lines.items() if lines > MAX_MODULE_LINES)

    def kind_interfaces(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the methods and attributes of ``Kind`` and of the interfaces that its bases and attributes name.

        An interface is a class in a module directly in ``learning/kinds/`` with methods or callable attributes.
        """
        paths = [path for path in self.trees if KIND_MODULE.fullmatch(path)]
        classes = {
            name: node for path in paths for name, node in self.defined[path].items() if isinstance(node, ast.ClassDef)
        }
        queue, seen = ["Kind"], {"Kind"}
        methods: list[str] = []
        attributes: list[str] = []
        while queue:
            node = classes[queue.pop()]
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            calls = [one for one in fields if "Callable" in ast.unparse(one.annotation)]
            attribute_names = [one.name for one in node.body if isinstance(one, Function)]
            if node.name == "Kind" or attribute_names or calls:
                methods += [
                    f"{node.name}.{name}" for name in attribute_names + [ast.unparse(one.target) for one in calls]
                ]
                attributes += [f"{node.name}.{ast.unparse(one.target)}" for one in fields if one not in calls]
                named = {name for one in [*node.bases, *(one.annotation for one in fields)] for name in names_in(one)}
                queue += sorted(named & classes.keys() - seen)
                seen |= named
        return tuple(methods), tuple(attributes)

    def importers(self, places: tuple[str, ...]) -> tuple[str, ...]:
        """Return the modules outside these places that import a class defined in them."""
        return tuple(
            path
            for path, tree in self.trees.items()
            if not path.startswith(places)
            and any(
                isinstance(node, ast.ClassDef) and where != path and f"{where}:{node.name}".startswith(places)
                for where, node in chain(
                    self.definitions(path, tree),
                    filter(None, (self.definition(path, name) for name in self.imported[path])),
                )
            )
        )

    def functions_that(self, is_counted: Callable[[Function], bool]) -> tuple[str, ...]:
        """Return ``path:line name`` of each function for which ``is_counted`` is true."""
        return tuple(
            f"{path}:{node.lineno} {node.name}"
            for path, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, Function) and is_counted(node)
        )

    def most_parameters(self, folders: tuple[str, ...]) -> tuple[str, ...]:
        """Return ``path:function(parameter)`` for each parameter of the function in these folders with the most."""
        by_function = (
            tuple(f"{path}:{node.name}({one.arg})" for one in parameters(node, starred=True) if one.arg != "self")
            for path, tree in self.trees.items()
            if path.startswith(folders)
            for node in ast.walk(tree)
            if isinstance(node, Function)
        )
        return max(by_function, key=len)

    def functions_with_any(self) -> tuple[str, ...]:
        """Return ``path:line name`` of each public function with ``Any`` in its signature, except in ``*args``."""
        return tuple(
            f"{path}:{node.lineno} {node.name}"
            for path, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, Function) and not node.name.startswith("_")
            for annotations in [[one.annotation for one in parameters(node, starred=False)] + [node.returns]]
            if any(self.has_any(path, annotation) for annotation in filter(None, annotations))
        )

    def has_any(self, path: str, annotation: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether an annotation contains ``Any``, directly or by an alias of any module."""
        if "Any" in names_in(annotation):
            return True
        aliases = [(where, node) for where, node in self.definitions(path, annotation) if is_alias(node)]
        return any(
            self.has_any(where, node.value, seen | {node}) for where, node in aliases if node and node not in seen
        )


def imported_names(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each imported name, with its module and its original name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, (node.module, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.asname, (alias.name, "")) for alias in node.names if alias.asname)


def defined_names(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name that the module itself defines, with its statement."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | Function):
            yield node.name, node
        for target in [*getattr(node, "targets", ()), getattr(node, "target", None), getattr(node, "name", None)]:
            if isinstance(target, ast.Name):
                yield target.id, node


def is_alias(node: ast.AST | None) -> bool:
    """Whether a statement of a module gives a type another name: ``X = …``, ``X: TypeAlias = …``, ``type X = …``."""
    return not isinstance(getattr(node, "value", None), ast.Call | None)


def names_in(node: ast.AST) -> set[str]:
    """Return the names in an annotation, including quoted names."""
    return set(re.findall(r"[A-Za-z_]\w*", ast.unparse(node)))


def main() -> None:
    """Print all figures; exit with 1 if one is above its limit."""
    figures = all_figures()
    sys.stdout.write(report(figures))
    sys.exit(not all(figure.is_within_limit for figure in figures))


if __name__ == "__main__":
    main()
