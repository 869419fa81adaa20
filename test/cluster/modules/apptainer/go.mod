// Apptainer, which runs images on clusters of Slurm. It is built in a copy of its source, with the
// dependencies of its own go.mod and go.sum; so only its own hash stands here. See ../../README.md.
module trainway.dev/test/cluster/apptainer

go 1.26.0

require github.com/apptainer/apptainer v1.4.1
