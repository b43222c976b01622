import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { portalMetrics } from '../../portal/stack/portal-names.ts';
import { everything, ofType, portal, signIn, templates } from '../lib/synthesized.ts';

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

/** The alarms' chapters: heading and the headings below it. */
const chapters = runbook
  .split(/^## /m)
  .slice(1)
  .filter((chapter) => chapter.includes('### Description'))
  .map((chapter) => ({
    anchor: chapter.split('\n', 1)[0]?.toLowerCase().replaceAll(' ', '-') ?? '',
    parts: [...chapter.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading),
  }));

describe('the runbook', () => {
  let linked: string[];
  let messages: string[];
  let actions: [anchor: string, alarm: unknown[] | undefined, ok: unknown[] | undefined][];
  let events: typeof actions;

  beforeAll(async () => {
    const { all: stacks } = await templates({ ...everything, portal: { ...portal, signIn } });
    const alarms = Object.values(stacks).flatMap((template) =>
      Object.values({
        ...ofType(template, 'AWS::CloudWatch::Alarm'),
        ...ofType(template, 'AWS::CloudWatch::CompositeAlarm'),
      }),
    );
    messages = alarms.map(({ Properties }) => `${Properties?.AlarmDescription}`);
    linked = messages.map(
      (message) =>
        / First: .+ Then: node_modules\/bag-adres\/docs\/runbook\.md#([a-z0-9-]+)$/.exec(
          message,
        )?.[1] ?? 'none',
    );
    const isEvent = (anchor: string, metric: unknown) =>
      /^(load|audit|table|notification)/.test(anchor) || metric === portalMetrics.providerRefusals;
    // One that is quiet during another notifies by a composite alarm.
    const all = alarms.flatMap(({ Properties = {} }, at) => {
      const anchor = linked[at] ?? 'none';
      const { AlarmActions, OKActions, MetricName } = Properties;
      const action: (typeof actions)[number] = [
        anchor,
        AlarmActions as unknown[],
        OKActions as unknown[],
      ];
      return AlarmActions ? [{ action, isOfEvent: isEvent(anchor, MetricName) }] : [];
    });
    actions = all.filter(({ isOfEvent }) => !isOfEvent).map(({ action }) => action);
    events = all.filter(({ isOfEvent }) => isOfEvent).map(({ action }) => action);
  });

  it('has a chapter for every alarm, and none for an alarm that no longer exists', () => {
    expect(linked.length).toBeGreaterThan(8);
    expect([...new Set(linked)].sort()).toEqual(chapters.map(({ anchor }) => anchor).sort());
  });

  it('names each alarm with its first steps in the table of the first page, and no other', () => {
    const [, table = ''] = /^## Three o'clock\n([\s\S]*?)^## /m.exec(runbook) ?? [];
    const rows = [...table.matchAll(/^\| (.+?) \| (.*?) \|/gm)];
    const named = rows.flatMap(([, alarms = '', first]) =>
      [...alarms.matchAll(/\]\(#([a-z-]+)\)/g)].map(([, anchor = '']) => {
        expect([anchor, first]).not.toEqual([anchor, '']);
        return anchor;
      }),
    );
    const isRefused = (anchor: string) => anchor === 'load-refused'; // in the mail of a failed load
    expect(named.filter((anchor) => !isRefused(anchor)).sort()).toEqual(
      chapters.map(({ anchor }) => anchor).sort(),
    );
  });

  it('has first steps in the message of every alarm, of this deployment, in the 1,024 characters that it may have', () => {
    for (const message of messages) {
      expect([message, message.length <= 1024 && !/STACK|STAGE|DEPLOYMENT/.test(message)]).toEqual([
        message,
        true,
      ]);
    }
  });

  it('has a description, investigation and resolution for each alarm', () => {
    for (const { anchor, parts } of chapters) {
      expect([anchor, parts]).toEqual([anchor, ['Description', 'Investigation', 'Resolution']]);
    }
  });

  it('covers alarms that notify the operator when they go off and when they recover', () => {
    for (const [, alarm, ok] of actions) {
      expect([alarm, ok].map((each) => each?.length)).toEqual([1, 1]);
    }
  });

  // Their metric is back at 0 five minutes later, which says nothing about the data.
  it('covers alarms without a recovery message: failed and refused loads, unsent notifications, audits, samples of the table, refused sign-ins', () => {
    expect([...new Set(events.map(([anchor]) => anchor))].sort()).toEqual([
      'audit-differences',
      'load-failed',
      'notification-unsent',
      'portal-sign-in-fails',
      'table-differs',
    ]);
    for (const [, alarm, ok] of events) expect([alarm?.length, ok]).toEqual([1, undefined]);
  });
});
