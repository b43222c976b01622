#!/usr/bin/env node
import { runCommandLine } from './commands/run-command-line.ts';

// A reader like `head` may leave early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  env: process.env,
  screen: process.stderr,
});
