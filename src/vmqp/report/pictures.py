"""The pictures of a report, saved as PNG, each with a caption and words for those who cannot see it.

A picture that makes no sense for the data (a map of three columns) is refused by the posterior with an error of
ours and left out. Any other failure must not cost a report that took an hour to compute: it is left out too, and
named.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vmqp import plots
from vmqp.circle import FloatArray
from vmqp.errors import VmqpError
from vmqp.plots import Scale
from vmqp.report.content import Cell, Picture
from vmqp.report.words import Angles, join, percent, plural

if TYPE_CHECKING:
    from vmqp.posterior import Posterior

__all__ = ["Gallery"]

_DPI = 120


@dataclass
class Gallery:
    """Draws pictures of one posterior and remembers which could not be drawn."""

    posterior: "Posterior"
    angles: Angles
    probability: float
    compass: bool = False
    failures: list[str] = field(default_factory=list)

    def rose(self, draws: FloatArray, arcs: FloatArray, truth: float, name: str) -> Picture | None:
        """The prediction at one place, with the arcs that the text tells of."""
        noun, share, angles = self.angles.noun, percent(self.probability), self.angles
        scale = Scale(angles.period, self.posterior.range.origin, angles.unit, compass=self.compass)
        return self._draw(
            lambda: plots.rose(
                draws,
                scale=scale,
                truth=None if np.isnan(truth) else truth,
                interval=arcs,
                probability=self.probability,
            ),
            heading="",
            caption=f"The farther the shape reaches out, the more probable is that {noun}; "
            f"the line on the rim is the {share} arc.",
            alt=f"Rose diagram of the predicted {noun} at {name}; the {share} arc is given in the text.",
        )

    def overview(self, inputs: Mapping[str, Sequence[Cell]]) -> tuple[Picture, ...]:
        """All predictions together: a curve over one input that varies, maps of two, none of more or of categories."""
        varying = [name for name, values in inputs.items() if len(set(values)) > 1] or list(inputs)[:1]
        if any(isinstance(inputs[name][0], str) for name in varying):
            return ()
        count = plural(self.posterior.X_new.shape[0], "place")
        if len(varying) == 1:
            return self._curve(varying[0], count)
        return self._maps(join(varying), count) if len(varying) == 2 else ()

    def _curve(self, column: str, count: str) -> tuple[Picture, ...]:
        noun, share = self.angles.noun, percent(self.probability)
        return _present(
            self._draw(
                lambda: self.posterior.plot(probability=self.probability, compass=self.compass),
                heading=f"Predicted {noun} along {column}",
                caption=f"The line is the best guess, the band holds the {noun} with a probability of {share}, and "
                "the points are the observations. Top and bottom edge are the same angle: what leaves at one comes in "
                "at the other.",
                alt=f"Curve of the predicted {noun} over {column} at {count}, with its {share} band.",
            )
        )

    def _maps(self, over: str, count: str) -> tuple[Picture, ...]:
        noun = self.angles.noun
        return _present(
            self._draw(
                lambda: self.posterior.plot_map(compass=self.compass),
                heading=f"Map of the predicted {noun}",
                caption="Each arrow is a place: with a dot an observation, without one a prediction. "
                "It points to its angle (a wind that is named by where it comes from: into the wind). "
                "The shorter and paler an arrow, the less certain it is.",
                alt=f"Map of arrows over {over}: observed and predicted {noun}s at {count}.",
            ),
            self._draw(
                lambda: self.posterior.plot_variance(),
                heading="Where the prediction is sure, and where it is not",
                caption="Circular variance: 0 where the prediction is certain, 1 where nothing is known. "
                "It is usually small near observations and grows away from them.",
                alt=f"Map of the circular variance of the predictions over {over}.",
            ),
        )

    def others(self, truth: FloatArray | None) -> tuple[Picture, ...]:
        """Calibration where truth is known, the parameters, and the chains' memory."""
        pictures = []
        if truth is not None:
            pictures.append(
                self._draw(
                    lambda: self.posterior.plot_calibration(truth),
                    heading="Are the probabilities honest?",
                    caption="If arcs with a probability of 50 % hold half of the truths, those with 90 % nine tenths, "
                    "and so on, the histogram is flat and the shares follow the diagonal.",
                    alt="Calibration of the predictions against the truth.",
                )
            )
        if self.posterior.parameters and not self.posterior.fast:
            pictures.append(
                self._draw(
                    lambda: self.posterior.plot_parameters(compass=self.compass),
                    heading="The parameters, draw by draw",
                    caption="Each chain is a line. They should look like the same restless band, without trends or "
                    "steps; then the histograms beside them can be trusted.",
                    alt="Traces and histograms of the learned parameters.",
                )
            )
            pictures.append(
                self._draw(
                    lambda: self.posterior.plot_autocorrelation(),
                    heading="How long the chains remember",
                    caption="Correlation of a draw with the one some steps later. The sooner it falls to 0, the more "
                    "each draw tells.",
                    alt="Autocorrelation of the chains.",
                )
            )
        return _present(*pictures)

    def _draw(self, draw: Callable[[], Any], *, heading: str, caption: str, alt: str) -> Picture | None:
        try:
            data = _saved(draw)
        except VmqpError:
            return None
        except Exception as error:
            self.failures.append(f"{heading or 'Rose'}: {type(error).__name__}: {error}")
            return None
        return Picture(heading, caption, data, alt)


def _saved(draw: Callable[[], Any]) -> bytes:
    """Let the posterior make a figure that fits its data, in the usual style whatever the user's, and close it."""
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    try:
        with plt.style.context("default"), plt.ioff():
            return _png(np.ravel(np.asarray(draw(), dtype=object))[0].figure)
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": "vmqp"})
    return buffer.getvalue()


def _present(*pictures: Picture | None) -> tuple[Picture, ...]:
    return tuple(picture for picture in pictures if picture is not None)
