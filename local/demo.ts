import { AdminError } from '../packages/admin/accounts/admin-error.ts';
import type { Admin } from '../packages/admin/admin.ts';

/**
 * Real addresses with their objects, cut from an extract of Weesp by `tools/demo/cut-demo.ts`: CC0, by Kadaster.
 * A start copies it to its data folder.
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
  { postcode: '1381AA', huisnummer: 9, toevoeging: 'a', shows: 'an address; letter case does not matter' },
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
  { postcode: '9999SD', huisnummer: 3, shows: 'ambiguous: two towns to choose from (a test address)' },
];

/** Lookups to try with `--objecten` besides. */
export const objectExamples: readonly DemoExample[] = [
  { postcode: '1382KT', huisnummer: 5, include: 'objecten', shows: 'a nevenadres, with the object behind it' },
  { postcode: '1382LD', huisnummer: 545, toevoeging: 's', include: 'objecten', shows: 'a ligplaats' },
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
 * Ensures that the demo plan and account exist, and returns an active API key: `known` if it still is, else a new one.
 * Changes that someone made to the plan or the account are kept.
 */
export async function demoKey(admin: Admin, known: string | undefined): Promise<string> {
  // An active key implies an account and a plan, so a start that finds one needs no other request.
  if (known !== undefined && (await isActive(admin, known))) return known;
  const { plans } = await admin.plans.list({ prefix: demoPlan });
  if (!plans.some(({ code }) => code === demoPlan)) {
    await admin.plans.put({ code: demoPlan, limits: { minute: 600, day: 50_000, month: null } });
  }
  await admin.accounts.create({ id: demoAccount, plan: demoPlan }).catch((error) => {
    if (!(error instanceof AdminError && error.code === 'exists')) throw error;
  });
  const { key } = await admin.keys.create({ account: demoAccount, label: 'created by npm start' });
  return key;
}

/** Whether this is an active key of the demo account. */
async function isActive(admin: Admin, known: string): Promise<boolean> {
  const keys = await admin.keys.list(demoAccount).catch((error) => {
    if (error instanceof AdminError && error.code === 'not_found') return [];
    throw error;
  });
  return keys.some(({ keyId, state }) => state === 'active' && known.includes(`_${keyId}`));
}
