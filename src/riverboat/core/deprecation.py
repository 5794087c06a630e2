"""Old names of attributes, accepted for one release with a warning."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar


class RenamedAttributes:
    """Mixin that finds attributes under their names before version 0.2.

    Subclasses list them in `_renamed_attributes`: old name to new name.
    """

    _renamed_attributes: ClassVar[dict[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        new = self._renamed_attributes.get(name)
        if new is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        warnings.warn(f"{type(self).__name__}.{name} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(self, new)
