"""Tests with pods."""
