/** The time in seconds since 1970, with its fraction. */
export type Clock = () => number;

/** A variable that the stack always sets; a missing one stops the start, not a request. */
export function requireEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** The instance's clock, in seconds since 1970 with its fraction. */
export function systemClock(): number {
  return Date.now() / 1000;
}
