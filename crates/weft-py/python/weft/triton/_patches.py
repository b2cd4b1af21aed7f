"""Functions put around others' functions, and taken away again."""

import functools
from collections.abc import Callable
from typing import Any


class Around:
    """A function that stands in the place of `holder.name` and is given what stood there before.

    Others may put theirs around it. It then stays where it is when it is taken away, and only calls what
    it stands around: `holder.name` is given back to what stood there if nothing came on top of it.
    """

    def __init__(self, holder: Any, name: str, function: Callable[..., Any]) -> None:
        self.holder = holder
        self.name = name
        self.function = function
        self.active = False
        self.standing: Any = None

    def put(self) -> None:
        """Lets the function stand there."""
        self.active = True
        if self.standing is not None:
            return
        inner = getattr(self.holder, self.name)

        @functools.wraps(inner)
        def standing(*args: Any, **kwargs: Any) -> Any:
            if not self.active:
                return inner(*args, **kwargs)
            return self.function(inner, *args, **kwargs)

        self.inner = inner
        self.standing = standing
        setattr(self.holder, self.name, standing)

    def take(self) -> None:
        """Takes the function away."""
        self.active = False
        if self.standing is not None and getattr(self.holder, self.name) is self.standing:
            setattr(self.holder, self.name, self.inner)
            self.standing = None
