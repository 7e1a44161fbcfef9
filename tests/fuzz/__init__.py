"""Random well-typed programs, built for every host and compared with the reference: `make fuzz`."""
