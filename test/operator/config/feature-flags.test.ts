import { describe, expect, it } from '@jest/globals';
import { FLAGS } from 'aws-cdk-lib/cx-api';
import { featureFlags } from '../../../operator/config/feature-flags.ts';

describe('the feature flags of the stacks', () => {
  it("have the CDK's recommended values, but for the partitions, of which we allow one more", () => {
    const differing = Object.entries(featureFlags).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(FLAGS[name]?.recommendedValue),
    );
    expect(differing).toEqual([['@aws-cdk/core:target-partitions', ['aws', 'aws-cn', 'aws-eusc']]]);
  });
});
