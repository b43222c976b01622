import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { eventSource, eventTypes } from '../../core/event-types.ts';
import { EventRules } from '../../docs/examples/events/rules.ts';
import { changeEventTypes } from '../../packages/admin/events.ts';
import { everything, propertiesOf, type Template, templates } from '../lib/synthesized.ts';
import { eventSchema } from '../support/event-schema.ts';

const page = readFileSync('docs/events.md', 'utf8');
const all: string[] = [...Object.values(eventTypes), ...changeEventTypes];

describe('the events on EventBridge', () => {
  let rules: Template;
  let stacks: Awaited<ReturnType<typeof templates>>;

  beforeAll(async () => {
    const app = new App({ analyticsReporting: false });
    new EventRules(app, 'Events', {
      email: 'beheer@example.nl',
      chatSecretName: 'chat',
      chatUrl: 'https://hooks.example.nl/chat',
      webhookUrl: 'https://example.nl/hooks',
      sender: 'adres@example.nl',
    });
    rules = app.synth().getStackByName('Events').template;
    stacks = await templates(everything);
  });

  it('have a row in the docs for each type, and none for another', () => {
    const rows = [...page.matchAll(/^\| ((?:`[a-z]+\.[a-z]+`(?:, )?)+) \|/gm)].map(
      ([, names = '']) => names,
    );
    const documented = rows.flatMap((names) => names.match(/[a-z.]+\.[a-z]+/g) ?? []);
    expect(documented.sort()).toEqual(all.sort());
  });

  it('have a row in the docs that names each member which the published schema requires', () => {
    const cells = [...page.matchAll(/^\| (`[a-z]+\.[a-z]+`.*?) \|.*\| (.+) \|$/gm)];
    for (const { properties } of eventSchema.oneOf) {
      const { 'detail-type': type, detail } = properties;
      for (const name of type.enum ?? [String(type.const)]) {
        const [, , more = ''] = cells.find(([, names = '']) => names.includes(`\`${name}\``)) ?? [];
        const missing = detail.required.filter((member) => !more.includes(`\`${member}\``));
        expect([name, missing]).toEqual([name, []]);
      }
    }
  });

  it('have a published schema for each type, and none for another', () => {
    const described = eventSchema.oneOf.flatMap(({ properties }) => {
      const { const: one, enum: several = [] } = properties['detail-type'];
      return one === undefined ? several : [one];
    });
    expect(described.sort()).toEqual(all.sort());
  });

  it('are all that the state machine tells anybody', () => {
    const definition = JSON.stringify(
      propertiesOf(stacks.loader, 'AWS::StepFunctions::StateMachine'),
    );
    expect(definition).not.toContain('sns:publish');
    for (const type of [eventTypes.loadPublished, eventTypes.loadRefused, eventTypes.loadFailed]) {
      expect(definition).toContain(type);
    }
  });

  it('leave the alarm topic to alarms: no role may publish to it', () => {
    for (const template of [stacks.service, stacks.loader]) {
      expect(JSON.stringify(propertiesOf(template, 'AWS::IAM::Policy'))).not.toContain(
        'sns:Publish',
      );
    }
  });

  it('reach mail, customers, a chat and a webhook by the example rules', () => {
    const found = propertiesOf(rules, 'AWS::Events::Rule').map(({ EventPattern }) => EventPattern);
    expect(found).toEqual([
      { source: [eventSource], 'detail-type': ['load.published'] },
      {
        source: [eventSource],
        'detail-type': ['quota.threshold'],
        detail: { contacts: [{ exists: true }] },
      },
      { source: [eventSource], 'detail-type': ['quota.threshold', 'load.refused', 'key.created'] },
      { source: [eventSource] },
    ]);
    const named = found.flatMap(
      (pattern) => (pattern as { 'detail-type'?: string[] })['detail-type'] ?? [],
    );
    expect(named.filter((type) => !all.includes(type))).toEqual([]);
  });
});
