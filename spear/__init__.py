"""spear-chat: a terminal agent whose turns end with a verdict computed from evidence."""

__version__ = "0.1.0"
