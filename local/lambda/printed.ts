import type { Readable } from 'node:stream';

/** Passes on each complete line of the chunks, and at the end what is left. */
export function lineSplitter(log: (line: string) => void) {
  let rest = '';
  return (chunk: string, isEnd = false): void => {
    const lines = (rest + chunk).split('\n');
    rest = isEnd ? '' : (lines.pop() ?? '');
    for (const line of lines) if (!isEnd || line !== '') log(line);
  };
}

/** Passes on each line of a stream, also a last one without an end. */
export function eachLine(stream: Readable, log: (line: string) => void): void {
  const split = lineSplitter(log);
  stream.setEncoding('utf8').on('data', split);
  stream.on('close', () => split('', true));
}
