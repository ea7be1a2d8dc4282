"""Results with many fields: JSON objects whose fields are attributes."""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping


class Value(Mapping[str, Any]):
    """An object of cugen's JSON: ``record.seconds`` is ``record["seconds"]``. docs/json.md describes every field. null is None, an
    array is a tuple. ``dict(value)`` has the fields."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_fields", dict(fields))

    def __getattr__(self, name: str) -> Any:
        if name == "_fields":  # a copy under construction has no fields yet
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"there is no field '{name}'; there are {', '.join(self._fields)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a result cannot be changed")

    def __reduce__(self) -> Any:
        return type(self), (self._fields,)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __hash__(self) -> int:
        return hash(tuple(self._fields))

    def __repr__(self) -> str:
        return f"<cugen.{type(self).__name__} {self._fields}>"


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def parsed(text: bytes | None) -> Any:
    """What a JSON text says."""
    return _frozen(json.loads(text or b"null", object_hook=lambda fields: Value({k: _frozen(v) for k, v in fields.items()})))
