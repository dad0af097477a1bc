"""Classification of a request from its own words (spec 1.2): deterministic, no model, English and French alike."""

from spear.control.classification.classify import Classification, classify

__all__ = ["Classification", "classify"]
