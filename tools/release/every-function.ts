import type { ConfigInput } from '../../lib/config/schema.ts';

const zone = {
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0',
  hostedZoneId: 'Z0',
  hostedZoneName: 'example.nl',
};

/** Of a pair of keys whose private one was thrown away. */
export const backupPublicKey =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAnwjibLia+y+xCZKY1DLQP90pow6KF0SBvqGSs46l0URNnMvpdyI0ydJl6MZ3pOnTi/O6tmn8SZr/FC/fwTgAsWxuw1WoF41AINNpnINmPqbN0QoZogn+PZwGlOWTk7eAEXhLOE1041Sh+PoeC+m5id++isFUfcEvAJj82D4FNyuYSIA/Fi7Cz2ZcnN4TPlzQYiRcK9PW6fUFgSspfh62Z1+XfkSXNUg/6BhEd7zBBY4HSD2QgkKTyHsBvtRtOz7BHojrxku14arsVtM9YB0Fin74Hxb8y6cM8ePWzz7zGBx7j5pHNtqEP5H44YJ6KzvBUnzC1zgvLMHsGbz/FtHreQIDAQAB';

/** A configuration with every function that there is, so that a release has the bundles of all of them. */
export const everyFunction: ConfigInput = {
  backup: { bucket: 'example-sets', publicKey: backupPublicKey },
  backupVaultArn: 'arn:aws:backup:eu-central-1:123456789012:backup-vault:copies',
  canary: { keySecretName: 'canary', postcode: '1012RJ', huisnummer: 147 },
  mutations: true,
  portal: { domain: { ...zone, name: 'portal.example.nl' } },
};
