"""Order and circles of a graph of names, without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def components(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components, each after those it points to (Tarjan's algorithm).

    Names that `graph` does not hold are ignored.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter([n for n in graph[root] if n in graph]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter([n for n in graph[other] if n in graph])))
                    break
                if other in on_stack:
                    low[name] = min(low[name], index[other])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[name])
                if low[name] == index[name]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == name:
                            break
                    found.append(component[::-1])
    return found


def in_order(
    graph: Mapping[str, Iterable[str]], surely: Mapping[str, Iterable[str]]
) -> list[list[str]]:
    """The components of `graph`; what only goes in a circle by edges that `surely` lacks is taken apart."""
    found: list[list[str]] = []
    for component in components(graph):
        if is_circle(component, graph):
            inside = {name: [o for o in surely[name] if o in component] for name in component}
            found += components(inside)
        else:
            found.append(component)
    return found


def is_circle(component: Sequence[str], graph: Mapping[str, Iterable[str]]) -> bool:
    return len(component) > 1 or component[0] in set(graph[component[0]])


def circle(component: Sequence[str], graph: Mapping[str, Iterable[str]]) -> list[str]:
    """One shortest way round inside a component, from its first name."""
    start = component[0]
    inside = set(component)
    came: dict[str, str] = {}
    frontier = [start]
    while frontier:
        following: list[str] = []
        for name in frontier:
            for other in graph[name]:
                if other == start:
                    path = [name]
                    while path[-1] != start:
                        path.append(came[path[-1]])
                    return path[::-1]
                if other in inside and other not in came:
                    came[other] = name
                    following.append(other)
        frontier = following
    return list(component)
