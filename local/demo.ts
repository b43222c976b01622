import { createAccount } from '../packages/admin/accounts/accounts.ts';
import { AdminError } from '../packages/admin/accounts/admin-error.ts';
import type { AdminStore } from '../packages/admin/accounts/admin-store.ts';
import { createKey, listKeys } from '../packages/admin/accounts/keys.ts';
import { putPlan } from '../packages/admin/accounts/plans.ts';

/**
 * Real addresses with their objects, cut from an extract of Weesp by `tools/demo/cut-demo.ts`: CC0,
 * by Kadaster. A start copies it to its data folder.
 */
export const demoSource = new URL('demo.zip', import.meta.url);

/** A lookup to try on the demo, and the outcome that it shows. */
export type DemoExample = {
  postcode: string;
  huisnummer: number;
  toevoeging?: string;
  include?: string;
  shows: string;
};

/** Lookups to try on the demo, the most typical one first. */
export const demoExamples: [DemoExample, ...DemoExample[]] = [
  {
    postcode: '1381AA',
    huisnummer: 9,
    toevoeging: 'a',
    shows: 'an address; letter case does not matter',
  },
  {
    postcode: '1381DE',
    huisnummer: 30,
    shows: 'the toevoegingen that exist at a huisnummer',
    include: 'toevoegingen',
  },
  {
    postcode: '1382LJ',
    huisnummer: 28,
    shows: 'one address with two ids: an object and its planned replacement',
    include: 'nummeraanduidingen',
  },
  { postcode: '1381GH', huisnummer: 3, shows: 'an accent, and the gemeente', include: 'gemeente' },
  {
    postcode: '9999SD',
    huisnummer: 3,
    shows: 'ambiguous: two towns to choose from (a test address)',
  },
];

/** Lookups to try with `--objecten` besides. */
export const objectExamples: readonly DemoExample[] = [
  {
    postcode: '1382KT',
    huisnummer: 5,
    include: 'objecten',
    shows: 'a nevenadres, with the object behind it',
  },
  {
    postcode: '1382LD',
    huisnummer: 545,
    toevoeging: 's',
    include: 'objecten',
    shows: 'a ligplaats',
  },
];

/** The hint that is printed once, when a lookup finds nothing in the demo. */
export function outsideDemoText(addresses: number): string {
  return (
    `An address was not found: the demo has ${addresses} addresses of Weesp, and no others. To look up your own, load your ` +
    'municipality or the country: npm start -- --extract FILE-OR-URL'
  );
}

const demoAccount = 'demo';
const demoPlan = 'demo';

/**
 * Ensures that the demo plan and account exist, and returns an active API key: `known` if it still
 * is, else a new one. Changes that someone made to the plan or the account are kept. Loads no other
 * calls of the admin: they take 10 ms.
 */
export async function demoKey(store: AdminStore, known: string | undefined): Promise<string> {
  // An active key implies an account and a plan, so a start that finds one needs no other request.
  if (known !== undefined && (await isActive(store, known))) return known;
  const limits = { minute: 600, day: 50_000, month: null };
  await putPlan(store, { code: demoPlan, limits, seen: null }).catch(unless('conflict'));
  await createAccount(store, { id: demoAccount, plan: demoPlan }).catch(unless('exists'));
  return (await createKey(store, { account: demoAccount, label: 'created by npm start' })).key;
}

/** Whether this is an active key of the demo account. */
async function isActive(store: AdminStore, known: string): Promise<boolean> {
  const keys = (await listKeys(store, demoAccount).catch(unless('not_found'))) ?? [];
  return keys.some(({ keyId, state }) => state === 'active' && known.includes(`_${keyId}`));
}

/** Passes an error on unless it has this code. */
function unless(code: AdminError['code']): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof AdminError && error.code === code)) throw error;
  };
}
