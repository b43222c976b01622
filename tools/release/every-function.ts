import type { ConfigInput } from '../../lib/config/schema.ts';

const zone = {
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0',
  hostedZoneId: 'Z0',
  hostedZoneName: 'example.nl',
};

/** A configuration with every function that there is, so that a release has the bundles of all of them. */
export const everyFunction: ConfigInput = {
  // No key: only its form counts, as nothing is deployed with this.
  backup: { bucket: 'example-sets', publicKey: `MII${'A'.repeat(200)}` },
  canary: { keySecretName: 'canary', postcode: '1012RJ', huisnummer: 147 },
  mutations: true,
  portal: { domain: { ...zone, name: 'portal.example.nl' } },
};
