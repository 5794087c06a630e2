"""Artefacts that an earlier commit has written: what lies on people's disks must open after every rename."""
