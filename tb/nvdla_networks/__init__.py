"""Compiled networks, ONNX files and their images, played on the bench."""
