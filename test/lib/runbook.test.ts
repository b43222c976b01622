import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { everything, ofType, templates } from './synthesized.ts';

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
  let actions: unknown[];

  beforeAll(() => {
    const { data, service, loader } = templates(everything);
    const alarms = [data, service, loader].flatMap((template) =>
      Object.values(ofType(template, 'AWS::CloudWatch::Alarm')),
    );
    linked = alarms.map(
      ({ Properties }) => /docs\/runbook\.md#([a-z0-9-]+)$/.exec(`${Properties?.AlarmDescription}`)?.[1] ?? 'none',
    );
    actions = alarms.map(({ Properties }) => [Properties?.AlarmActions, Properties?.OKActions]);
  }, 60_000);

  it('has a chapter for every alarm, and none for an alarm that is no more', () => {
    expect(linked.length).toBeGreaterThan(8);
    expect([...new Set(linked)].sort()).toEqual(chapters.map(({ anchor }) => anchor).sort());
  });

  it('says of each what it is, how to look into it and how to end it', () => {
    for (const { anchor, parts } of chapters)
      expect([anchor, parts]).toEqual([anchor, ['Description', 'Investigation', 'Resolution']]);
  });

  it('is reached by alarms that somebody hears of, when they begin and when they end', () => {
    for (const each of actions) expect(each).toEqual([[expect.anything()], [expect.anything()]]);
  });
});
