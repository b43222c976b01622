import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { announceWith, changeEventTypes, type EventEntry } from '../../../packages/admin/events.ts';
import { faultsOfEvent } from '../../support/event-schema.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { startAdmin } from './accounts/admin-bench.ts';

const bench = startForTests(startAdmin, 60_000);
let admin: Admin;
const sent: { type: string; detail: Record<string, unknown> }[] = [];
let take: (event: EventEntry) => void = () => undefined;

beforeAll(async () => {
  const announce = announceWith('bag-adres-prod', async (event) => {
    take(event);
    sent.push({ type: event.DetailType, detail: JSON.parse(event.Detail) });
  });
  const { client, table, clock } = bench;
  admin = createAdmin({ client, table, now: () => clock.now, actor: 'jo@example.nl', announce });
});
beforeEach(() => {
  take = () => undefined;
  sent.length = 0;
});

describe('the events of changes', () => {
  it('are one for each change, by the published schema, without key, label or secret', async () => {
    await admin.plans.put({ code: 'small', limits: { day: 9 } });
    await admin.accounts.create({ id: 'acme', plan: 'small' });
    await admin.accounts.set({ id: 'acme', limits: { day: 8 } });
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'webshop' });
    const replaced = await admin.keys.rotate({ account: 'acme', keyId });
    await admin.keys.revoke({ account: 'acme', keyId });
    await admin.members.add({ account: 'acme', person: 'kim@example.nl', role: 'admin' });
    await admin.members.add({ account: 'acme', person: 'sub:2', role: 'viewer' });
    await admin.members.remove({ account: 'acme', person: 'sub:2' });
    await admin.accounts.suspend('acme');
    await admin.accounts.activate('acme');
    await admin.accounts.suspend('acme');
    await admin.accounts.delete('acme');
    expect(new Set(sent.map(({ type }) => type))).toEqual(new Set(changeEventTypes));
    expect(sent.flatMap(({ type, detail }) => faultsOfEvent(type, detail))).toEqual([]);
    for (const secret of [key, replaced.key, 'webshop']) {
      expect(JSON.stringify(sent)).not.toContain(secret);
    }
    expect(sent.find(({ type }) => type === 'key.created')?.detail).toEqual({
      version: 1,
      deployment: 'bag-adres-prod',
      summary: 'jo@example.nl created a key of account acme.',
      account: 'acme',
      actor: 'jo@example.nl',
      time: new Date(bench.clock.now).toISOString(),
      change: { keyId },
    });
    expect(sent[0]?.detail).toMatchObject({
      plan: 'small',
      summary: 'jo@example.nl changed plan small.',
    });
  });

  it('are none for a change that was refused, and none for the name of a key', async () => {
    await admin.accounts.create({ id: 'other', plan: 'small' });
    const { keyId } = await admin.keys.create({ account: 'other', label: 'one' });
    sent.length = 0;
    await expect(admin.accounts.create({ id: 'other', plan: 'small' })).rejects.toThrow('other');
    await admin.keys.rename({ account: 'other', keyId, label: 'two' });
    expect(sent).toEqual([]);
  });

  it('undo no change when one can not be sent, which the audit has', async () => {
    take = () => {
      throw new Error('EventBridge is not there');
    };
    await admin.accounts.create({ id: 'unsent', plan: 'small' });
    expect(
      (await admin.accounts.audit('unsent')).entries.map(({ action, outcome }) => [
        action,
        outcome,
      ]),
    ).toEqual([['account create', 'done']]);
  });
});
