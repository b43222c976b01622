import { runCommandLine } from './cli/run-command-line.ts';

// A reader like `head` may leave early. Anything else, a full disk, must not look as if the result had been written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`bag-adres: The command ran, but its result can't be written: ${error.message}.\n`);
  process.exit(1);
});
// Whoever does not read the errors goes by the exit code.
process.stderr.on('error', () => undefined);

process.exitCode = await runCommandLine(process.argv.slice(2), {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  env: process.env,
  screen: process.stderr,
  ...(process.stdout.isTTY && { columns: process.stdout.columns || 80 }),
});
