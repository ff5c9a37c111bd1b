"""What plays: agents assembled from parts, on arms and on boxes, for one trial or many."""
