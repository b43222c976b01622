import { styleText } from 'node:util';

/** Whether standard output and standard error show colours; set by the executable, for a terminal only. */
export const colours = { out: false, err: false };

/** Whether a stream shows colours: a terminal, unless `NO_COLOR` is set. */
export function hasColours(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** The text in a style, if `stream` shows colours. */
export function painted(style: 'bold' | 'red', text: string, stream: keyof typeof colours = 'out'): string {
  return colours[stream] ? styleText(style, text, { validateStream: false }) : text;
}
