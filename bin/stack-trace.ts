import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/**
 * A stack trace with each position in a bundle (`file:///var/task/index.mjs:1:2345`) turned into that of its source. What
 * has no map stays as it is.
 * @param mapOf the source map of a module of the bundle, `index.mjs`; throws where there is none
 */
export function sourcePositions(stack: string, mapOf: (module: string) => SourceMap): string {
  return stack.replace(
    /(?:file:\/\/)?\/\S*?([\w.-]+\.mjs):(\d+):(\d+)/g,
    (position, module: string, line: string, column: string) => {
      try {
        const entry = mapOf(module).findOrigin(Number(line), Number(column));
        if (!('fileName' in entry)) return position;
        return `${entry.fileName.replace(/^(\.\.\/)+/, '')}:${entry.lineNumber}:${entry.columnNumber}`;
      } catch {
        return position;
      }
    },
  );
}

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
