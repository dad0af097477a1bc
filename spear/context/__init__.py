"""What a turn is shown: rules, skills, project metadata, workspace knowledge, and the selection among them (spec 4)."""
