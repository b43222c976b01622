/**
 * A process that does what a cold start does: imports a bundle and answers once.
 * `node first-answer.ts BUNDLE EVENT` prints the CPU milliseconds of both parts and the status.
 */
const [bundle = '', event = '{}'] = process.argv.slice(2);
const start = cpu();
const { handler } = await import(bundle);
const imported = cpu();
const answer = await handler(JSON.parse(event), {});
const answered = cpu();
process.stdout.write(
  `\n${JSON.stringify({ status: answer.statusCode, importMilliseconds: imported - start, answerMilliseconds: answered - imported })}`,
);
process.exit();

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
