import { styleText } from 'node:util';

/** The terminal that shows results; set by the executable. */
export const display: {
  /** Whether standard output and standard error show colours. */
  colours: { out: boolean; err: boolean };
  /** How many columns standard output has when it is a terminal; results are then drawn for people. */
  columns: number | undefined;
} = { colours: { out: false, err: false }, columns: undefined };

/** Whether a stream shows colours: a terminal, unless `NO_COLOR` is set. */
export function hasColours(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** The text in a style, if `stream` shows colours. */
export function painted(style: 'bold' | 'red', text: string, stream: 'out' | 'err' = 'out'): string {
  return display.colours[stream] ? styleText(style, text, { validateStream: false }) : text;
}
