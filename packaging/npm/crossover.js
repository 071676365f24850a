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
  // A supervisor's signal reaches this process alone. The terminal sends an interrupt to both: crossover takes two
  // within a second for one.
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`crossover: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    // A child that a signal ended: this process ends by the same one, which a shell and a supervisor tell from a code.
    for (const one of signals) process.removeAllListeners(one);
    process.exitCode = 128 + constants.signals[signal];
    process.kill(process.pid, signal);
  });
} catch (problem) {
  console.error(`crossover: ${problem}`);
  process.exit(1);
}
