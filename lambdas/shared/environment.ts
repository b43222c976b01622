/** The time in seconds since 1970, with its fraction. */
export type Clock = () => number;

/** A variable that the stack always sets; a missing one stops the start, not a request. */
export function requireEnvironment(name: string): string {
  const value = optionalEnvironment(name);
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** A variable that the stack may set. Throws if CloudFormation left a dynamic reference in it: then it is not the secret. */
export function optionalEnvironment(name: string): string | undefined {
  const value = process.env[name] || undefined;
  if (value?.startsWith('{{resolve:'))
    throw new Error(`The environment variable ${name} is an unresolved reference. Deploy the stack again.`);
  return value;
}

/** The instance's clock, in seconds since 1970 with its fraction. */
export function systemClock(): number {
  return Date.now() / 1000;
}
