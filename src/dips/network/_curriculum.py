"""Easy tables first: enough labels, few of them wrong, few classes; then, step by step, the whole prior."""

from __future__ import annotations

from dataclasses import replace

from dips.network._settings import NetworkSettings, PriorSettings

EASY = PriorSettings(
    labeled=(64, 400), unlabeled=(0, 192), classes=(2, 3), clean=0.6, max_noise=0.3, max_noise_many=0.4
)  # bounds of the shapes, and the shares, at the first step


def progress_at(draw: int, settings: NetworkSettings) -> float:
    """How far the ramp has come at a draw, from 0 to 1; it depends on nothing else, so that pieces can go on."""
    if not settings.training.curriculum_steps:
        return 1.0
    return min(1.0, draw * settings.training.steps_per_draw / settings.training.curriculum_steps)


def prior_at(progress: float, prior: PriorSettings) -> PriorSettings:
    """The prior on its way from easy to full."""
    if progress >= 1:
        return prior
    return replace(
        prior,
        labeled=_within(prior.labeled, EASY.labeled, progress),
        unlabeled=_within(prior.unlabeled, EASY.unlabeled, progress),
        classes=_within(prior.classes, EASY.classes, progress),
        clean=_between(max(EASY.clean, prior.clean), prior.clean, progress),
        max_noise=_between(min(EASY.max_noise, prior.max_noise), prior.max_noise, progress),
        max_noise_many=_between(min(EASY.max_noise_many, prior.max_noise_many), prior.max_noise_many, progress),
    )


def shapes_prior(draw: int, settings: NetworkSettings) -> PriorSettings:
    """The prior whose shapes fill the deck of a draw: as it was when the deck was begun, because a deck stays."""
    training = settings.training
    deck = training.shapes_in_deck * training.passes_of_deck
    return prior_at(progress_at(draw // deck * deck, settings), settings.prior)


def _between(easy: float, full: float, progress: float) -> float:
    return easy + (full - easy) * progress


def _within(choices: tuple[int, ...], easy: tuple[int, ...], progress: float) -> tuple[int, ...]:
    """Choices between bounds that widen in proportion, from those of the easy tables to all."""
    low = (min(easy) + 1) * ((min(choices) + 1) / (min(easy) + 1)) ** progress - 1
    high = (max(easy) + 1) * ((max(choices) + 1) / (max(easy) + 1)) ** progress - 1
    return tuple(choice for choice in choices if low - 1e-9 <= choice <= high + 1e-9) or choices
