"""Asks whether the tests notice small changes of the code they test."""
