#!/bin/sh
# Prints how many words it was given.
echo "$#"
