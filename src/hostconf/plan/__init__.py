"""What has to be written so that a wish holds, and the proof that it then does. Pure."""
