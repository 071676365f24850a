//! Warnings of runs made by hand.
