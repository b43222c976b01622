import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { sourcePositions } from './source-positions.ts';

// Reads the stack of an error from a log line and prints it with the lines of the sources. The maps are those of the last
// synthesis: check out the version that is deployed and run `npm run synth` first, which makes the same bundle again.
const [name = ''] = process.argv.slice(2);
const folder = resolve(import.meta.dirname, '../cdk.out/source-maps', name);
if (!name || !existsSync(folder)) {
  console.error('Usage: npx node bin/stack-trace.ts Address|Validate|Loader < stack.txt (run "npm run synth" before)');
  process.exitCode = 2;
} else {
  const maps = (file: string) => new SourceMap(JSON.parse(readFileSync(join(folder, `${file}.map`), 'utf8')));
  console.log(sourcePositions(await text(process.stdin), maps));
}
