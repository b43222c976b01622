import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Accepts what a rule of cdk-nag finds on a construct and all below it, and says why that is right here. */
export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  const pack = rule.split('-', 1)[0];
  Validations.of(construct).acknowledge({ id: `${pack}::${rule}`, reason });
}
