"""What a posterior knows beside its draws: the user's columns, period and call. It is kept as text in the file."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from vmqp.errors import InputError
from vmqp.tables import AngleRange, Table

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """The user's side of a result.

    >>> facts = Facts(AngleRange(360.0, False, "degrees"), ("lon", "lat"))
    >>> Facts.from_text(facts.to_text()) == facts
    True
    """

    range: AngleRange
    names: tuple[str, ...] | None = None
    """Columns of the inputs."""
    categories: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Of each text column: the names that its codes stand for."""
    kind: str = "numpy"
    """What the inputs came as, and so what a table of results is: numpy, pandas or polars."""
    call: str = ""
    """How to make the same posterior again."""
    target_ess: float = 400.0
    """Effective samples below which a result is not trusted."""
    noise_of_new: str = "same"
    """Whether a new observation has the noise of the observed ones ("same"), one of its own ("given"), or "none"."""
    metric: str = "euclidean"
    estimator: dict[str, Any] = field(default_factory=dict)
    """Of a saved model: its class and options."""

    def with_new(self, new: Table, noise_of_new: str) -> "Facts":
        """The same for predictions at new locations."""
        return replace(self, categories=dict(new.categories), kind=new.kind, noise_of_new=noise_of_new)

    def to_text(self) -> str:
        """Write as JSON."""
        own: dict[str, Any] = {**self.__dict__, "range": self.range.__dict__}
        return json.dumps(own, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "Facts":
        """Read what `to_text` wrote."""
        try:
            own = json.loads(text)
            names = own.pop("names")
            categories = {int(column): tuple(values) for column, values in own.pop("categories").items()}
            return cls(
                range=AngleRange(**own.pop("range")),
                names=None if names is None else tuple(names),
                categories=categories,
                **own,
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"the file's description cannot be read ({error!r}): it is damaged.") from error
