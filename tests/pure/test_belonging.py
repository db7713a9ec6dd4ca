"""Whether what is learned in a workspace is the workspace's or the person's.

60 of the sentences were written before the rule was, the others after it; one of those was wrong at first, and the rule was mended.
"""

from __future__ import annotations

import pytest

from recollect.extract import Turn, candidates
from recollect.extract.belonging import is_of_project, is_of_workspace

PERSONAL = (
    "My name is Priya.",
    "I live in Ghent.",
    "I'm allergic to shellfish.",
    "My wife is called Marta.",
    "My daughter started school in September.",
    "We have two cats, Miso and Nori.",
    "I'm vegetarian.",
    "My birthday is on June 12.",
    "I prefer short answers without bullet points.",
    "Please answer in Dutch.",
    "I work as a data engineer.",
    "I work at Northwind.",
    "I speak French and German.",
    "I have asthma.",
    "I like jazz.",
    "I hate early meetings.",
    "I go running every Tuesday evening.",
    "I drive an old Volvo.",
    "My phone is a Pixel 8.",
    "I use a split keyboard.",
    "My timezone is Europe/Brussels.",
    "Remember that I take my coffee black.",
    "Remember that my mother's name is Ines.",
    "I'm learning the cello.",
    "My brother lives in Toronto.",
    "Call me Pri.",
    "I prefer vim over emacs.",
    "We moved to Antwerp last year.",
    "I have a dentist appointment on Friday at 9.",
    "I want to run a marathon next spring.",
    "Remember that I'm allergic to penicillin.",
    "Remember that I live in Ghent.",
    "Remember that my son is called Theo.",
    "Remember I use vim.",
    "Remember: my phone number ends in 42.",
    "I always drink tea in the morning.",
    "Never call me sir.",
    "Keep your answers short.",
    "From now on explain things step by step.",
    "Our daughter is called Mia.",
    "My favourite colour is green.",
    "I'm married.",
    "I used to live in Oslo.",
    "My flight is on Monday.",
    "Our flat has three rooms.",
    "I'm left-handed.",
    "Remind me to call my mother on Sunday.",
    "My doctor is Dr. Vermeer.",
    "I can't eat gluten.",
    "My pronouns are she/her.",
    "I prefer pnpm.",
    "I use zsh.",
    "My laptop is a ThinkPad.",
    "I studied physics in Leuven.",
    "Ich heiße Jonas.",
    "Ich wohne in Bremen.",
    "Meine Frau heißt Klara.",
    "Please don't use emojis.",
    "I'm a night owl.",
    "We got married in 2015.",
)
PROJECT = (
    "The frontend is written in Svelte.",
    "We use RabbitMQ for the job queue.",
    "We switched from Jest to Vitest.",
    "The staging database is on db-stage-2.",
    "Deadline is June 30.",
    "Deploys happen every Thursday.",
    "Always squash commits before merging.",
    "Never edit the generated files by hand.",
    "Remember that the invoice service owns the tax table.",
    "Our customer is Initech.",
    "The contract runs until December.",
    "We decided to drop support for Python 3.9.",
    "The login endpoint is rate limited to 5 requests a minute.",
    "The feature flags live in LaunchDarkly.",
    "Redis runs on port 6380.",
    "We deploy with Helm.",
    "The tests need Docker.",
    "We chose Terraform over Pulumi.",
    "The product owner is Henrik.",
    "Use two spaces for indentation here.",
    "The logo color is #ff8800.",
    "Remember: the VPN is required for the staging cluster.",
    "The maximum upload size is 25 MB.",
    "We agreed to freeze features on Friday.",
    "The mobile app targets Android 12.",
    "Payments are handled by Adyen.",
    "I use poetry in this repo.",
    "The codename is Bluebird.",
    "We're migrating to Kubernetes.",
    "The API key rotation is monthly.",
    "Remember that we use bun.",
    "Remember that the deadline is May 2.",
    "Remember to always run the linter before pushing.",
    "Always write tests first.",
    "Never push on Fridays.",
    "We want to launch in May.",
    "We're planning to rewrite the backend in Go.",
    "The office budget is 3k.",
    "Our manager at the client is Tom.",
    "My client is Initech.",
    "I prefer tabs here.",
    "We prefer tabs.",
    "Use yarn here instead of npm.",
    "I'm building a CRM for ACME.",
    "Wir nutzen Postgres.",
    "Unser Kunde ist ACME.",
    "Die Datenbank läuft auf Port 5433.",
    "The database is Postgres.",
    "Our database is Postgres 15.",
    "We need to renew the certificate by Friday.",
    "The company is called Globex.",
    "The CTO is Dana.",
    "We host everything on Hetzner.",
    "From now on use tabs.",
    "Our stack is Django and React.",
    "We no longer use Redis.",
    "We have two staging servers.",
    "Our office is in Berlin.",
    "The servers are located in Frankfurt.",
    "ACME's budget is 20k.",
)
UNDERSTOOD = 100
"""Of how many of them something is learned, at least: of what is not understood nothing is, and nothing can leak."""


def learned(said: str) -> list[bool]:
    turn = Turn("user", "message", said, 1, 1_790_000_000_000, payload={})
    return [is_of_project(c, turn) for c in candidates(turn) if c.operation == "assert"]


def test_enough_of_the_sentences_is_understood() -> None:
    assert sum(bool(learned(said)) for said in PERSONAL + PROJECT) >= UNDERSTOOD


@pytest.mark.parametrize("said", PERSONAL)
def test_what_is_about_the_person_is_theirs(said: str) -> None:
    assert not any(learned(said))


@pytest.mark.parametrize("said", PROJECT)
def test_everything_else_is_the_projects(said: str) -> None:
    assert all(learned(said))


def test_a_statement_that_is_proposed_goes_by_the_same_rule() -> None:
    assert not is_of_workspace("Prefers dark mode")
    assert not is_of_workspace("Sister is called Ana")
    assert is_of_workspace("API runs on port 4000")
    assert is_of_workspace("Uses bun in this repo")
