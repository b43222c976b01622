import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/**
 * Replaces each position in a bundle (`file:///var/task/index.mjs:1:2345`) by the position in its
 * source. Positions without a source map stay as they are.
 * @param mapOf the source map of a module of the bundle, `index.mjs`; throws if there is none
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

/**
 * Translates the stack trace on standard input with the source maps of the last synthesis. Check
 * out the deployed version and run `npm run synth` first: that builds the same bundle again.
 */
async function main(name = ''): Promise<void> {
  const folder = resolve(import.meta.dirname, '../cdk.out/source-maps', name);
  if (!name || !existsSync(folder)) {
    console.error(
      'Usage: npm run -s stack-trace -- Address|Validate|Canary|Loader < stack.txt (run "npm run synth" first)',
    );
    process.exitCode = 2;
    return;
  }
  const maps = (file: string) =>
    new SourceMap(JSON.parse(readFileSync(join(folder, `${file}.map`), 'utf8')));
  console.log(sourcePositions(await text(process.stdin), maps));
}

// Started directly, or by local/launch.js, which imports this.
if (import.meta.main || process.argv[1] === import.meta.filename) await main(process.argv[2]);
