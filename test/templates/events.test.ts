import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { eventSource, eventTypes } from '../../core/names.ts';
import { EventRules } from '../../docs/examples/events/rules.ts';
import { everything, ofType, type Template, templates } from '../lib/synthesized.ts';

const page = readFileSync('docs/events.md', 'utf8');

describe('the events on EventBridge', () => {
  let rules: Template;
  let all: Awaited<ReturnType<typeof templates>>;

  beforeAll(async () => {
    const app = new App({ analyticsReporting: false });
    new EventRules(app, 'Events', {
      email: 'beheer@example.nl',
      chatSecretName: 'chat',
      chatUrl: 'https://hooks.example.nl/chat',
      webhookUrl: 'https://example.nl/hooks',
    });
    rules = app.synth().getStackByName('Events').template;
    all = await templates(everything);
  }, 60_000);

  it('have a row in the docs for each type, and none for another', () => {
    const documented = [...page.matchAll(/^\| `([a-z.]+)` \|/gm)].map(([, type]) => type);
    expect(documented.sort()).toEqual(Object.values(eventTypes).sort());
  });

  it('are all that the state machine tells anybody', () => {
    const [machine] = Object.values(ofType(all.loader, 'AWS::StepFunctions::StateMachine'));
    const definition = JSON.stringify(machine?.Properties?.DefinitionString);
    expect(definition).not.toContain('sns:publish');
    for (const type of [eventTypes.loadPublished, eventTypes.loadRefused, eventTypes.loadFailed])
      expect(definition).toContain(type);
  });

  it('leave the alarm topic to alarms: no role may publish to it', () => {
    for (const template of [all.service, all.loader])
      expect(JSON.stringify(ofType(template, 'AWS::IAM::Policy'))).not.toContain('sns:Publish');
  });

  it('reach mail, a chat and a webhook by the example rules', () => {
    const found = Object.values(ofType(rules, 'AWS::Events::Rule')).map(({ Properties }) => Properties?.EventPattern);
    expect(found).toEqual([
      { source: [eventSource], 'detail-type': ['load.published'] },
      { source: [eventSource], 'detail-type': ['quota.threshold', 'load.refused'] },
      { source: [eventSource] },
    ]);
    const known: string[] = Object.values(eventTypes);
    const named = found.flatMap((pattern) => (pattern as { 'detail-type'?: string[] })['detail-type'] ?? []);
    expect(named.filter((type) => !known.includes(type))).toEqual([]);
  });
});
