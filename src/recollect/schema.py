"""The shape of a memory candidate, for language models and for tests.

Pydantic stands at this edge only: a model that gives structured output is handed `Offers`, and what comes back is checked
item by item. `MemoryCandidate` is the canonical form of what extraction offers, however it was found.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

MOST_WORDS = 40
Kind = Literal["fact", "preference", "todo", "project_state"]
Content = Annotated[str, Field(min_length=1, max_length=400)]
Importance = Annotated[float, Field(ge=0, le=1)]
Tag = Annotated[str, Field(min_length=1, max_length=40)]


def _short(content: str) -> str:
    content = " ".join(content.split())
    if not content:
        raise ValueError("content must not be empty")
    if len(content.split()) > MOST_WORDS:
        raise ValueError(f"content must have at most {MOST_WORDS} words")
    return content


class MemoryCandidate(BaseModel):
    """A statement that is offered to memory, with where it came from."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    content: Content  # the statement, in the third person
    kind: Kind  # what it is
    importance: Importance  # 0 to 1
    source_checkpoint_id: Annotated[str, Field(min_length=1)]  # a checkpoint's id, or "event:<seq>" outside a graph
    tags: list[Tag] | None = Field(default=None, max_length=8)  # free words
    seqs: list[int] = Field(default_factory=list)  # the events it came from

    _content = field_validator("content")(_short)


class Offered(BaseModel):
    """A candidate as a language model gives it: the turn it comes from is a small number, not an id it could mistype."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    content: Content
    kind: Kind
    importance: Importance
    source: Annotated[int, Field(ge=1)]
    tags: list[Tag] | None = Field(default=None, max_length=8)

    _content = field_validator("content")(_short)


class Offers(BaseModel):
    """What a language model answers."""

    candidates: list[Offered] = Field(default_factory=list)
