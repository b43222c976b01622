import type { SourceMap } from 'node:module';

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
