"""From a test and a seed to a result: build, simulator process, task, executor and store."""
