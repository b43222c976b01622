/**
 * Gives cdk-nag 2 the findings that `BagAdres` acknowledges, with their reasons; cdk-nag 3 reads
 * them itself.
 */
import { NagSuppressions } from 'cdk-nag';

/**
 * Call it when the app is complete, before it is synthesized.
 * @param {import('constructs').IConstruct} app
 */
export function acknowledgeForCdkNag2(app) {
  for (const construct of app.node.findAll()) {
    for (const { type, data } of construct.node.metadata) {
      if (type !== 'aws:cdk:acknowledged-rules') continue;
      for (const [rule, reason] of Object.entries(data)) {
        const [, id, finding] = /::([^[]+)(?:\[(.*)\])?$/.exec(rule);
        const suppression = {
          id,
          reason,
          ...(finding && { appliesTo: [finding] }),
        };
        NagSuppressions.addResourceSuppressions(construct, [suppression], true);
      }
    }
  }
}
