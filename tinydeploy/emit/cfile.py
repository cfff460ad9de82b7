"""Graph and plan to the texts of NAME.h, NAME.c, CMakeLists.txt and README.md, through the templates in codegen/."""

from __future__ import annotations

import re
from typing import Any

from tinydeploy.assets import asset_dir
from tinydeploy.emit import literals
from tinydeploy.emit.names import Namer, comment
from tinydeploy.emit.nodes import NodePrinter, NodeText, cast, head, shape
from tinydeploy.emit.tables import Tables
from tinydeploy.errors import InternalError, Problem
from tinydeploy.ir import Array, Graph
from tinydeploy.lower._contract import Lowered, Table, Target
from tinydeploy.ops._op import Signature
from tinydeploy.plan import Plan
from tinydeploy.plan.liveness import belongs_to, output_name, scratch_name
from tinydeploy.version import __version__

GUARDS = {"plain": "", "dsp": "TD_USE_DSP", "mve": "TD_USE_MVE"}


class Printer:
    """Everything the templates are filled with. One per project; `context` is what they see."""

    def __init__(self, graph: Graph, plan: Plan, name: str, target: Target) -> None:
        self.graph = graph
        self.plan = plan
        self.name = name
        self.target = target
        self.tables = Tables(name, [table for low in plan.lowered for table in low.offer.tables])
        self.constants: list[str] = []
        self.at = self._offset_names()
        self.macs = {low.node.name: int(low.node.op.macs(Signature.of(graph, low.node))) for low in plan.lowered}
        self.functions: dict[str, str] = {}
        self.inputs = self._tensors("input", graph.inputs, [self._arena(value) for value in graph.inputs])
        self.outputs = self._tensors("output", graph.outputs, [self._output(value) for value in graph.outputs])

    def _offset_names(self) -> dict[str, str]:
        """C names of the arena's offsets, by item: a result is named after its node."""
        namer = Namer()
        namer.give("end")
        makers = {name: low.node.name for low in self.plan.lowered for name in low.node.outputs}
        return {item: f"at_{namer.give(makers.get(item, self._title(item)))}" for item in self.plan.spots}

    def _title(self, item: str) -> str:
        """A value's name, "scratch of" a node, or what is copied where at the end of a run."""
        owner = belongs_to(item)
        return f"scratch {owner}" if item == scratch_name(owner) else item.replace("\0", " ")

    def _arena(self, value: str) -> str:
        return f"c->arena + {self.at[self.plan.views.get(value, value)]}"

    def _output(self, value: str) -> str:
        """Address of an output at the end of a run: where it was copied to, or where it is."""
        copied = output_name(value)
        return f"c->arena + {self.at[copied]}" if copied in self.at else self._arena(value)

    def _places(self) -> dict[str, str]:
        """C expression of the address of every value in RAM."""
        places = {value: self._arena(value) for value in self.plan.offsets}
        places.update({value: f"c->state + {offset}" for value, offset in self.plan.state_offsets.items()})
        return places

    def _tensors(self, role: str, values: list[str], addresses: list[str]) -> list[dict[str, Any]]:
        namer = Namer()
        tensors = []
        for index, (value, address) in enumerate(zip(values, addresses, strict=True)):
            kind = self.graph.type(value)
            alias = namer.give(value, role)
            quantised = kind.quant is not None
            zero_point = kind.zero_point if quantised else 0
            tensors.append(
                {
                    "role": role,
                    "index": index,
                    "shown": comment(value, 60),
                    "type": shape(kind),
                    "c_type": kind.elem.c_type,
                    "size": kind.size,
                    "quantised": quantised,
                    "scale": literals.real(kind.scale if quantised else 1.0),
                    "zero_point": f"({zero_point})" if zero_point < 0 else str(zero_point),
                    "macro": f"{self.name.upper()}_{role.upper()}_{index}",
                    "function": f"{self.name}_{role}_{index}",
                    "alias": f"{self.name}_{role}_{alias}",
                    "c_name": alias,
                    "address": cast(address, kind, const=role == "output"),
                }
            )
        return tensors

    def _node(self, number: int, low: Lowered, places: dict[str, str]) -> NodeText:
        live = self.plan.live_bytes[low.node.name]
        title = head(self.graph, low, number, self.macs[low.node.name], live)
        if low.offer.view:
            return NodeText(title, (), "", ())
        scratch = f"c->arena + {self.at[scratch_name(low.node.name)]}" if low.node.name in self.plan.scratch else None
        text = NodePrinter(self.graph, low, number, self.name, places, scratch).text(self.tables, title)
        self.functions[low.node.name] = text.function
        return text

    def _constant(self, symbol: str, value_type: str, data: Array) -> str:
        """Print a constant that is copied as a whole; return its symbol."""
        symbol, lines = self.tables.add(symbol, Table(symbol, value_type, data.ravel()))
        self.constants += lines
        return symbol

    def _ends(self) -> list[str]:
        """The copies after the last node."""
        lines = []
        for number, copy in enumerate(self.plan.copies):
            if copy.source == "flash":
                value = self.graph.values[copy.value]
                assert value.data is not None
                source = self._constant(f"{self.name}_constant{number}", value.type.elem.c_type, value.data)
            elif copy.source == "state":
                source = f"c->state + {self.plan.state_offsets[copy.value]}"
            else:
                source = f"c->arena + {self.at[copy.value]}" if copy.value in self.at else self._arena(copy.value)
            if copy.region == "state":
                to = f"c->state + {self.plan.state_offsets[copy.target]}"
            else:
                to = f"c->arena + {self.at[copy.target]}"
            lines.append(f"{self.name}_copy({to}, {source}, {copy.size});")
        return lines

    def _resets(self) -> list[str]:
        lines = []
        for number, state in enumerate(self.graph.states):
            kind = self.graph.type(state.read)
            data = state.initial.astype(kind.elem.dtype)
            place = f"c->state + {self.plan.state_offsets[state.read]}"
            content = data.tobytes()
            if content == content[:1] * len(content):
                lines.append(f"{self.name}_fill({place}, {content[0] if content else 0}, {kind.nbytes});")
                continue
            symbol = self._constant(f"{self.name}_initial{number}", kind.elem.c_type, data)
            lines.append(f"{self.name}_copy({place}, {symbol}, {kind.nbytes});")
        return lines

    def _spots(self) -> list[dict[str, Any]]:
        spots = sorted(self.plan.spots.items(), key=lambda pair: (pair[1].offset, pair[1].first, pair[0]))
        return [
            {
                "symbol": self.at[item],
                "offset": spot.offset,
                "size": spot.size,
                "first": spot.first,
                "last": spot.last,
                "shown": comment(self._title(item), 56),
            }
            for item, spot in spots
        ]

    def context(self) -> dict[str, Any]:
        """Variables of all templates but ``facts``, the lines at the top of the header."""
        places = self._places()
        nodes = [self._node(number, low, places) for number, low in enumerate(self.plan.lowered)]
        ends, resets = self._ends(), self._resets()
        overlaps = [
            {
                "node": comment(overlap.node, 60),
                "input": self.at[overlap.input],
                "output": self.at[overlap.output],
                "distance": overlap.distance,
            }
            for overlap in self.plan.overlaps
        ]
        offers = [low.offer for low in self.plan.lowered]
        return {
            "name": self.name,
            "prefix": self.name.upper(),
            "version": __version__,
            "cpu": self.target.cpu,
            "guard": GUARDS[self.target.cpu_class],
            "abi": runtime_abi(),
            "headers": sorted({"td_version.h"}.union(*(offer.headers for offer in offers))),
            "sources": sorted({source for offer in offers for source in offer.sources}),
            "arena_bytes": max(self.plan.arena_bytes, 1),
            "state_bytes": self.plan.state_bytes,
            "weights_bytes": self.tables.nbytes,
            "spots": self._spots(),
            "overlaps": overlaps,
            "nodes": nodes,
            "tensors": [*self.inputs, *self.outputs],
            "constants": self.constants,
            "shared": self.tables.lines,
            "copies": any("_copy(" in line for line in (*ends, *resets)),
            "fills": any("_fill(" in line for line in resets),
            "ends": ends,
            "resets": resets,
            "unused": not ends and not any(node.function for node in nodes),
        }


def runtime_abi() -> int:
    """The number in td_version.h that generated code asks for."""
    text = (asset_dir("runtime_c") / "include" / "td_version.h").read_text("utf-8")
    match = re.search(r"#define TD_RUNTIME_ABI (\d+)", text)
    if match is None:
        raise InternalError(Problem("td_version.h", "defines no TD_RUNTIME_ABI"))
    return int(match.group(1))
