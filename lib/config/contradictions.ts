import type { Config } from './schema.ts';

/** Fields that are right by themselves and wrong together, a sentence each. */
export function contradictions({ stage, region, domain, encryptionKey, removalPolicy, throttle }: Config): string[] {
  const faults: string[] = [];
  if (domain) {
    const { name, certificateArn, hostedZoneName } = domain;
    if (name !== hostedZoneName && !name.endsWith(`.${hostedZoneName}`))
      faults.push(`bagAdres.domain.name is ${name}, which is not in the zone ${hostedZoneName}: give a name in it.`);
    if (regionOf(certificateArn) !== region) faults.push(elsewhere('domain.certificateArn', certificateArn, region));
  }
  if (encryptionKey.startsWith('arn:') && regionOf(encryptionKey) !== region)
    faults.push(elsewhere('encryptionKey', encryptionKey, region));
  if (removalPolicy === 'destroy' && stage === 'prod')
    faults.push(
      'bagAdres.removalPolicy is "destroy" while bagAdres.stage is "prod": name a trial otherwise, for instance "trial".',
    );
  if (throttle.burst < throttle.ratePerSecond / 10)
    faults.push(
      `bagAdres.throttle.burst is ${throttle.burst}, less than a tenth of ratePerSecond (${throttle.ratePerSecond}): most of that rate would be refused. Allowed: ${Math.ceil(throttle.ratePerSecond / 10)} or more.`,
    );
  return faults;
}

function regionOf(arn: string): string | undefined {
  return arn.split(':')[3];
}

function elsewhere(field: string, arn: string, region: string): string {
  return `bagAdres.${field} lies in ${regionOf(arn)} while bagAdres.region is "${region}": they must be the same region.`;
}
