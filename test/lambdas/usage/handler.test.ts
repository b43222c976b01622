import { describe, expect, it } from '@jest/globals';
import { renderMessage } from '../../../lambdas/usage/handler.ts';

const resets = Date.UTC(2026, 11, 1) / 1000;
const message = {
  account: 'a'.repeat(32),
  window: 'month' as const,
  limit: 1000,
  used: 850,
  isExhausted: false,
  resets,
};

describe('the message about a limit', () => {
  it('states the usage, the remainder and when the window ends', () => {
    expect(renderMessage(message)).toEqual({
      Subject: `Account ${message.account} has used 85 % of its limit of this month`,
      Message: `Account ${message.account} has used 850 of the 1000 lookups of this month. 150 are left until 2026-12-01T00:00:00Z.`,
    });
  });

  it('states from when and until when lookups are refused', () => {
    const { Subject, Message } = renderMessage({ ...message, used: 1000, isExhausted: true });
    expect(Subject).toBe(`Account ${message.account} has used up its limit of this month`);
    expect(Message).toContain('Further lookups get 429 until 2026-12-01T00:00:00Z.');
  });

  it('has a subject that SNS accepts for the longest account', () => {
    expect(renderMessage(message).Subject.length).toBeLessThanOrEqual(100);
  });
});
