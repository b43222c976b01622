import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './api.ts';
import { demand } from './check.ts';

const problemMembers = ['type', 'title', 'status', 'detail', 'request_id'];
const furtherMembers: Record<string, string[]> = {
  'invalid-input': ['errors'],
  'quota-exceeded': ['violated_windows'],
};

/** The answer has this status. @throws Disagreement */
export function demandStatus(answer: Answer, status: number): void {
  demand(answer.status === status, `${answer.asked} is answered ${answer.status}, not ${status}`);
}

/** The answer is a problem of this kind, as RFC 9457 writes it, with these members and no other. @throws Disagreement */
export function demandProblem(answer: Answer, status: number, type: string): void {
  demandStatus(answer, status);
  const { asked, headers, json } = answer;
  demand(json !== null, `${asked} is answered without JSON: ${answer.text.slice(0, 80)}`);
  demand(
    /^application\/problem\+json\b/.test(headers['content-type'] ?? ''),
    `${asked}: content type ${headers['content-type']}`,
  );
  demand(String(json.type).endsWith(`/${type}`), `${asked}: the type is ${json.type}, which does not end in /${type}`);
  demand(json.status === status, `${asked}: the body says status ${json.status}`);
  for (const name of ['title', 'detail', 'request_id']) demand(isText(json[name]), `${asked}: ${name} is no text`);
  demandMembers(answer, json, [...problemMembers, ...(furtherMembers[type] ?? [])]);
}

/** The object has just these members. @throws Disagreement */
export function demandMembers({ asked }: Answer, value: unknown, names: readonly string[]): void {
  const found = typeof value === 'object' && value !== null ? Object.keys(value).sort() : [];
  const same = isDeepStrictEqual(found, [...names].sort());
  demand(same, `${asked}: has ${found.join(', ') || 'no members'} where ${[...names].sort().join(', ')} belong`);
}

/** The answer is JSON with these members and no other. @throws Disagreement */
export function demandJson(answer: Answer, names: readonly string[]): Record<string, unknown> {
  demandStatus(answer, 200);
  const { asked, headers, json } = answer;
  demand(
    /^application\/json\b/.test(headers['content-type'] ?? ''),
    `${asked}: content type ${headers['content-type']}`,
  );
  demand(json !== null, `${asked} is answered without JSON: ${answer.text.slice(0, 80)}`);
  demandMembers(answer, json, names);
  return json;
}

/** Some text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
