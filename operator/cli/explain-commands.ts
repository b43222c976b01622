import { readAddressInput } from '../../core/addresses/address-input.ts';
import { addressKey, addressText } from '../../core/addresses/address-key.ts';
import { queryFaults } from '../../core/addresses/input-faults.ts';
import { UsageError } from '../deployment/errors.ts';
import type {
  AddressExplanation,
  ExplainedRelatie,
  ExplainedVoorkomen,
  NamedVoorkomen,
} from '../explain/explain-address.ts';
import { argument, type CommandRow, type LoadTools } from './calls.ts';
import { type Lines, lines } from './terminal-text.ts';

/** `load explain`: why an address is what lookups answer. */
export const explain: CommandRow<LoadTools> = {
  description:
    'explain an address, present or gone: the BAG objects behind it, with their sources and changes',
  takes: [argument('<address...>', 'postcode, huisnummer and toevoeging, like 1381AA 9 A')],
  notes: `Reads only the storage: the live snapshot, the days of mutations since its extract, and the snapshots that are
kept. Changes nothing.`,
  examples: ['load explain 1381AA 9 A --local'],
  check: ({ address }: { address: string[] }) => keyOf(address),
  async run({ context }, { address }: { address: string[] }) {
    const key = keyOf(address);
    const { explainAddress } = await import('../explain/explain-address.ts');
    const explanation = await explainAddress(context.storage, key);
    return { json: explanation, text: renderExplanation(explanation) };
  },
};

/**
 * The key of an address in words. Messages write a postcode as two words, `1381 AA`. @throws
 * UsageError with a lookup's answer to such input
 */
function keyOf(words: string[]): string {
  const [postcode = '', huisnummer = '', toevoeging = ''] =
    /^(\d{4} ?[a-z]{2}) +(\S+) *(.*)$/i.exec(words.join(' '))?.slice(1) ?? words;
  const query = new URLSearchParams({ postcode, huisnummer, toevoeging }).toString();
  const { request } = readAddressInput(query);
  if (request) return addressKey(request);
  const faults = queryFaults(query).faults.map(({ detail }) => detail);
  throw new UsageError(faults.join(' '));
}

export function renderExplanation(explanation: AddressExplanation): string {
  const { key, peildatum, places, since, extract, voorkomens, relaties, changes, earlier, notes } =
    explanation;
  const address = addressText(key);
  const title =
    places.length > 0 ? `${address}: ${places.join(' | ')}` : `${address} is not an address`;
  const location = extract?.location ? ` (${extract.location})` : '';
  const origin = extract ? `, from the extract of ${extract.peildatum}${location}` : '';
  return lines(
    `${title}, in the dataset of ${peildatum}${origin}.`,
    since
      ? `So since ${since.date}, by ${since.because}.`
      : `Nothing that is kept says since when it is not${earlier.length > 0 ? '.' : ': neither a snapshot nor a delivery has had it.'}`,
    section('Behind it:', [
      ...voorkomens.map(
        ({ gives, ...voorkomen }) => `${nameOf(voorkomen)}: ${gives} ${validityText(voorkomen)}`,
      ),
      ...relaties.map(relatieText),
    ]),
    section(
      'Changed since the extract:',
      changes.map(
        (change) =>
          `${change.delivery}: ${nameOf(change)}: ${change.before ?? 'nothing'} -> ${change.after ?? 'nothing'}`,
      ),
    ),
    section(
      'In earlier snapshots:',
      earlier.map(
        (snapshot) =>
          `${snapshot.peildatum} (${snapshot.load}): ${snapshot.places.join(' | ') || 'no address'}`,
      ),
    ),
    notes.map((note) => `Note: ${note}.`),
  );
}

function section(title: string, texts: readonly string[]): Lines {
  return texts.length > 0 && ['', title, texts.map((text) => `  ${text}`)];
}

function relatieText({
  woonplaats,
  gemeente: { code, naam, provincie },
  ...relatie
}: ExplainedRelatie): string {
  const names = naam === null ? 'without a name in this version' : `${naam}, ${provincie}`;
  return `woonplaats ${woonplaats}: gemeente ${code}, ${names} ${validityText(relatie)}`;
}

function validityText(voorkomen: Omit<ExplainedVoorkomen, 'gives' | keyof NamedVoorkomen>): string {
  const { begin, eind, isCurrent, lostTo, from } = voorkomen;
  const span = eind === null ? `from ${begin}` : `${begin} to ${eind}`;
  const counts = isCurrent ? 'current' : lostTo ? `not used: it lost to ${lostTo}` : 'not current';
  return `(${span}, ${counts}), from ${from}`;
}

function nameOf({ kind, identificatie, volgnummer }: NamedVoorkomen): string {
  return `${kind} ${identificatie} voorkomen ${volgnummer}`;
}
