import { createRequire } from 'node:module';

/** There is no embedded engine for this machine; the message says how to point at another one. */
export class EngineMissingError extends Error {
  override name = 'EngineMissingError';
}

/**
 * The path of the embedded DynamoDB engine for this machine, as the optional dependency installed it.
 * @throws EngineMissingError where the package does not exist for the machine or was left out of the install
 */
export function engineBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@dynoxide/${platform}-${arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/dynoxide`);
  } catch (cause) {
    throw new EngineMissingError(
      `The embedded DynamoDB engine (${name}) is not installed on this machine. ` +
        'Where the package exists for it, run "npm ci" without "--omit=optional". Otherwise start any engine that speaks ' +
        "DynamoDB's API, for instance Amazon's DynamoDB Local, and point at it: " +
        'AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 npm start',
      { cause },
    );
  }
}
