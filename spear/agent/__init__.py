"""The coding core: a host, a model callable, a conversation and a budget in; an outcome out.

Imports nothing of spear, so that it can be lifted out and used alone (spec: coding-core).
"""
