"""The agent of one job on this machine, whose pods are processes of its own.

main            starts it
agent           how it is reached, and how it ends
pods            its pods, and what becomes of all they leave behind
"""
