"""Provide what every module may need: types, checks of arguments, hints, optional packages."""
