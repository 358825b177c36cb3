"""Programs that the CSB agent plays, and their translation from and to layers."""
