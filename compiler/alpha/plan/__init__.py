"""Regions to exact numbers: arena, live ranges, launch order, demands with their derivations."""
