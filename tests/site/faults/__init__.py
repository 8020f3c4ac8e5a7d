"""Faults of a year, injected into a site during play: killed or hung processes, lost data, full disks, wrong clocks."""
