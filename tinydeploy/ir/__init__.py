"""The one data structure everything works on: a typed graph of operators, printable and checkable."""

from tinydeploy.ir.graph import Graph, Node, Operator, Source, State, Value
from tinydeploy.ir.types import Array, Elem, Quant, Type

__all__ = ["Array", "Elem", "Graph", "Node", "Operator", "Quant", "Source", "State", "Type", "Value"]
