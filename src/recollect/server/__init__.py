"""The sidecar: the store's verbs over HTTP, for agents in any language on this machine (`recollect serve`).

`place` says where a running sidecar and its token are found, `guard` decides who may speak, `listen` binds, `app` puts the routes together,
`recorder` writes what comes in, `sse` tells what was written. The client is `recollect.client`.
"""
