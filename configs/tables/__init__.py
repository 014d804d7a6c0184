"""Classification tables that ship, one YAML file for each set of tools."""
