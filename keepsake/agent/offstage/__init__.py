"""What agents do while nobody looks, by rules alone: their days, small scenes, hearsay."""
