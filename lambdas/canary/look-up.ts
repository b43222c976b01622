import { isApiKey, redactKeys } from '../shared/accounts/api-key.ts';

/** What a caller met: an answer with an address, or what went wrong. Never the key. */
export type Sighting = { ok: true } | { ok: false; reason: string };

/** A caller who waits no longer than this has given up. */
const patienceMs = 8000;

/** Looks an address up as a caller does, over the whole way, and says whether that went as it should. */
export async function lookUp(url: string, key: string): Promise<Sighting> {
  // `fetch` quotes a header that it can't send.
  if (!isApiKey(key)) return wrong('the secret of the canary does not hold an API key; put one there');
  try {
    const response = await fetch(url, { headers: { 'x-api-key': key }, signal: AbortSignal.timeout(patienceMs) });
    const body: unknown = await response.json();
    if (response.status !== 200) return wrong(`status ${response.status}, ${member(body, 'type')}`);
    const status = member(body, 'status');
    return status === 'ok' ? { ok: true } : wrong(`the address is ${status}`);
  } catch (error) {
    const { name, message } = error as Error;
    return wrong(redactKeys(`${name}: ${message}`));
  }
}

function wrong(reason: string): Sighting {
  return { ok: false, reason };
}

function member(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}
