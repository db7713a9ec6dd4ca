"""The contract of summarize, on an encrypted file."""

from contract.test_summarize import *  # noqa: F403
from encryption.as_encrypted import *  # noqa: F403
