import { isDeepStrictEqual } from 'node:util';
import type { Answer, Api } from './api.ts';

/** An address as a person writes it: `1381AA 9 a`. */
export type SmokeAddress = { postcode: string; huisnummer: number; toevoeging: string };

/** What a run is told. */
export type SmokeOptions = {
  key: string;
  /** One that is found. `isGuess`: nobody said so, it is in the register of the country. */
  address: SmokeAddress;
  isGuess: boolean;
  /** One with several places, and one with a letter; left out where nobody names one. */
  ambiguous?: SmokeAddress;
  lettered?: SmokeAddress;
};

/** The limits that the key was told, by window; `null` is unlimited. */
export type Limits = Record<string, number | null>;

/** What the checks of one run share. */
export type Visit = {
  api: Api;
  options: SmokeOptions;
  limits: Limits | null;
  /** Units that the account has left in its scarcest window, as the last lookup said. */
  left: number | null;
};

/** One guarantee of the interface, and how to see whether it is kept. */
export type Check = {
  section: string;
  title: string;
  /** @throws Disagreement, Skip */
  run(visit: Visit): Promise<void>;
};

/** How a check ended. */
export type CheckResult = {
  section: string;
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  reason: string | null;
};

/** The interface does not keep a guarantee; the message says what it did. */
export class Disagreement extends Error {
  override name = 'Disagreement';
}

/** A check can't be made here; the message says why. */
export class Skip extends Error {
  override name = 'Skip';
}

/** @throws Disagreement */
export function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Disagreement(otherwise);
}

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
