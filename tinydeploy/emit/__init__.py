"""Graph and plan to a self-contained C project folder."""

from tinydeploy.emit.folder import Project, project

__all__ = ["Project", "project"]
