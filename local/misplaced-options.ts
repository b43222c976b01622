import type { Option } from 'commander';

/**
 * What to type instead, if npm took our options for its own: `npm start --port 3001`, without the `--`, sets a variable of
 * npm's and leaves us without the option. `undefined` if all is well.
 */
export function misplacedOptionsText(
  options: readonly Pick<Option, 'long' | 'required'>[],
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (env.npm_lifecycle_event !== 'start') return undefined;
  const values = [...args];
  const taken = options.flatMap(({ long, required }) => {
    const value = long && env[`npm_config_${long.slice(2).replaceAll('-', '_')}`];
    if (!value) return [];
    if (!required) return [long];
    // npm gives us the value of "--port 3001" as an argument, and keeps that of "--port=3001".
    return [`${long} ${value === 'true' ? (values.shift() ?? 'VALUE') : value}`];
  });
  if (taken.length === 0) return undefined;
  return `npm took ${taken.join(' ')} for itself, because the "--" before it is missing. Type: npm start -- ${[...taken, ...values].join(' ')}`;
}
