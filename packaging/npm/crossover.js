#!/usr/bin/env node
// Starts the binary of the package for this machine, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

function binary() {
  const machine = `${process.platform}-${process.arch}`;
  const packages = { "linux-x64": "crossover-lab-linux-x64" };
  if (!packages[machine]) {
    throw `crossover runs on Linux on x86-64, and this is ${machine}`;
  }
  const { glibcVersionRuntime } = process.report.getReport().header;
  if (!glibcVersionRuntime) {
    throw "crossover needs glibc 2.31 or later, and this Linux has another C library (Alpine has musl): take an image of Debian or Ubuntu";
  }
  try {
    return require.resolve(`${packages[machine]}/crossover`);
  } catch {
    throw `the package ${packages[machine]} is missing: install crossover-lab again without --omit=optional`;
  }
}

try {
  const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
  // The terminal sends an interrupt to both; a supervisor's SIGTERM reaches this process alone.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`crossover: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
} catch (problem) {
  console.error(`crossover: ${problem}`);
  process.exit(1);
}
