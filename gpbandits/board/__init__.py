"""The board is a local web page that shows a study while it runs."""
